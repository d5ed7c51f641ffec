"""Problems: from pair scores and values to outputs, losses and forces."""

from attnflow.models.problem.base import Problem as Problem
from attnflow.models.problem.base import ScaledForces as ScaledForces
from attnflow.models.problem.base import attention as attention
from attnflow.models.problem.base import forces as forces
from attnflow.models.problem.base import scaled_forces as scaled_forces
from attnflow.models.problem.losses import AbstractLoss as AbstractLoss
from attnflow.models.problem.losses import AbstractReadout as AbstractReadout
from attnflow.models.problem.losses import Exponential as Exponential
from attnflow.models.problem.losses import Linear as Linear
from attnflow.models.problem.losses import Logistic as Logistic
from attnflow.models.problem.losses import ReluPair as ReluPair
from attnflow.models.problem.losses import Squared as Squared
