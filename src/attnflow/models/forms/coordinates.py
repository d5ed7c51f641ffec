"""Weights on the coordinates that tokens cover: exact for coordinate-wise rules.

The state is the weights themselves, without the coordinates in which every token is
zero, and with values collapsed into one vector where all their neurons move alike.
Gradients come as `mantissa · exp(log)` with a scale for each coordinate, so that their
signs and ratios are right where a float64 gradient would be zero.
"""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.data import Sequences
from attnflow.models.forms.base import (
    AbstractPart,
    AbstractRows,
    AbstractScores,
    Form,
    Rows,
    SelfScores,
    State,
    decays,
)
from attnflow.models.forms.column_maps import AbstractColumnMap
from attnflow.models.forms.scaled_pulls import (
    Positions,
    pulled_keys,
    pulled_queries,
    pulled_values,
)
from attnflow.models.problem import Problem, scaled_forces
from attnflow.models.tables import Pairs
from attnflow.training.rules import Flow, Rule
from attnflow.training.scaled_numbers import Scaled

Neurons = Float[Array, "heads tokens neurons"]
# Sums and their log scales, by token.
ByTokens = tuple[Neurons, Float[Array, "heads tokens"]]


class Passive(eqx.Module):
    """Tokens that are never trained on: `start + entries · state`, for each weight.

    - `entries`: `(tokens, columns)`; `start`: by weight, `(heads, tokens, neurons)`.
    """

    positions: Positions
    entries: Float[Array, "tokens columns"]
    start: dict[str, Neurons]

    def seen(self, name: str, moved: Float[Array, "heads columns neurons"]) -> Neurons:
        """What neurons see of these tokens."""
        return self.start[name] + self.entries @ moved


class AbstractCoordinates(AbstractPart):
    """A part over columns of coordinates; `seen` tells what neurons see of tokens."""

    positions: eqx.AbstractVar[Positions]
    columns: eqx.AbstractVar[AbstractColumnMap]

    @abc.abstractmethod
    def seen(self, state: Any, name: str) -> Neurons:
        """Inner products of one weight's neurons with the tokens."""

    @abc.abstractmethod
    def moved(self, state: Any, name: str) -> Float[Array, "heads columns neurons"]:
        """What passive tokens are read from: weights or steps by column."""

    @abc.abstractmethod
    def gradient(self, state: Any, force: Scaled) -> Any:
        """Minus the gradient by every column, as `mantissa · exp(log)`."""

    def direction(self, state: Any, force: Any) -> Any:
        """Minus the gradient by every column."""
        return self.gradient(state, force)

    def velocity(self, state: Any, force: Array) -> Any:
        """Not known: flows are refused."""
        raise NotImplementedError("Coordinate-wise forms follow descents alone.")

    def refuses(self, rule: Rule) -> str | None:
        """Flows have better forms, and decay moves what is left out."""
        if isinstance(rule, Flow):
            return (
                "gradient flow commutes with rotations, which this form does not use. "
                "Use form='transport' or 'gram'."
            )
        if decays(rule):
            return (
                "weight decay also moves the coordinates that no token covers, which "
                "this form leaves out. Use form='weights'."
            )
        return None


class AbstractCoordinateScores(AbstractCoordinates, AbstractScores, AbstractRows):
    """Keys and queries over columns of coordinates."""

    def rows(self, state: Any) -> Rows:
        """What every neuron sees of the tokens."""
        return Rows(self.seen(state, "W_K"), self.seen(state, "W_Q"))

    def table(self, state: Any) -> Array:
        """`S[key, query]` on the tokens."""
        keys, queries = self.seen(state, "W_K"), self.seen(state, "W_Q")
        return jnp.einsum("htn,hun->htu", keys, queries)

    def self_scores(self, state: Any) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""
        both = self.seen(state, "W_K"), self.seen(state, "W_Q")
        return SelfScores(*(jnp.einsum("htn,hun->htu", x, x) for x in both))

    def gradient(self, state: Any, force: Scaled) -> Any:
        """Minus the gradient by every column."""
        of_keys, of_queries = self.by_tokens(state, force)
        return {
            "W_K": self.columns.pull(*of_keys),
            "W_Q": self.columns.pull(*of_queries),
        }

    def by_tokens(self, state: Any, force: Scaled) -> tuple[ByTokens, ByTokens]:
        """Forces on pair scores, through the other side's neurons, to the tokens."""
        keys, queries = self.seen(state, "W_K"), self.seen(state, "W_Q")
        by_key, key_log = pulled_keys(force, self.positions)
        by_query, query_log = pulled_queries(force, self.positions)
        return (by_key @ queries, key_log), (by_query @ keys, query_log)


