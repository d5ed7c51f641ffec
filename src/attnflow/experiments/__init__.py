"""Experiments: frozen records, and the run that turns one into a Dataset."""

from attnflow.experiments.batch import run_batch as run_batch
from attnflow.experiments.batch import run_cells as run_cells
from attnflow.experiments.limits import EpsilonWarning as EpsilonWarning
from attnflow.experiments.limits import LearningRateWarning as LearningRateWarning
from attnflow.experiments.record import Builder as Builder
from attnflow.experiments.record import Computation as Computation
from attnflow.experiments.record import Experiment as Experiment
from attnflow.experiments.record import SystemExperiment as SystemExperiment
from attnflow.experiments.record import Task as Task
from attnflow.experiments.run import run as run
