"""Weights on the coordinates that tokens cover: exact for coordinate-wise rules.

The state is the weights themselves, without the coordinates in which every token is
zero, and with values collapsed into one vector where all their neurons move alike.
Gradients come as `mantissa · exp(log)` with a scale for each coordinate, so that their
signs and ratios are right where a float64 gradient would be zero.

Under SignGD a column of coordinates moves by one sign, so that the inner products of
neurons with tokens close: `Δ⟨w, x⟩ = η · entries · signs`. The sign state holds these
alone: the weights are not needed, nor the dimension in which they live. Its `steps` sum
up what each column has moved; tokens that are not trained on are read from it.
"""

import abc
from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from attnflow.data import Sequences
from attnflow.models.forms.base import (
    AbstractForm,
    AbstractFrame,
    AbstractPart,
    AbstractPieces,
    AbstractRows,
    AbstractScores,
    Arrays,
    Forces,
    PartState,
    Rows,
    SelfScores,
    State,
    decays,
    no_test_samples,
)
from attnflow.models.forms.column_maps import (
    AbstractColumnMap,
    Positions,
    pulled_keys,
    pulled_queries,
    pulled_values,
)
from attnflow.models.problem import Problem, scaled_forces
from attnflow.models.tables import Pairs
from attnflow.training.rules import Flow, Rule, SignGD
from attnflow.training.scaled_numbers import Scaled

Products = Float[Array, "heads tokens neurons"]
Gradients = Mapping[str, Array | Scaled]
# Sums and their log scales, by token.
ByTokens = tuple[Products, Float[Array, "heads tokens"]]


class Passive(eqx.Module):
    """Tokens that are never trained on: `start + entries · state`, for each weight.

    - `entries`: `(tokens, columns)`; `start`: by weight, `(heads, tokens, neurons)`.
    """

    positions: Positions
    entries: Float[Array, "tokens columns"]
    start: dict[str, Products]

    def seen(self, name: str, moved: Float[Array, "heads columns neurons"]) -> Products:
        """What neurons see of these tokens."""
        return self.start[name] + self.entries @ moved


class AbstractCoordinates(AbstractPart):
    """A part over columns of coordinates; `seen` is what neurons see of tokens."""

    positions: Positions
    columns: AbstractColumnMap

    @abc.abstractmethod
    def seen(self, state: Arrays, name: str) -> Products:
        """Inner products of one weight's neurons with the tokens."""

    @abc.abstractmethod
    def moved(self, state: Arrays, name: str) -> Float[Array, "heads columns neurons"]:
        """What passive tokens are read from: weights or steps by column."""

    @abc.abstractmethod
    def gradient(self, state: Arrays, force: Scaled) -> dict[str, Scaled]:
        """Minus the gradient by every column, as `mantissa · exp(log)`."""

    def direction(self, state: Arrays, force: Scaled) -> Gradients:
        """Minus the gradient by every column."""
        return self.gradient(state, force)

    def velocity(self, state: Arrays, force: Array) -> Arrays:
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

    def rows(self, state: Arrays) -> Rows:
        """What every neuron sees of the tokens."""
        return Rows(self.seen(state, "W_K"), self.seen(state, "W_Q"))

    def table(self, state: Arrays) -> Array:
        """`S[key, query]` on the tokens."""
        keys, queries = self.seen(state, "W_K"), self.seen(state, "W_Q")
        return jnp.einsum("htn,hun->htu", keys, queries)

    def self_scores(self, state: Arrays) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""
        both = self.seen(state, "W_K"), self.seen(state, "W_Q")
        return SelfScores(*(jnp.einsum("htn,hun->htu", x, x) for x in both))

    def gradient(self, state: Arrays, force: Scaled) -> dict[str, Scaled]:
        """Minus the gradient by every column."""
        of_keys, of_queries = self.by_tokens(state, force)
        return {
            "W_K": self.columns.pull(*of_keys),
            "W_Q": self.columns.pull(*of_queries),
        }

    def by_tokens(self, state: Arrays, force: Scaled) -> tuple[ByTokens, ByTokens]:
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

    readout: Float[Array, "heads neurons"]
    slope: Float[Array, "heads neurons"]
    gain: Float[Array, ""]

    def table(self, state: Arrays) -> Array:
        """The value of each token."""
        return self.read(state, self.seen(state, "W_V"))

    def read(self, state: Arrays, seen: Products) -> Array:
        """Values of tokens of which the neurons see this much."""
        return jnp.einsum("htn,hn->ht", seen, state.get("w_O", self.readout))

    def gradient(self, state: Arrays, force: Scaled) -> dict[str, Scaled]:
        """Forces on values to the columns of every neuron, and to `w_O`."""
        tokens, log = self.by_tokens(force)
        columns = self.columns.pull(tokens, log)
        by_neuron = Scaled(columns.mantissa * self._slope(state), columns.log)
        return {"W_V": by_neuron, **self.by_output(state, (tokens, log))}

    def by_tokens(self, force: Scaled) -> ByTokens:
        """Forces on the values of tokens, `(heads, tokens, 1)`, and log scales."""
        return pulled_values(force, self.positions)

    def by_output(self, state: Arrays, force: ByTokens) -> dict[str, Scaled]:
        """Minus the gradient by `w_O`, where it is trained."""
        if "w_O" not in state:
            return {}
        tokens, log = force
        top = log.max(axis=-1, keepdims=True)
        share = tokens[..., 0] * jnp.exp(log - top)
        seen = self.seen(state, "W_V")
        return {"w_O": Scaled(jnp.einsum("ht,htn->hn", share, seen), top)}

    def _slope(self, state: Arrays) -> Array:
        return state.get("w_O", self.slope)[:, None, :]


