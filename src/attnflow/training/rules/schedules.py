"""What depends on the step: schedules of the learning rate, and mini-batches.

Steps are those of the whole run: a later stage of training goes on counting.
"""

import abc
from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


class AbstractSchedule(abc.ABC):
    """A factor for each step, which multiplies the learning rate."""

    @abc.abstractmethod
    def __call__(self, step: Array) -> Array:
        """The factor at a step."""


def _check(name: str, value: float) -> None:
    if not value > 0:
        raise ValueError(f"{name} is {value}: it must be positive, as in {name}=100.")


@dataclass(frozen=True)
class AbstractFall(AbstractSchedule):
    """A factor from 1 at the start to `final` at step `steps`, and constant after."""

    steps: float
    final: float = 0.0

    def __post_init__(self) -> None:
        _check("steps", self.steps)
        if not 0 <= self.final <= 1:
            raise ValueError(
                f"final is {self.final}: it is a share of the learning rate and must "
                "lie in [0, 1]. Use final=0."
            )


class LinearDecay(AbstractFall):
    """Linear decay: a factor that falls from 1 to `final` at step `steps`."""

    def __call__(self, step: Array) -> Array:
        """`1 − (1 − final) · min(step / steps, 1)`."""
        return 1 - (1 - self.final) * jnp.minimum(step / self.steps, 1.0)


class CosineDecay(AbstractFall):
    """Cosine decay: a factor that falls from 1 to `final` at step `steps`."""

    def __call__(self, step: Array) -> Array:
        """`final + (1 − final) · (1 + cos(π · min(step / steps, 1))) / 2`."""
        part = jnp.minimum(step / self.steps, 1.0)
        return self.final + (1 - self.final) * (1 + jnp.cos(jnp.pi * part)) / 2


@dataclass(frozen=True)
class PowerDecay(AbstractSchedule):
    """Power-law decay, `(1 + step / scale)^(−power)`; power 1/2 is the inverse root."""

    scale: float
    power: float = 0.5

    def __post_init__(self) -> None:
        _check("scale", self.scale)
        _check("power", self.power)

    def __call__(self, step: Array) -> Array:
        """The factor at a step."""
        return (1 + step / self.scale) ** -self.power


@dataclass(frozen=True)
class StepDecay(AbstractSchedule):
    """Step decay: a factor that is multiplied by `factor` every `every` steps."""

    every: float
    factor: float = 0.1

    def __post_init__(self) -> None:
        _check("every", self.every)
        _check("factor", self.factor)

    def __call__(self, step: Array) -> Array:
        """`factor^⌊step / every⌋`."""
        return self.factor ** jnp.floor(step / self.every)


@dataclass(frozen=True)
class Warmup(AbstractSchedule):
    """Linear warm-up from `1 / steps` to 1 in `steps` steps, `then` another schedule.

    The other schedule counts its steps from the end of the warm-up.
    """

    steps: float
    then: AbstractSchedule | None = None

    def __post_init__(self) -> None:
        _check("steps", self.steps)

    def __call__(self, step: Array) -> Array:
        """`min((step + 1) / steps, 1)`, times the next schedule's factor."""
        rise = jnp.minimum((step + 1) / self.steps, 1.0)
        if self.then is None:
            return rise
        return rise * self.then(jnp.maximum(step - self.steps, 0.0))


@dataclass(frozen=True)
class Batches:
    """Mini-batches: each step uses a random subset of samples, with equal weights.

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
        if self.order not in ("drawn", "epochs"):
            raise ValueError(f"order is {self.order!r}: use 'drawn' or 'epochs'.")
        if not 0 <= self.flip <= 1:
            raise ValueError(
                f"flip is {self.flip}: a probability lies in [0, 1]. Use flip=0.1."
            )

    def shares(
        self, probability: Float[Array, " samples"], step: Array, *, key: Array
    ) -> Float[Array, " samples"]:
        """The shares of the samples in the batch of a step."""
        if self.order == "drawn":
            return self._draw(probability, jax.random.fold_in(key, step))
        return self._in_turn(probability, step, key)

    def signs(self, samples: int, step: Array, *, key: Array) -> Array | None:
        """−1 for samples whose label is flipped at a step, 1 for others."""
        if not self.flip:
            return None
        # The batch itself is drawn with the key of the step.
        flips = jax.random.fold_in(jax.random.fold_in(key, step), 1)
        return jnp.where(jax.random.bernoulli(flips, self.flip, (samples,)), -1.0, 1.0)

    def _draw(self, probability: Array, key: Array) -> Array:
        count = len(probability)
        rows = jax.random.choice(key, count, (self.size,), p=probability)
        return jnp.zeros(count).at[rows].add(1 / self.size)  # pyright: ignore[reportUnknownMemberType] # JAX leaves types of devices open

    def _in_turn(self, probability: Array, step: Array, key: Array) -> Array:
        present = probability > 0
        per_epoch = jnp.maximum(present.sum() // self.size, 1)
        epoch = jax.random.fold_in(key, step // per_epoch)
        order = jax.random.uniform(epoch, probability.shape, jnp.float64)
        rank = jnp.argsort(jnp.argsort(jnp.where(present, order, jnp.inf)))
        begin = (step % per_epoch) * self.size
        inside = (rank >= begin) & (rank < begin + self.size) & present
        return jnp.where(inside, 1 / self.size, 0.0)