class AbstractCoordinateValues(AbstractCoordinates):
    """Values over columns of coordinates.

    A value is `Σ_n readout_n ⟨w_n, x⟩`, with the trained `w_O` in the place of the
    `readout` if there is one. A neuron may stand for many that move alike: a unit force
    on the value pulls on each of them by `slope`, and `gain` is by how much it moves
    when each of them moves by one.
    """

    readout: eqx.AbstractVar[Float[Array, "heads neurons"]]
    slope: eqx.AbstractVar[Float[Array, "heads neurons"]]
    gain: eqx.AbstractVar[Float[Array, ""]]

    def table(self, state: Any) -> Array:
        """The value of each token."""
        return self.read(state, self.seen(state, "W_V"))

    def read(self, state: Any, seen: Neurons) -> Array:
        """Values of tokens of which the neurons see this much."""
        return jnp.einsum("htn,hn->ht", seen, state.get("w_O", self.readout))

    def gradient(self, state: Any, force: Scaled) -> Any:
        """Forces on values to the columns of every neuron, and to `w_O`."""
        tokens, log = self.by_tokens(force)
        columns = self.columns.pull(tokens, log)
        by_neuron = Scaled(columns.mantissa * self._slope(state), columns.log)
        return {"W_V": by_neuron, **self.by_output(state, (tokens, log))}

    def by_tokens(self, force: Scaled) -> ByTokens:
        """Forces on the values of tokens, `(heads, tokens, 1)`, and log scales."""
        return pulled_values(force, self.positions)

    def by_output(self, state: Any, force: ByTokens) -> dict[str, Scaled]:
        """Minus the gradient by `w_O`, where it is trained."""
        if "w_O" not in state:
            return {}
        tokens, log = force
        top = log.max(axis=-1, keepdims=True)
        share = tokens[..., 0] * jnp.exp(log - top)
        seen = self.seen(state, "W_V")
        return {"w_O": Scaled(jnp.einsum("ht,htn->hn", share, seen), top)}

    def _slope(self, state: Any) -> Array:
        return state.get("w_O", self.slope)[:, None, :]


class CoordinateScores(AbstractCoordinateScores):
    """`{"W_K": (heads, columns, neurons), "W_Q": the same}`: weights by coordinate."""

    positions: Positions
    columns: AbstractColumnMap

    def seen(self, state: Any, name: str) -> Neurons:
        """Inner products of one weight's neurons with the tokens."""
        return self.columns.push(state[name])

    def moved(self, state: Any, name: str) -> Array:
        """The weights."""
        return state[name]

    def move(self, state: Any, update: Any) -> Any:
        """The weights plus the update."""
        return jax.tree.map(jnp.add, state, update)


class CoordinateValues(AbstractCoordinateValues):
    """`{"W_V": (heads, columns, neurons)}`, and `w_O: (heads, neurons)` if trained."""

    positions: Positions
    columns: AbstractColumnMap
    readout: Float[Array, "heads neurons"]
    slope: Float[Array, "heads neurons"]
    gain: Float[Array, ""]

    def seen(self, state: Any, name: str) -> Neurons:
        """Inner products of the neurons with the tokens."""
        return self.columns.push(state[name])

    def moved(self, state: Any, name: str) -> Array:
        """The weights."""
        return state[name]

    def move(self, state: Any, update: Any) -> Any:
        """The weights plus the update."""
        grown = {**update, "W_V": self.gain * update["W_V"]}
        return jax.tree.map(jnp.add, state, grown)


class CoordinateForm(Form):
    """A form over coordinates, which reads pairs without a table over all tokens."""

    # Modules are frozen, so that narrower types are sound.
    scores: AbstractCoordinateScores  # pyright: ignore[reportIncompatibleVariableOverride]
    values: AbstractCoordinateValues  # pyright: ignore[reportIncompatibleVariableOverride]
    passive: Passive | None = None

    def pairs(self, state: State) -> Pairs:
        """Pair scores and values at the positions of the samples."""
        keys, queries = (
            self.scores.seen(state["scores"], name) for name in ("W_K", "W_Q")
        )
        return _pairs(
            self.scores.positions, keys, queries, self.values.table(state["values"])
        )

    def test_pairs(self, state: State) -> Pairs:
        """The same at the positions of test samples, whose tokens are passive."""
        if self.passive is None:
            return super().test_pairs(state)
        own, other = state["scores"], state["values"]
        keys, queries = (
            self.passive.seen(name, self.scores.moved(own, name))
            for name in ("W_K", "W_Q")
        )
        seen = self.passive.seen("W_V", self.values.moved(other, "W_V"))
        values = self.values.read(other, seen)
        return _pairs(self.passive.positions, keys, queries, values)

    def pulls(self, problem: Problem, state: State, data: Sequences) -> dict[str, Any]:
        """Forces at the positions, with scales of their own."""
        return scaled_forces(problem, self.pairs(state), data)._asdict()

    def gradient_errors(
        self, problem: Problem, state: State, data: Sequences
    ) -> dict[str, dict[str, Array]]:
        """How far rounding may move each mantissa of the parts' gradients.

        The same sums over absolute values, times the relative error of a term: that of
        an exponential is the absolute error of its argument.
        """
        force = self.pulls(problem, state, data)
        bounds = {}
        for name in ("scores", "values"):
            part, own = jax.tree.map(jnp.abs, (self.part(name), state[name]))
            mantissa, log = force[name]
            sizes = part.gradient(own, Scaled(jnp.abs(mantissa), log))
            largest = jnp.where(jnp.isfinite(log), jnp.abs(log), 0.0).max()
            terms = self.scores.positions.key_places.shape[0] + mantissa.size
            error = jnp.finfo(log.dtype).eps * (largest + terms)
            bounds[name] = {key: error * size.mantissa for key, size in sizes.items()}
        return bounds


def _pairs(at: Positions, keys: Neurons, queries: Neurons, values: Array) -> Pairs:
    own = keys[:, at.key] * at.key_sign[..., None]
    others = queries[:, at.query] * at.query_sign[..., None]
    scores = jnp.einsum("hskn,hsqn->shqk", own, others)
    return Pairs(scores, (values[:, at.key] * at.key_sign).swapaxes(0, 1))
