"""One query for all samples: scores are one column, at the cost of a column.

Where every sample is read by the same token p (a trained prompt), data see of keys and
queries the column of scores with p alone. With the force d on it,

- merged: `s(x) = x · c`, and `c = W_KQ p` moves by `|p|² Σ d_k x_k`;
- apart: `s(x) = ⟨W_K x, q⟩`, where `q = W_Q p` moves by `|p|² W_K Σ d_k x_k` and `W_K`
  by `q (Σ d_k x_k)ᵀ`: a chain of two, as `[W_V β]` of values is, with the gain `|p|²`.

So both are parts of values on the span of the training tokens, of rank r: one step
costs as much as the samples' keys times r, beside r² where keys have weights.

**Tokens that are never trained on** have a component outside this span, on which
initial weights act that nothing moves. Of a vector it is one number per head and token
beside one more coordinate of the state; of a chain it is read by β, along the
directions in which β can move. Both decay where weights do. A table therefore has the
span's coordinates and after them those that test samples alone see.
"""

from dataclasses import replace
from typing import NamedTuple, NoReturn

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnflow.data import Sequences, random
from attnflow.data.random import Key
from attnflow.data.token_sequences import on_device
from attnflow.models.forms.base import (
    AbstractFrame,
    AbstractMatrices,
    AbstractReducedPart,
    AbstractScores,
    Arrays,
    Form,
    Matrices,
    PartState,
    SelfScores,
    State,
    Weights,
)
from attnflow.models.forms.frames import basis_of, prompt_of
from attnflow.models.forms.initial import Initial
from attnflow.models.forms.initial_values import draw_entries
from attnflow.models.forms.scores import score_factor
from attnflow.models.forms.values import ChainTransport, ValueTable
from attnflow.models.tables import Pairs, Tables

Unseen = Float[Array, "heads places _"]


class SeenChain(AbstractReducedPart, AbstractMatrices):
    """A chain and what test samples see of it: `{"factor": N, "share": (heads,)}`.

    The table is the chain's own, and after it β times the share that decay has left of
    the initial weights outside the span.
    """

    chain: ChainTransport

    def table(self, state: Arrays) -> Array:
        """The column on the span, and β as tokens outside of it see it."""
        factor, share = state["factor"], state["share"]
        read = self.chain.table(factor)
        return jnp.concatenate([read, share[:, None] * factor[..., -1]], axis=-1)

    def velocity(self, state: Arrays, force: Array) -> Arrays:
        """That of the chain: training sees nothing outside the span."""
        rank = state["factor"].shape[-1] - 1
        moved = self.chain.velocity(state["factor"], force[..., :rank])
        return {"factor": moved, "share": jnp.zeros_like(state["share"])}

    def matrices(self, update: Arrays) -> Matrices:
        """Those of the chain."""
        return self.chain.matrices(update["factor"])

    def from_matrices(self, matrices: Matrices) -> Arrays:
        """The chain alone moves."""
        factor = self.chain.from_matrices(matrices)
        return {"factor": factor, "share": jnp.zeros(factor.shape[0])}


Column = ValueTable | SeenChain


class PromptScores(AbstractReducedPart, AbstractScores, AbstractMatrices):
    """The column of scores with the prompt, a part of the kind that values are."""

    column: Column

    def table(self, state: PartState) -> Array:
        """The column, `(heads, columns)`."""
        return self.column.table(state)

    def self_scores(self, state: PartState) -> SelfScores:
        """They are not known."""
        refuse_table()

    def velocity(self, state: PartState, force: Array) -> PartState:
        """That of the column."""
        return self.column.velocity(state, force)

    def matrices(self, update: PartState) -> Matrices:
        """Those of the column."""
        return self.column.matrices(update)

    def from_matrices(self, matrices: Matrices) -> PartState:
        """The update of the column."""
        return self.column.from_matrices(matrices)


