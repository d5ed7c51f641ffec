"""Mini-batches as a record: which samples a step sees."""

from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.training.rules.base import check_known


@dataclass(frozen=True)
class Batches:
    """Each step sees some samples alone, with equal shares.

    **Arguments:**

    - `size`: how many.
    - `order`: `drawn` takes each by the samples' probabilities, independently and with
      repetition, as from a stream without end; `epochs` takes all samples of positive
      probability in a random order, then in another (samples that are left over at the
      end of an epoch wait for a later one).
    - `flip`: at each step, the label of every sample has the other sign with this
      probability, afresh.

    What is drawn depends on the seed's stream `batches` and on the step alone, so that
    all forms and rules see the same batches.
    """

    size: int
    order: Literal["drawn", "epochs"] = "drawn"
    flip: float = 0.0

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"size is {self.size}: a batch has 1 sample or more.")
        check_known("order", self.order, ("drawn", "epochs"))
        if not 0 <= self.flip <= 1:
            raise ValueError(
                f"flip is {self.flip}: a probability lies in [0, 1]. Use flip=0.1."
            )

    def shares(
        self, probability: Float[Array, " samples"], step: Array, *, key: Array
    ) -> Float[Array, " samples"]:
        """The shares of the samples in the batch of a step."""
        if self.order == "drawn":
            return self._drawn(probability, jax.random.fold_in(key, step))
        return self._in_turn(probability, step, key)

    def signs(self, samples: int, step: Array, *, key: Array) -> Array | None:
        """−1 for samples whose label is flipped at a step, 1 for others."""
        if not self.flip:
            return None
        # The batch itself is drawn with the key of the step.
        own = jax.random.fold_in(jax.random.fold_in(key, step), 1)
        return jnp.where(jax.random.bernoulli(own, self.flip, (samples,)), -1.0, 1.0)

    def _drawn(self, probability: Array, key: Array) -> Array:
        count = len(probability)
        chosen = jax.random.choice(key, count, (self.size,), p=probability)
        return jnp.zeros(count).at[chosen].add(1 / self.size)

    def _in_turn(self, probability: Array, step: Array, key: Array) -> Array:
        present = probability > 0
        per_epoch = jnp.maximum(present.sum() // self.size, 1)
        own = jax.random.fold_in(key, step // per_epoch)
        drawn = jax.random.uniform(own, probability.shape, jnp.float64)
        rank = jnp.argsort(jnp.argsort(jnp.where(present, drawn, jnp.inf)))
        begin = (step % per_epoch) * self.size
        inside = (rank >= begin) & (rank < begin + self.size) & present
        return jnp.where(inside, 1 / self.size, 0.0)