class AbstractByCoordinate(AbstractPieces, AbstractCoordinates):
    """A state of weights by coordinate."""

    def pieces(self, update: PartState) -> dict[str, PartState]:
        """The weights by name."""
        return update

    def whole(self, pieces: dict[str, PartState]) -> PartState:
        """The weights by name."""
        return pieces

    def seen(self, state: Arrays, name: str) -> Products:
        """Inner products of one weight's neurons with the tokens."""
        return self.columns.push(state[name])

    def moved(self, state: Arrays, name: str) -> Array:
        """The weights."""
        return state[name]


class AbstractBySign(AbstractCoordinates):
    """A state of inner products with the tokens, which SignGD alone moves."""

    def seen(self, state: Arrays, name: str) -> Products:
        """Inner products of one weight's neurons with the tokens."""
        return state[name]

    def refuses(self, rule: Rule) -> str | None:
        """All rules but SignGD."""
        if isinstance(rule, SignGD):
            return None
        return (
            f"{rule.name} moves the coordinates of a token's own support by different "
            "amounts, and the sign state keeps one number for them all. Use "
            "form='coordinates'."
        )


class CoordinateScores(AbstractByCoordinate, AbstractCoordinateScores):
    """`{"W_K": (heads, columns, neurons), "W_Q": the same}`: weights by coordinate."""

    def move(self, state: Arrays, update: Arrays) -> Arrays:
        """The weights plus the update."""
        return jax.tree.map(jnp.add, state, update)


class CoordinateValues(AbstractByCoordinate, AbstractCoordinateValues):
    """`{"W_V": (heads, columns, neurons)}`, and `w_O: (heads, neurons)` if trained."""

    def move(self, state: Arrays, update: Arrays) -> Arrays:
        """The weights plus the update."""
        grown = {**update, "W_V": self.gain * update["W_V"]}
        return jax.tree.map(jnp.add, state, grown)


class SignScores(AbstractBySign, AbstractCoordinateScores):
    """`{"W_K": (heads, tokens, neurons), "W_Q": the same}`, and steps.

    A dense map moves both sides by one product, as `W_KQ`: rows of W_K before those of
    W_Q. A sparse one is quicker with each by itself.
    """

    def moved(self, state: Arrays, name: str) -> Array:
        """The steps of every column."""
        if self.columns.stacked:
            return _side(state["steps_W_KQ"], name)
        return state[f"steps_{name}"]

    def direction(self, state: Arrays, force: Scaled) -> Arrays:
        """Numbers with the signs of minus the gradient."""
        (keys, key_log), (queries, query_log) = self.by_tokens(state, force)
        if not self.columns.stacked:
            return {
                "W_K": self.columns.pull_signs(keys, key_log[..., None]),
                "W_Q": self.columns.pull_signs(queries, query_log[..., None]),
            }
        both = jnp.concatenate([keys, queries], axis=-1)
        logs = jnp.stack([key_log, query_log], axis=-1)
        return {"W_KQ": self.columns.pull_signs(both, logs)}

    def move(self, state: Arrays, update: Arrays) -> Arrays:
        """Every token moves by its entries in the columns."""
        pushed = {name: self.columns.push(moves) for name, moves in update.items()}
        if self.columns.stacked:
            pushed = {name: _side(pushed["W_KQ"], name) for name in ("W_K", "W_Q")}
        new = {name: state[name] + change for name, change in pushed.items()}
        return {**new, **_stepped(state, update)}


