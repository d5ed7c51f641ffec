"""Q: attention under a decoder that follows its closed form (Lemmas 3–5, Theorems 1–3).

The decoder is `Y = F (FᵀF)⁻¹ W` with W from h(t/K). Then, with A = FᵀF,

    g_n = γ Σ_k (A⁻¹ q_n)_k f_k,     q_n = q₀ 1 + (q₁ − q₀) e_n,
    dz_m = η_Z s Σ_{n: ψ(n) = m} f_n ∘ (g_n − f_n (f_n · g_n)),
    ξ_n  = γ [(q₁ − q₀)((A⁻¹)_nn − 1) + q₀ ((A⁻¹ 1)_n − 1)],

with q₁ = 1 + 1/(M − 1), q₀ = −M/(M − 1)². The share s is 1/K where time counts samples,
as it does for the decoder; Equation 10 as printed has s = 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnflow.data.sequence_classes import Classes
from attnflow.experiments.initial_tables import check_rates, refuse_tables
from attnflow.experiments.record import Arrays
from attnflow.models.forms.token_classes import TokenFrame, token_form
from attnflow.models.problem.next_token import NextToken
from attnflow.observables.next_token import NEXT_TOKEN, TokenView
from attnflow.observables.registry import Registry
from attnflow.training.rules import Flow, Rule

State = dict[str, Array]
# Newton's method comes down on u from above and doubles its digits with every step;
# from the worst place, near e^u = M, six steps end at rounding.
NEWTON = 8


def log_odds(visits: Array, vocabulary: Array, rate: Array) -> Array:
    """Log-odds u = M h after some visits: `decoder.log_odds` for compiled programs."""
    right = vocabulary * rate * visits

    def step(_: int, u: Array) -> Array:
        excess = jnp.expm1(u) + (vocabulary - 1) * u - right
        return u - excess / (jnp.exp(u) + vocabulary - 1)

    # A loop, since written out in every stage of a solver it takes long to compile.
    first = jnp.minimum(rate * visits, jnp.log1p(right))
    return jax.lax.fori_loop(0, NEWTON, step, first)


def speed(u: Array, vocabulary: Array) -> Array:
    """Speed γ at log-odds u."""
    others = vocabulary - 1
    return others**2 * (u / vocabulary) / (others + jnp.exp(u))


def inverse_gram(gram: Float[Array, "classes classes"]) -> Array:
    """(FᵀF)⁻¹ by Cholesky, which compiles in half the time of other methods."""
    factor = jax.scipy.linalg.cho_factor(gram)
    return jax.scipy.linalg.cho_solve(factor, jnp.eye(len(gram)))


class QuasiStatic(eqx.Module):
    """System Q: scores under the quasi-static decoder.

    The state holds `scores`, the `clock` t and `drive`, B_n = η_Z s ∫ξ_n for each
    class.
    """

    frame: TokenFrame
    model: NextToken
    vocabulary: Float[Array, ""]
    value_rate: Float[Array, ""]
    score_rate: Float[Array, ""]
    share: Float[Array, ""]

    def log_odds(self, t: Array) -> Array:
        """Log-odds u at a time."""
        return log_odds(t / self.frame.classes, self.vocabulary, self.value_rate)

    def speed(self, t: Array) -> Array:
        """γ at a time."""
        return speed(self.log_odds(t), self.vocabulary)

    @property
    def _ends(self) -> tuple[Array, Array]:
        others = self.vocabulary - 1
        return 1 + 1 / others, -self.vocabulary / others**2

    def drive(self, inverse: Array) -> Float[Array, " classes"]:
        """ξ_n/γ, from the inverse of the features' Gram matrix."""
        high, low = self._ends
        diagonal = (high - low) * (jnp.diagonal(inverse) - 1)
        return diagonal + low * (inverse.sum(axis=1) - 1)

    def velocity(self, t: Array | float | None, state: State) -> State:
        """The state's derivative."""
        now = state["clock"] if t is None else jnp.asarray(t, float)
        view, speed = TokenView(self, state), self.speed(now)
        high, low = self._ends
        inverse = inverse_gram(view.gram)
        weights = low + (high - low) * jnp.eye(self.frame.classes)
        mixed = speed * (weights @ inverse @ view.unit)
        unit, weight = view.unit, self.frame.weight
        level = jnp.sum(weight * unit * mixed, axis=1, keepdims=True)
        push = unit * (mixed - unit * level)
        rate = self.score_rate * self.share
        rows = jnp.zeros_like(state["scores"]).at[self.frame.query].add(push)
        return {
            "scores": rate * rows,
            "clock": jnp.ones_like(state["clock"]),
            "drive": rate * speed * self.drive(inverse),
        }

    def tables(self, state: State) -> State:
        """Z, and the decoder's closed form."""
        view = TokenView(_Scores(self.frame, self.model), state)
        height = self.log_odds(state["clock"]) / self.vocabulary
        columns = jnp.arange(len(self.frame.column_weight))
        is_label = self.frame.label[:, None] == columns
        rows = height * jnp.where(is_label, self.vocabulary - 1, -1.0)
        values = view.unit.T @ inverse_gram(view.gram) @ rows
        return {"scores": state["scores"], "values": values}


