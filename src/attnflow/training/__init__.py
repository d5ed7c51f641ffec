"""Training: gradient flow and descent of a system, in stages, recorded at set times."""

from attnflow.training.descent import descend as descend
from attnflow.training.flow import Leg as Leg
from attnflow.training.flow import flow as flow
from attnflow.training.stages import Course as Course
from attnflow.training.stages import Grid as Grid
from attnflow.training.stages import Reach as Reach
from attnflow.training.stages import Records as Records
from attnflow.training.stages import Stage as Stage
from attnflow.training.stages import train as train
from attnflow.training.system import precise as precise
from attnflow.training.system import require_precise as require_precise
from attnflow.training.system import stack as stack
from attnflow.training.system import stack_arrays as stack_arrays
