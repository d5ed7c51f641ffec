"""What samples see of a system in one state: those of training, or those of a test."""

from functools import cached_property

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.data import Sequences
from attnflow.models.problem import Problem
from attnflow.models.tables import Pairs


class SampleView:
    """Samples with their pair scores and values, each quantity computed once."""

    def __init__(
        self,
        problem: Problem,
        data: Sequences,
        pairs: Pairs,
        attention: Array | None = None,
    ):
        self.problem = problem
        self.data = data
        self.pairs = pairs
        self._attention = attention

    @cached_property
    def attention(self) -> Float[Array, "samples heads queries keys"]:
        """`p(key | query)` of every sample and head."""
        if self._attention is not None:
            return self._attention
        return self.problem.attention(self.pairs, self.data)

    @cached_property
    def head_outputs(self) -> Float[Array, "samples heads"]:
        """The output of every head on every sample."""
        return self.problem.head_outputs(self.pairs, self.data, self.attention)

    @cached_property
    def outputs(self) -> Float[Array, " samples"]:
        """The output of the model on every sample."""
        return self.problem.readout(self.head_outputs)

    @cached_property
    def losses(self) -> Float[Array, " samples"]:
        """The loss of every sample."""
        return self.problem.loss(self.outputs, self.data.label)

    @cached_property
    def margins(self) -> Float[Array, " samples"]:
        """Label times output."""
        return self.data.label * self.outputs

    @cached_property
    def correct(self) -> Float[Array, " samples"]:
        """1 where the margin is positive, 0 elsewhere."""
        return jnp.where(self.margins > 0, 1.0, 0.0)

    @cached_property
    def pulls(self) -> Float[Array, " samples"]:
        """`|∂l/∂f|`."""
        return jnp.exp(self.problem.loss.pull(self.outputs, self.data.label)[1])

    @cached_property
    def group_weights(self) -> Float[Array, "groups samples"]:
        """The probabilities of each group's samples, 0 for those of others."""
        groups = jnp.arange(len(self.data.group_names))
        member = self.data.group[None, :] == groups[:, None]
        return jnp.where(member, self.data.probability, 0.0)

    def mean(self, quantity: Float[Array, " samples"]) -> Float[Array, ""]:
        """The mean of a quantity of the samples under their probabilities."""
        return jnp.sum(self.data.probability * quantity)

    def by_group(self, quantity: Float[Array, " samples"]) -> Float[Array, " groups"]:
        """The same within each group of samples."""
        weights = self.group_weights
        return (weights * quantity).sum(axis=1) / weights.sum(axis=1)
