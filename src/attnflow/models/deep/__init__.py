"""Deep networks in training, with the outward face of the shallow ones."""

from attnflow.models.deep.base import Look as Look
from attnflow.models.deep.base import Network as Network
from attnflow.models.deep.losses import BinaryLoss as BinaryLoss
from attnflow.models.deep.losses import ClassLoss as ClassLoss
from attnflow.models.deep.stack import Stack as Stack
from attnflow.models.deep.training import DeepTraining as DeepTraining
from attnflow.models.deep.vit import VisionTransformer as VisionTransformer
from attnflow.models.deep.words import PlainWords as PlainWords
from attnflow.models.deep.words import WordEncoder as WordEncoder
