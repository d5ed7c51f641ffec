"""Schedules: by how much a learning rate is multiplied as training goes on.

Steps are those of the whole run: a later stage of training goes on counting.
"""

import abc
from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array


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
    """From 1 at the start to `final` at step `steps`, and there it stays."""

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
    """In a straight line from 1 to `final` at step `steps`, and there it stays."""

    def __call__(self, step: Array) -> Array:
        """`1 − (1 − final) · min(step / steps, 1)`."""
        return 1 - (1 - self.final) * jnp.minimum(step / self.steps, 1.0)


class CosineDecay(AbstractFall):
    """Along half a cosine from 1 to `final` at step `steps`, and there it stays."""

    def __call__(self, step: Array) -> Array:
        """`final + (1 − final) · (1 + cos(π · min(step / steps, 1))) / 2`."""
        part = jnp.minimum(step / self.steps, 1.0)
        return self.final + (1 - self.final) * (1 + jnp.cos(jnp.pi * part)) / 2


@dataclass(frozen=True)
class PowerDecay(AbstractSchedule):
    """`(1 + step / scale)^(−power)`; a power of 1/2 is the inverse root."""

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
    """Multiplied by `factor` after `every` so many steps."""

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
    """From `1 / steps` up to 1 in `steps` equal steps, and `then` another schedule.

    The other one counts its steps from the end of the warm-up.
    """

    steps: float
    then: AbstractSchedule | None = None

    def __post_init__(self) -> None:
        _check("steps", self.steps)

    def __call__(self, step: Array) -> Array:
        """`min((step + 1) / steps, 1)`, times what comes then."""
        rise = jnp.minimum((step + 1) / self.steps, 1.0)
        if self.then is None:
            return rise
        return rise * self.then(jnp.maximum(step - self.steps, 0.0))
