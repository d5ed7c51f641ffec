"""The problem: what a loss sees of a model, and how it pulls on it.

All that data can see of a shallow transformer is two tables over the tokens, scores
and values; a `Problem` takes their entries at the positions of each sample and gives
outputs, losses and forces. It knows nothing of weights or of training.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.data import Sequences
from attnflow.models.problem.attention import attention, pooled
from attnflow.models.problem.losses import AbstractLoss, Logistic
from attnflow.models.problem.readouts import AbstractReadout, Linear
from attnflow.models.tables import Pairs


def read_values(pairs: Pairs, data: Sequences) -> Float[Array, "samples heads keys"]:
    """What is read at the keys: the values of their tokens, and fixed payloads."""
    if data.payload is None:
        return pairs.values
    return pairs.values + data.payload[:, None, :]


class Problem(eqx.Module):
    """Attention, a readout and a loss: a paper's model is a choice of parts.

    **Arguments:**

    - `readout`: heads' outputs → output. `loss`: output and label → loss.
    - `score_scale`: what the scores are multiplied by before the softmax.
    """

    readout: AbstractReadout = Linear()
    loss: AbstractLoss = Logistic()
    score_scale: float = 1.0

    @property
    def heads(self) -> int:
        """Number of heads."""
        return len(self.readout.head_names)

    def attention(
        self, pairs: Pairs, data: Sequences
    ) -> Float[Array, "samples heads queries keys"]:
        """The attention map of every sample and head, `p(key | query)`."""
        return attention(self.score_scale * pairs.scores, data.mass)

    def head_outputs(
        self, pairs: Pairs, data: Sequences, attention: Array | None = None
    ) -> Float[Array, "samples heads"]:
        """The output of each head on each sample; the attention may be known."""
        if attention is None:
            attention = self.attention(pairs, data)
        return pooled(attention, read_values(pairs, data), data.query_weight)[0]

    def outputs(self, pairs: Pairs, data: Sequences) -> Float[Array, " samples"]:
        """The output of the model on each sample."""
        return self.readout(self.head_outputs(pairs, data))

    def losses(self, pairs: Pairs, data: Sequences) -> Float[Array, " samples"]:
        """The loss of each sample."""
        return self.loss(self.outputs(pairs, data), data.label)

    def mean_loss(self, pairs: Pairs, data: Sequences) -> Float[Array, ""]:
        """The loss that training minimises: the mean under the probabilities."""
        return jnp.sum(data.probability * self.losses(pairs, data))