class SignValues(AbstractBySign, AbstractCoordinateValues):
    """`{"W_V": (heads, tokens, neurons)}`, its steps, and `w_O` if it is trained."""

    def moved(self, state: Arrays, name: str) -> Array:
        """The steps of every column."""
        return state[f"steps_{name}"]

    def direction(self, state: Arrays, force: Scaled) -> Gradients:
        """Numbers with the signs of minus the gradient."""
        tokens, log = self.by_tokens(force)
        columns = self.columns.pull_signs(tokens, log[..., None])
        return {
            "W_V": columns * self._slope(state),
            **self.by_output(state, (tokens, log)),
        }

    def move(self, state: Arrays, update: Arrays) -> Arrays:
        """Every token moves by its entries in the columns."""
        moves = self.gain * update["W_V"]
        new = {"W_V": state["W_V"] + self.columns.push(moves)}
        if "w_O" in state:
            new["w_O"] = state["w_O"] + update["w_O"]
        return {**new, **_stepped(state, {"W_V": moves})}


class CoordinateForm(AbstractForm):
    """A form over coordinates, which reads pairs without a table over all tokens.

    `representatives` are the tokens of the data that stand for themselves and for minus
    themselves: those that the parts see.
    """

    frame: AbstractFrame
    # Modules are frozen, so that narrower types are sound.
    scores: AbstractCoordinateScores  # pyright: ignore[reportIncompatibleVariableOverride]
    values: AbstractCoordinateValues  # pyright: ignore[reportIncompatibleVariableOverride]
    representatives: Int[Array, " tokens"]
    name: str = eqx.field(static=True)
    test_frame: AbstractFrame | None = None
    normalised: bool = eqx.field(static=True, default=False)
    careful: bool = eqx.field(static=True, default=False)
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
            raise no_test_samples()
        keys, queries = (
            self.passive.seen(name, self.scores.moved(state["scores"], name))
            for name in ("W_K", "W_Q")
        )
        seen = self.passive.seen("W_V", self.values.moved(state["values"], "W_V"))
        values = self.values.read(state["values"], seen)
        return _pairs(self.passive.positions, keys, queries, values)

    def part_forces(
        self, problem: Problem, state: State, data: Sequences
    ) -> tuple[dict[str, Scaled], None]:
        """Forces at the positions, with scales of their own."""
        return scaled_forces(problem, self.pairs(state), data)._asdict(), None

    def flow_forces(self, problem: Problem, state: State, data: Sequences) -> Forces:
        """The forces on the tables, which no part takes: flows are refused."""
        return self.forces(problem, state, data)._asdict()

    def gradient_errors(
        self, problem: Problem, state: State, data: Sequences
    ) -> dict[str, dict[str, Array]]:
        """How far rounding may move each mantissa of the parts' gradients.

        The same sums over absolute values, times the relative error of a term: that of
        an exponential is the absolute error of its argument.
        """
        force, _ = self.part_forces(problem, state, data)
        bounds = {}
        for name in ("scores", "values"):
            part, sizes = jax.tree.map(jnp.abs, (self.part(name), state[name]))
            mantissa, log = force[name]
            sums = part.gradient(sizes, Scaled(jnp.abs(mantissa), log))
            largest = jnp.where(jnp.isfinite(log), jnp.abs(log), 0.0).max()
            terms = self.scores.positions.key_places.shape[0] + mantissa.size
            error = jnp.finfo(log.dtype).eps * (largest + terms)
            bounds[name] = {weight: error * x.mantissa for weight, x in sums.items()}
        return bounds


def _pairs(at: Positions, keys: Products, queries: Products, values: Array) -> Pairs:
    key = keys[:, at.key] * at.key_sign[..., None]
    query = queries[:, at.query] * at.query_sign[..., None]
    scores = jnp.einsum("hskn,hsqn->shqk", key, query)
    return Pairs(scores, (values[:, at.key] * at.key_sign).swapaxes(0, 1))


def _side(both: Array, name: str) -> Array:
    width = both.shape[-1] // 2
    return both[..., :width] if name == "W_K" else both[..., width:]


def _stepped(state: Arrays, update: Arrays) -> Arrays:
    """Steps after an update, where they are kept."""
    steps = {f"steps_{name}": moves for name, moves in update.items()}
    return {name: state[name] + moves for name, moves in steps.items() if name in state}
