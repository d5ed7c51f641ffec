"""Problems: from pair scores and values to outputs, losses and forces."""

from attnflow.problem.attention import attention as attention
from attnflow.problem.base import Problem as Problem
from attnflow.problem.forces import ScaledForces as ScaledForces
from attnflow.problem.forces import forces as forces
from attnflow.problem.forces import scaled_forces as scaled_forces
from attnflow.problem.losses import AbstractLoss as AbstractLoss
from attnflow.problem.losses import Exponential as Exponential
from attnflow.problem.losses import Logistic as Logistic
from attnflow.problem.losses import Squared as Squared
from attnflow.problem.readouts import AbstractReadout as AbstractReadout
from attnflow.problem.readouts import Linear as Linear
from attnflow.problem.readouts import ReluPair as ReluPair
