"""C: Section 6's scalar model of one common token (Theorem 4, Figures 3 and 9).

    dz/dt = −η_Z γ(t) e^{4z} / C₀,     ξ = γ(t) e^{4z} / C₀,     B = η_Z ∫ξ = −z,

with γ of the decoder alone, and C₀ = ρ₀⁴/K as printed, or ρ₀⁴/(K − 1), K − 1 being the
number of other classes. At time 0 the common token's f² is 1/ρ₀².
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.experiments.initial_tables import check_rates, refuse_tables
from attnflow.experiments.record import Arrays
from attnflow.observables.registry import Registry
from attnflow.papers.scansnap.systems.quasi_static import log_odds, speed
from attnflow.training.rules import Flow, Rule

State = dict[str, Array]


class ScalarModel(eqx.Module):
    """System C: the score of the common token. The state also holds the `clock` t."""

    classes: Float[Array, ""]
    vocabulary: Float[Array, ""]
    value_rate: Float[Array, ""]
    score_rate: Float[Array, ""]
    scale: Float[Array, ""]

    def speed(self, t: Array) -> Array:
        """γ at a time."""
        u = log_odds(t / self.classes, self.vocabulary, self.value_rate)
        return speed(u, self.vocabulary)

    def velocity(self, t: Array | float | None, state: State) -> State:
        """The state's derivative."""
        now = state["clock"] if t is None else jnp.asarray(t, float)
        drive = self.speed(now) * jnp.exp(4 * state["scores"]) / self.scale
        return {
            "scores": -self.score_rate * drive,
            "clock": jnp.ones_like(state["clock"]),
        }


class ScalarView:
    """The scalar model in one state."""

    def __init__(self, system: ScalarModel, state: State):
        self.system = system
        self.state = state


SCALAR = Registry(ScalarView, place=f"{__name__}:SCALAR")


@SCALAR.observable(about="the common token's score z")
def common_score(view: ScalarView) -> Array:
    """z(t)."""
    return view.state["scores"]


@SCALAR.observable(about="B, the integral of the drive")
def drive_integral(view: ScalarView) -> Array:
    """B(t) = −z(t)."""
    return -view.state["scores"]


@SCALAR.observable(about="γ, the speed of attention")
def attention_speed(view: ScalarView) -> Array:
    """γ(t)."""
    return view.system.speed(view.state["clock"])


@SCALAR.observable(about="dz/dt")
def score_velocity(view: ScalarView) -> Array:
    """dz/dt of the common token."""
    return view.system.velocity(None, view.state)["scores"]


@dataclass(frozen=True)
class ScalarExperimentModel:
    """C as the model of an experiment; `rates` are η_Z and η_Y, `scale` is C₀."""

    classes: int
    vocabulary: int
    rates: tuple[float, float]
    scale: float
    system: ClassVar[str] = "C: the scalar model of one common token"
    registry: ClassVar = SCALAR

    def __post_init__(self) -> None:
        check_rates(*self.rates)
        if not self.rates[1] > 0:
            raise ValueError(
                f"The learning rate of the values is {self.rates[1]}: γ needs a "
                "positive one."
            )
        if self.vocabulary < 3 or self.classes < 1 or not self.scale > 0:
            raise ValueError(
                f"There are {self.classes} classes, {self.vocabulary} tokens and "
                f"C0={self.scale}: use at least 1 and 3, and a positive C0."
            )

    def refuses(self, rules: Sequence[Rule]) -> str | None:
        """Why these rules cannot be used; `None` for a flow."""
        if all(isinstance(rule, Flow) and not rule.weight_decay for rule in rules):
            return None
        return (
            "The scalar model is a function of time: use a flow without "
            "weight decay (rule=flow)."
        )

    def form(self) -> tuple[str, str]:
        """Name of the form, and the reason for it."""
        return "scalar", "the model has one number"

    def labels(self) -> dict[str, tuple[str, ...]]:
        """No observable has dims."""
        return {}

    def members(
        self, seeds: Sequence[int], weights: Arrays | None
    ) -> list[tuple[ScalarModel, State]]:
        """The system and its zero state, the same for each seed."""
        refuse_tables(weights)
        sizes = (self.classes, self.vocabulary, self.rates[1], self.rates[0])
        system = ScalarModel(*(jnp.asarray(1.0 * x) for x in (*sizes, self.scale)))
        state = {"scores": jnp.zeros(()), "clock": jnp.zeros(())}
        return [(system, state) for _ in seeds]

    def drift(self, system: ScalarModel, before: State, after: State) -> float:
        """Zero: nothing is conserved."""
        return 0.0