class _Scores(eqx.Module):
    """A system with scores only, which gives the features."""

    frame: TokenFrame
    model: NextToken

    def tables(self, state: State) -> State:
        return {"scores": state["scores"]}


QUASI_STATIC = Registry(TokenView, NEXT_TOKEN, place=f"{__name__}:QUASI_STATIC")


@QUASI_STATIC.observable(about="γ, the speed of attention")
def attention_speed(view: TokenView) -> Array:
    """γ(t)."""
    return view.system.speed(view.state["clock"])


@QUASI_STATIC.observable("class", about="ξ_n, which drives attention")
def drive(view: TokenView) -> Array:
    """ξ_n(t)."""
    drive = view.system.drive(inverse_gram(view.gram))
    return attention_speed(view) * drive


@QUASI_STATIC.observable("class", about="B_n, the integral of the drive")
def drive_integral(view: TokenView) -> Array:
    """B_n(t) = η_Z s ∫ξ_n."""
    return view.state["drive"]


@dataclass(frozen=True)
class QuasiStaticModel:
    """Q as the model of an experiment.

    `per_class` divides the sum over classes by K, as time in samples requires; without
    it the equation is as printed. `rates` are η_Z and η_Y.
    """

    task: Classes
    rates: tuple[float, float] = (1.0, 1.0)
    per_class: bool = True
    system: ClassVar[str] = "Q: attention under the quasi-static decoder"
    registry: ClassVar = QUASI_STATIC

    def __post_init__(self) -> None:
        check_rates(*self.rates)
        if not self.rates[1] > 0:
            raise ValueError(
                f"The learning rate of the values is {self.rates[1]}: the closed form "
                "of the decoder needs a positive one."
            )

    def refuses(self, rules: Sequence[Rule]) -> str | None:
        """Why these rules cannot be used; `None` for a flow."""
        if all(isinstance(rule, Flow) and not rule.weight_decay for rule in rules):
            return None
        return (
            "The quasi-static decoder is a function of time: use a flow without "
            "weight decay (rule=flow)."
        )

    def form(self) -> tuple[str, str]:
        """Name of the form, and the reason for it."""
        return "token-classes", "tokens with equal probabilities begin and move alike"

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Labels of the dims of observables."""
        task = self.task.sequence_classes()
        return token_form("token-classes", task).labels(task)

    def members(
        self, seeds: Sequence[int], weights: Arrays | None
    ) -> list[tuple[QuasiStatic, State]]:
        """The system and its zero state, the same for each seed."""
        refuse_tables(weights)
        task = self.task.sequence_classes()
        frame = token_form("token-classes", task).frame
        share = 1 / task.classes if self.per_class else 1.0
        numbers = (1.0 * task.vocabulary, self.rates[1], self.rates[0], share)
        system = QuasiStatic(frame, NextToken(), *(jnp.asarray(x) for x in numbers))
        state = {
            "scores": frame.zeros()["scores"],
            "clock": jnp.zeros(()),
            "drive": jnp.zeros(task.classes),
        }
        return [(system, state) for _ in seeds]

    def drift(self, system: QuasiStatic, before: State, after: State) -> float:
        """The change of the sums of scores, relative to the sum of their sizes."""
        weight = np.asarray(system.frame.weight)
        scores = np.asarray(after["scores"])
        size = np.abs(scores) @ weight
        return float(np.max(np.abs(scores @ weight) / np.where(size > 0, size, 1.0)))
