"""Sweeps: an experiment over a grid of settings, on one machine or on many."""

from attnflow.sweeps.boundary import fit_refined as fit_refined
from attnflow.sweeps.boundary import law_of as law_of
from attnflow.sweeps.boundary import run_refined as run_refined
from attnflow.sweeps.drive import run_sweep as run_sweep
from attnflow.sweeps.executors import Executor as Executor
from attnflow.sweeps.executors import choose_executor as choose_executor
from attnflow.sweeps.grid import Axis as Axis
from attnflow.sweeps.grid import make_axes as make_axes
from attnflow.sweeps.grid import parse_settings as parse_settings
from attnflow.sweeps.measure import Cell as Cell
from attnflow.sweeps.measure import Column as Column
from attnflow.sweeps.measure import Measure as Measure
from attnflow.sweeps.measure import parse_measure as parse_measure
from attnflow.sweeps.plan import Sweep as Sweep
from attnflow.sweeps.plan import make_batches as make_batches
from attnflow.sweeps.plan import sweep_id as sweep_id
from attnflow.sweeps.quantity import QuantityMeasure as QuantityMeasure
from attnflow.sweeps.shelf import Shelf as Shelf
from attnflow.sweeps.status import Status as Status
from attnflow.sweeps.status import status_in as status_in
from attnflow.sweeps.status import status_of as status_of
