"""Experiments: frozen records, and the run that turns one into a Dataset."""

from attnflow.experiment.batch import run_batch as run_batch
from attnflow.experiment.builder import Builder as Builder
from attnflow.experiment.cells import run_cells as run_cells
from attnflow.experiment.direct import SystemExperiment as SystemExperiment
from attnflow.experiment.next_token import JointTables as JointTables
from attnflow.experiment.rates import LearningRateWarning as LearningRateWarning
from attnflow.experiment.record import Computation as Computation
from attnflow.experiment.record import Experiment as Experiment
from attnflow.experiment.record import Task as Task
from attnflow.experiment.record import address as address
from attnflow.experiment.run import run as run
from attnflow.experiment.swamping import EpsilonWarning as EpsilonWarning
