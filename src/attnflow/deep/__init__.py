"""Deep networks in training, with the outward face of the shallow ones."""

from attnflow.deep.base import Look as Look
from attnflow.deep.base import Network as Network
from attnflow.deep.losses import BinaryLoss as BinaryLoss
from attnflow.deep.losses import ClassLoss as ClassLoss
from attnflow.deep.model import DeepModel as DeepModel
from attnflow.deep.stack import Stack as Stack
from attnflow.deep.training import DeepTraining as DeepTraining
