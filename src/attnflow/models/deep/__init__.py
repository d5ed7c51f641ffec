"""Deep networks in training, with the outward face of the shallow ones."""

from attnflow.models.deep.layers import Forward as Forward
from attnflow.models.deep.layers import Network as Network
from attnflow.models.deep.stack import Stack as Stack
from attnflow.models.deep.training import BinaryLoss as BinaryLoss
from attnflow.models.deep.training import ClassLoss as ClassLoss
from attnflow.models.deep.training import DeepTraining as DeepTraining
from attnflow.models.deep.transformers import PlainWords as PlainWords
from attnflow.models.deep.transformers import VisionTransformer as VisionTransformer
from attnflow.models.deep.transformers import WordEncoder as WordEncoder
