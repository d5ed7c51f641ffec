"""Rules of motion as plain records; `flow` and `descent` carry them out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array


def _positive(name: str, value: float) -> None:
    if not value > 0:
        raise ValueError(f"{name} is {value!r}: it must be positive, as in {name}=0.1.")


@dataclass(frozen=True)
class Flow:
    """Gradient flow, `dθ/dt = −∇L(θ)`, solved adaptively.

    **Arguments:**

    - `rtol`, `atol`: local error per step, `rtol·|θ| + atol`. `atol` must lie far
      below the smallest entry that matters (a squared initial scale, say).
    - `clock`: `log` integrates in `s = log(1 + t / scale)`, so that steps grow with t
      beyond the `scale`.
    - `solver`: `dopri8` or `tsit5` (cheaper to compile).
    - `max_steps`: solver steps per training stage.
    - `interpolate`: record between steps by the solver's interpolant, which is of
      lower order (1e-11 where steps are good to 1e-15), instead of stepping onto
      every recorded time.
    """

    rtol: float = 1e-10
    atol: float = 1e-16
    clock: Literal["linear", "log"] = "linear"
    scale: float = 1.0
    solver: Literal["dopri8", "tsit5"] = "dopri8"
    max_steps: int = 200_000
    interpolate: bool = False
    name: ClassVar[str] = "gradient flow"
    equivariant: ClassVar[bool] = True
    memoryless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _positive("rtol", self.rtol)
        _positive("atol", self.atol)
        _positive("scale", self.scale)


class _Steady:
    """A rule whose learning rate does not change."""

    def schedule(self, step: Array) -> Array | float:
        """By how much the learning rate is multiplied at a step."""
        return 1.0


@dataclass(frozen=True)
class GradientDescent(_Steady):
    """`θ ← θ − learning_rate · ∇L(θ)`."""

    learning_rate: float
    name: ClassVar[str] = "gradient descent"
    equivariant: ClassVar[bool] = True
    memoryless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _positive("learning_rate", self.learning_rate)

    def transformation(self) -> optax.GradientTransformation:
        """The update per unit of learning rate, up to its sign."""
        return optax.identity()


@dataclass(frozen=True)
class Momentum(_Steady):
    """`u ← momentum · u + ∇L(θ) + weight_decay · θ`, `θ ← θ − learning_rate · u`."""

    learning_rate: float
    momentum: float = 0.9
    weight_decay: float = 0.0
    nesterov: bool = False
    name: ClassVar[str] = "momentum"
    equivariant: ClassVar[bool] = True
    memoryless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _positive("learning_rate", self.learning_rate)
        if not 0 <= self.momentum < 1:
            raise ValueError(f"momentum is {self.momentum}: it must lie in [0, 1).")

    def transformation(self) -> optax.GradientTransformation:
        """The update per unit of learning rate, up to its sign."""
        trace = optax.trace(decay=self.momentum, nesterov=self.nesterov)
        if not self.weight_decay:
            # Adding zero times θ would read θ once more, which large tables feel.
            return trace
        return optax.chain(optax.add_decayed_weights(self.weight_decay), trace)


@dataclass(frozen=True)
class Adam(_Steady):
    """Adam with bias correction: `θ ← θ − learning_rate · m̂ / (sqrt(v̂) + epsilon)`."""

    learning_rate: float
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    name: ClassVar[str] = "Adam"
    equivariant: ClassVar[bool] = False
    memoryless: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _positive("learning_rate", self.learning_rate)
        if self.epsilon < 0:
            raise ValueError(f"epsilon is {self.epsilon}: it must not be negative.")
        for name in ("beta1", "beta2"):
            beta = getattr(self, name)
            if not 0 <= beta < 1:
                raise ValueError(f"{name} is {beta}: it must lie in [0, 1).")

    def transformation(self) -> optax.GradientTransformation:
        """The update per unit of learning rate, up to its sign."""
        plain = optax.scale_by_adam(self.beta1, self.beta2, self.epsilon)
        return plain if self.epsilon else _still_where_nothing_pulls(plain)


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
    name: ClassVar[str] = "SignGD"
    equivariant: ClassVar[bool] = False
    memoryless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _positive("learning_rate", self.learning_rate)
        if not 0 <= self.growth < 1:
            raise ValueError(
                f"growth is {self.growth}: it must lie in [0, 1). Use growth=0.001, or "
                "0 for a fixed learning rate."
            )

    def schedule(self, step: Array) -> Array | float:
        """By how much the learning rate is multiplied at a step."""
        if not self.growth:
            return 1.0
        late = jnp.maximum(step - 1 / self.growth, 0.0)
        return jnp.exp(jnp.log1p(self.growth) * late)

    def transformation(self) -> optax.GradientTransformation:
        """The update per unit of learning rate, up to its sign."""
        return optax.stateless(lambda g, _: jax.tree.map(_sign, g))


Descent = GradientDescent | Momentum | Adam | SignGD
Rule = Flow | Descent
Rules = Rule | Mapping[str, Descent]


def per_part(rules: Rules, parts: tuple[str, ...]) -> dict[str, Rule]:
    """A rule for each part of the state that moves."""
    if not isinstance(rules, Mapping):
        return dict.fromkeys(parts, rules)
    missing = [part for part in parts if part not in rules]
    if missing:
        raise ValueError(
            f"There are rules for {sorted(rules)} but none for {missing}: give one "
            "rule for each part that is trained."
        )
    if any(isinstance(rule, Flow) for rule in rules.values()):
        raise ValueError(
            "A gradient flow moves all trained parts with one clock: give one Flow, or "
            "a descent rule for each part."
        )
    return {part: rules[part] for part in parts}
