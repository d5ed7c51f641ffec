"""Sweeps: an experiment over a grid of settings, on one machine or on many."""

from attnflow.sweeps.batch_store import BatchStore as BatchStore
from attnflow.sweeps.batch_store import Status as Status
from attnflow.sweeps.batch_store import status_in as status_in
from attnflow.sweeps.batch_store import status_of as status_of
from attnflow.sweeps.boundary import fit_refined as fit_refined
from attnflow.sweeps.boundary import law_of as law_of
from attnflow.sweeps.boundary import run_refined as run_refined
from attnflow.sweeps.dataset import run_sweep as run_sweep
from attnflow.sweeps.executors import Executor as Executor
from attnflow.sweeps.executors import choose_executor as choose_executor
from attnflow.sweeps.grid import Axis as Axis
from attnflow.sweeps.grid import make_axes as make_axes
from attnflow.sweeps.grid import parse_settings as parse_settings
from attnflow.sweeps.plan import Sweep as Sweep
from attnflow.sweeps.plan import make_batches as make_batches
from attnflow.sweeps.plan import sweep_id as sweep_id
from attnflow.sweeps.statistic import AbstractStatistic as AbstractStatistic
from attnflow.sweeps.statistic import Cell as Cell
from attnflow.sweeps.statistic import Column as Column
from attnflow.sweeps.statistic import Outline as Outline
from attnflow.sweeps.statistic import PaperStatistic as PaperStatistic
from attnflow.sweeps.statistic import parse_statistic as parse_statistic
