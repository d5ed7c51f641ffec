"""Dynamics: gradient flow and descent, staged, recorded at chosen times."""

from attnflow.dynamics.descent import descend as descend
from attnflow.dynamics.flow import Leg as Leg
from attnflow.dynamics.flow import flow as flow
from attnflow.dynamics.precision import precise as precise
from attnflow.dynamics.precision import require_precise as require_precise
from attnflow.dynamics.record import Grid as Grid
from attnflow.dynamics.record import Records as Records
from attnflow.dynamics.seeds import stack as stack
from attnflow.dynamics.seeds import stack_arrays as stack_arrays
from attnflow.dynamics.staged import Course as Course
from attnflow.dynamics.staged import Reach as Reach
from attnflow.dynamics.staged import Stage as Stage
from attnflow.dynamics.staged import train as train
