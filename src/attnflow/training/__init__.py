"""Dynamics: gradient flow and descent, staged, recorded at chosen times."""

from attnflow.training.descent import descend as descend
from attnflow.training.flow import Leg as Leg
from attnflow.training.flow import flow as flow
from attnflow.training.precision import precise as precise
from attnflow.training.precision import require_precise as require_precise
from attnflow.training.record import Grid as Grid
from attnflow.training.record import Records as Records
from attnflow.training.seeds import stack as stack
from attnflow.training.seeds import stack_arrays as stack_arrays
from attnflow.training.staged import Course as Course
from attnflow.training.staged import Reach as Reach
from attnflow.training.staged import Stage as Stage
from attnflow.training.staged import train as train
