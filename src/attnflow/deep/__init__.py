"""Deep networks in training, with the outward face of the shallow ones."""

from attnflow.deep.base import Look as Look
from attnflow.deep.base import Network as Network
from attnflow.deep.losses import BinaryLoss as BinaryLoss
from attnflow.deep.losses import ClassLoss as ClassLoss
from attnflow.deep.model import DeepModel as DeepModel
from attnflow.deep.stack import Stack as Stack
from attnflow.deep.training import DeepTraining as DeepTraining
from attnflow.deep.vit import VisionTransformer as VisionTransformer
from attnflow.deep.words import PlainWords as PlainWords
from attnflow.deep.words import WordEncoder as WordEncoder
