"""Rules that act on each coordinate of the weights alone."""

from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

from attnflow.training.rules.base import (
    Paced,
    Sees,
    check_fraction,
    check_not_negative,
    check_positive,
)
from attnflow.training.rules.schedules import AbstractSchedule


@dataclass(frozen=True)
class Adam(Paced):
    """Adam with bias correction: `θ ← θ − learning_rate · m̂ / (sqrt(v̂) + epsilon)`."""

    learning_rate: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    schedule: AbstractSchedule | None = None
    name: ClassVar[str] = "Adam"
    numbers: ClassVar[tuple[str, ...]] = ("beta1", "beta2", "epsilon")
    equivariant: ClassVar[bool] = False
    sees: ClassVar[Sees] = "entries"
    memoryless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive("learning_rate", self.learning_rate)
        check_not_negative("epsilon", self.epsilon)
        for name in ("beta1", "beta2"):
            check_fraction(name, getattr(self, name))

    @property
    def bare(self) -> bool:
        """Whether there is no ε; one that is there may be traced."""
        return isinstance(self.epsilon, float | int) and self.epsilon == 0

    def transformation(self) -> optax.GradientTransformation:
        """The update per unit of learning rate, up to its sign."""
        plain = optax.scale_by_adam(self.beta1, self.beta2, self.epsilon)
        return _still_where_nothing_pulls(plain) if self.bare else plain


def _still_where_nothing_pulls(
    adam: optax.GradientTransformation,
) -> optax.GradientTransformation:
    """Adam without ε, in which 0 / 0 is no move."""

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        updates, state = adam.update(updates, state, params)
        still = jax.tree.map(
            lambda u, second: jnp.where(second == 0, 0.0, u), updates, state.nu
        )
        return still, state

    return optax.GradientTransformation(adam.init, update)


def _sign(x: Array) -> Array:
    # XLA's own sign of a float64 takes three times as long on a CPU.
    return jnp.where(x > 0, 1.0, jnp.where(x < 0, -1.0, 0.0 * x))


@dataclass(frozen=True)
class SignGD:
    """`θ ← θ − learning_rate · sgn(∇L(θ))`, with `sgn(0) = 0`.

    With `growth` g, the rate grows by the factor `1 + g` with every step after the
    first 1/g: steps are then about g times the time `τ = Σ rates` that has passed.
    """

    learning_rate: float
    growth: float = 0.0
    schedule: AbstractSchedule | None = None
    name: ClassVar[str] = "SignGD"
    equivariant: ClassVar[bool] = False
    sees: ClassVar[Sees] = "entries"
    memoryless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive("learning_rate", self.learning_rate)
        if not 0 <= self.growth < 1:
            raise ValueError(
                f"growth is {self.growth}: it must lie in [0, 1). Use growth=0.001, or "
                "0 for a fixed learning rate."
            )

    def pace(self, step: Array) -> Array | float:
        """By how much the learning rate is multiplied at a step."""
        planned = 1.0 if self.schedule is None else self.schedule(step)
        if not self.growth:
            return planned
        late = jnp.maximum(step - 1 / self.growth, 0.0)
        return planned * jnp.exp(jnp.log1p(self.growth) * late)

    def transformation(self) -> optax.GradientTransformation:
        """The update per unit of learning rate, up to its sign."""
        return optax.stateless(lambda g, _: jax.tree.map(_sign, g))