class ShownColumn(Tables):
    """Values on the shown tokens; of their scores only a column is known."""

    @property
    def scores(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """They are not known."""
        refuse_table()


class PromptFrame(AbstractFrame):
    """From a column of scores and values to the positions of samples.

    `seen` are the span's coordinates of the token at every position of all samples in a
    row; `unseen_…` what is read there beside them, in test samples. `extra` says how
    many entries of the two tables training does not see.
    """

    seen: Float[Array, "places rank"]
    shown_coordinates: Float[Array, "shown rank"]
    unseen_scores: Unseen | None
    unseen_values: Unseen | None
    samples: int = eqx.field(static=True)
    extra: tuple[int, int] = eqx.field(static=True)

    def pairs(self, tables: Tables) -> Pairs:
        """Scores with the prompt and values at the positions of the samples."""
        scores = self._at_places(tables.scores, self.unseen_scores)
        values = self._at_places(tables.values, self.unseen_values)
        return Pairs(scores[:, :, None, :], values)

    def _at_places(self, table: Array, unseen: Unseen | None) -> Array:
        rank = self.seen.shape[-1]
        read = table[:, :rank] @ self.seen.T
        if unseen is not None:
            read = read + jnp.einsum("hpu,hu->hp", unseen, table[:, rank:])
        return read.reshape(table.shape[0], self.samples, -1).swapaxes(0, 1)

    def sent_back(self, pairs: Pairs) -> Tables:
        """Derivatives by each sample's own pairs, as derivatives by the tables."""
        rows = self.seen.reshape(self.samples, -1, self.seen.shape[-1])
        both = (pairs.scores[:, :, 0], pairs.values)
        wide = [
            jnp.pad(by_pair @ rows, ((0, 0), (0, 0), (0, extra)))
            for by_pair, extra in zip(both, self.extra, strict=True)
        ]
        return Tables(*wide)

    def metric(self, gradient: Tables) -> Tables:
        """Every entry of a table stands for itself."""
        return gradient

    def shown(self, tables: Tables) -> Tables:
        """Values on the shown tokens."""
        rank = self.seen.shape[-1]
        shown = tables.values[:, :rank] @ self.shown_coordinates.T
        return ShownColumn(tables.scores, shown)

    def shown_scores(self, scores: Array) -> Array:
        """They are not known."""
        refuse_table()


def refuse_table() -> NoReturn:
    """Raise: a column is not the table of scores."""
    raise ValueError(
        "form='prompt' knows the scores of keys with the prompt alone, not those of "
        "all tokens with each other. Record pair_score or attention, or use "
        "form='transport'."
    )


class Ambient(NamedTuple):
    """Initial weights over coordinates in which all tokens can be written.

    - `tokens`, `tests`: the tokens there; `prompt` among the former.
    - `scores`: `W_KQ p`, `(heads, axes)`, or the factor `[W_K, W_Q p]`.
    - `values`: the part of the values over these coordinates, and its state.
    """

    tokens: Float[np.ndarray, "tokens axes"]
    tests: Float[np.ndarray, "tests axes"] | None
    scores: np.ndarray
    values: tuple[ValueTable | ChainTransport, np.ndarray]


def build_prompt(
    data: Sequences,
    initial: Initial,
    *,
    heads: int,
    key: Key,
    weights: Weights | None = None,
    test: Sequences | None = None,
    **how: bool,
) -> tuple[Form, State]:
    """The form of one column of scores and its initial state for one seed."""
    prompt = prompt_of(data)
    if prompt is None or (test is not None and prompt_of(test) is None):
        raise ValueError(
            "form='prompt' is for samples that are all read by one and the same query, "
            "and these have several. Use form='transport', or wrap the task in "
            "PromptQuery."
        )
    ambient = _ambient(data, test, prompt, initial, heads=heads, key=key, given=weights)
    span, tokens = _span(data, ambient.tokens)
    square = float((ambient.tokens[prompt] ** 2).sum())
    gain = on_device(np.full(heads, square))
    of_scores = ValueTable(gain) if initial.merged else ChainTransport(gain)
    scores = _reduced(of_scores, ambient.scores, span, ambient.tests)
    values = _reduced(*ambient.values, span, ambient.tests)
    extra = scores.extra, values.extra
    frame = _frame(tokens, data, tokens[list(data.shown)], extra)
    test_frame = None
    if test is not None:
        assert ambient.tests is not None
        unseen = [
            None if x is None else on_device(x[:, np.asarray(test.key).reshape(-1)])
            for x in (scores.unseen, values.unseen)
        ]
        seen = ambient.tests @ span.T
        test_frame = _frame(seen, test, tokens[:0], extra, *unseen)
    form = Form(
        frame, PromptScores(scores.part), values.part, "prompt", test_frame, **how
    )
    return form, {"scores": scores.state, "values": values.state}


def _span(data: Sequences, tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An orthonormal basis of the tokens' span, and the tokens' coordinates on it."""
    turn = None
    if tokens.shape[1] > len(tokens):
        # Singular vectors of a small matrix: those of a wide one take ten times longer.
        turn, narrow = np.linalg.qr(tokens.T)
        tokens = narrow.T
    basis = basis_of(replace(data, vectors=on_device(tokens), scale=None))
    span = np.asarray(basis.vectors)
    return span if turn is None else span @ turn.T, np.asarray(basis.coordinates)


def _frame(
    tokens: np.ndarray,
    data: Sequences,
    shown: np.ndarray,
    extra: tuple[int, int],
    *unseen: Array | None,
) -> PromptFrame:
    key = np.asarray(data.key)
    seen = on_device(tokens[key.reshape(-1)])
    scores, values = unseen or (None, None)
    return PromptFrame(seen, on_device(shown), scores, values, len(key), extra)


def _ambient(
    data: Sequences,
    test: Sequences | None,
    prompt: int,
    initial: Initial,
    *,
    heads: int,
    key: Key,
    given: Weights | None,
) -> Ambient:
    """Given weights over the embedding, or a draw over the span of all tokens."""
    tokens = data.host_tokens
    tests = None if test is None or _known(data, test) else test.host_tokens
    if given is not None:
        part, state = initial.values.reduced(given, np.eye(tokens.shape[1]), gram=False)
        if initial.merged:
            scores = np.asarray(given["W_KQ"]) @ tokens[prompt]
        else:
            query = np.asarray(given["W_Q"]) @ tokens[prompt]
            scores = _beside(np.asarray(given["W_K"]), query)
    else:
        # Of a vector all coordinates are drawn, of a chain those that tokens have.
        if not (initial.merged and initial.values.is_small(tokens.shape[1], 0)):
            tokens, tests = _turned(tokens, tests)
        axes, draw = tokens.shape[1], initial.drawn_without_weights
        keys = random.split(key)
        part, state = initial.values.sampled(
            heads, axes, gram=False, key=keys[1], draw=draw
        )
        if initial.merged:
            scale = initial.omega * float(np.linalg.norm(tokens[prompt]))
            scale = 0.0 if draw == "expected" else scale
            scores = draw_entries("normal", scale, (heads, axes), key=keys[0])
        else:
            factor = score_factor(initial, heads, axes, key=keys[0], draw=draw)
            scores = _beside(factor[..., :axes], factor[..., axes:] @ tokens[prompt])
    if not isinstance(part, ValueTable | ChainTransport):
        raise ValueError(
            f"Values that are a {type(part).__name__} are not known to form='prompt'. "
            "Use form='transport'."
        )
    if test is not None and tests is None:
        tests = tokens
    return Ambient(tokens, tests, scores, (part, np.asarray(state)))


def _turned(
    tokens: np.ndarray, tests: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """All tokens along orthonormal directions around them, where these are fewer."""
    every = tokens if tests is None else np.concatenate([tokens, tests])
    if every.shape[1] > len(every):
        every = np.linalg.qr(every.T).R.T
    count = len(tokens)
    return every[:count], None if tests is None else every[count:]


def _beside(
    first: Float[np.ndarray, "heads rows axes"], last: Float[np.ndarray, "heads rows"]
) -> Float[np.ndarray, "heads rows columns"]:
    return np.concatenate([first, last[..., None]], axis=-1)


def _known(data: Sequences, test: Sequences) -> bool:
    """Whether a test has the tokens of training alone."""
    return data is test or np.array_equal(data.host_tokens, test.host_tokens)


class Reduced(NamedTuple):
    """A part on the span, its state, and what test tokens see beside the span.

    `unseen` has a row per test token; `extra` is the number of its columns.
    """

    part: Column
    state: Array | Arrays
    extra: int
    unseen: np.ndarray | None


def _reduced(
    part: ValueTable | ChainTransport,
    state: np.ndarray,
    span: Float[np.ndarray, "rank axes"],
    tests: Float[np.ndarray, "tests axes"] | None,
) -> Reduced:
    beyond = None if tests is None else tests - (tests @ span.T) @ span
    if isinstance(part, ValueTable):
        return _line(part, state, span, beyond)
    first = state[..., :-1]
    began = _beside(first @ span.T, state[..., -1])
    directions = None
    if began.shape[1] > began.shape[2]:
        directions, began = np.linalg.qr(began)
    share = np.ones(len(began))
    kept = on_device({"factor": began, "share": share})
    unseen = None
    if beyond is not None:
        rows = first if directions is None else directions.swapaxes(-1, -2) @ first
        unseen = (rows @ beyond.T).swapaxes(-1, -2)
    return Reduced(SeenChain(part), kept, began.shape[1], unseen)


def _line(
    part: ValueTable,
    vector: Float[np.ndarray, "heads axes"],
    span: np.ndarray,
    beyond: np.ndarray | None,
) -> Reduced:
    """A vector's coordinates on the span, and its length outside of it."""
    seen = vector @ span.T
    if beyond is None:
        return Reduced(part, on_device(seen), 0, None)
    outside = vector - seen @ span
    size = np.linalg.norm(outside, axis=1, keepdims=True)
    unit = outside / np.where(size > 0, size, 1.0)
    state = np.concatenate([seen, size], axis=1)
    return Reduced(part, on_device(state), 1, (unit @ beyond.T)[..., None])
