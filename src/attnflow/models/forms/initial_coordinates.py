"""Forms over coordinates and their initial states: which columns data need.

SignGD and Adam treat every coordinate of a weight by itself, so that coordinates may be
left out or put together only where that is exact:

- a coordinate in which every token is zero has no gradient and never moves;
- under SignGD, the coordinates in which one token alone is not zero all move by the
  same sign, up to the sign of that token's entry: they are one *column*, whose entry
  is the sum of the absolute entries;
- a coordinate that several tokens share keeps a column of its own, since its sign
  depends on the ratios of their forces.

Tokens that differ by a sign alone (`x` and `−x`) are one token here, its
*representative*: this is the gauge in which labels drop out.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Array

from attnflow.data import Sequences
from attnflow.data.token_sequences import on_device
from attnflow.models.forms.base import Arrays, DrawnWeights, State, Weights
from attnflow.models.forms.column_maps import (
    SPARSE_SHARE,
    ColumnPlan,
    Positions,
    by_degree,
    column_map,
    expected_plan,
    plan_of,
    positions_of,
    widest,
)
from attnflow.models.forms.coordinates import (
    CoordinateForm,
    CoordinateScores,
    CoordinateValues,
    Passive,
    SignScores,
    SignValues,
)
from attnflow.models.forms.frames import Basis, frame_of
from attnflow.models.forms.initial import Initial

COORDINATE_FORMS = ("coordinates", "signs")


def column_plan(name: str, data: Sequences) -> ColumnPlan:
    """The sizes of a form's map between tokens and columns on these data.

    Where tokens have small supports, there is room for others that are drawn alike.
    """
    known = representatives(data)
    plan = plan_of(_columns(name, data, known).entries)
    if data.columns is not None or len(plan.degrees) == 1:
        return plan
    met = data.host_tokens[known.tokens] != 0
    if met.mean() > SPARSE_SHARE:
        return plan
    count, coordinates = met.shape
    room = expected_plan(float(met.sum() / coordinates), coordinates, count)
    if name == "signs" and len(room) > 1:
        # Coordinates of one token alone are one column, of each of the tokens.
        room = (plan.degrees[0] - plan.degrees[1] + room[1], *room[1:])
    return widest([plan, plan._replace(degrees=room)])


def coordinate_refusal(initial: Initial) -> str | None:
    """Why no form over coordinates holds initial weights of this kind, if none does."""
    if initial.merged:
        return "keys and queries are one merged matrix"
    if initial.shared:
        return "heads share one attention"
    if not initial.values.alike_is_known:
        return f"{type(initial.values).__name__} has layers of neurons behind W_V"
    return None


class Representatives(NamedTuple):
    """Token `t` is `sign[t]` times the token `tokens[number[t]]`."""

    tokens: np.ndarray
    number: np.ndarray
    sign: np.ndarray

    @property
    def matrix(self) -> np.ndarray:
        """Tokens as signed representatives: `(tokens, representatives)`."""
        matrix = np.zeros((len(self.number), len(self.tokens)))
        matrix[np.arange(len(self.number)), self.number] = self.sign
        return matrix


def representatives(data: Sequences) -> Representatives:
    """One of each pair `x`, `−x` of tokens that training sees, shown ones first."""
    tokens = data.host_tokens
    used = np.union1d(np.asarray(data.key), np.asarray(data.query))
    order = [*data.shown, *(int(t) for t in used if t not in data.shown)]
    others = [t for t in range(len(tokens)) if t not in set(order)]
    known: dict[bytes, int] = {}
    kept: list[int] = []
    index, sign = np.zeros(len(tokens), int), np.ones(len(tokens))
    for token in [*order, *others]:
        # Adding zero makes −0.0 and 0.0 the same bytes.
        vector = tokens[token] + 0.0
        here, there = vector.tobytes(), (-vector + 0.0).tobytes()
        if here not in known and there not in known:
            known[here] = len(kept)
            kept.append(token)
        same = here in known
        index[token] = known[here if same else there]
        sign[token] = 1.0 if same else -1.0
    return Representatives(np.array(kept), index, sign)


class Columns(NamedTuple):
    """How coordinates are put together.

    - `entries`: `(representatives, columns)`, what a unit step of a column adds to the
      inner product of a weight with a token.
    - `coordinate`, `sign`, `column`: the coordinates in some column, with which sign,
      and in which; `None` where the data give the entries alone.
    """

    entries: np.ndarray
    coordinate: np.ndarray | None = None
    sign: np.ndarray | None = None
    column: np.ndarray | None = None

    def read(self, vectors: np.ndarray) -> np.ndarray:
        """Other vectors in the columns: `(…, embed)` to `(…, columns)`."""
        if self.coordinate is None or self.sign is None or self.column is None:
            raise ValueError(
                "These data give columns without coordinates: use form='signs'."
            )
        count = self.entries.shape[1]
        parts = vectors[..., self.coordinate] * self.sign
        rows = parts.reshape(-1, parts.shape[-1])
        sums = np.stack([np.bincount(self.column, row, count) for row in rows])
        return sums.reshape(*vectors.shape[:-1], count)

    def outside(self, vectors: np.ndarray) -> np.ndarray:
        """The vectors without the coordinates that are in some column."""
        rest = vectors.copy()
        rest[..., self.coordinate] = 0.0
        return rest


def build_coordinates(
    name: str,
    data: Sequences,
    initial: Initial,
    weights: Weights,
    *,
    test: Sequences | None,
    plan: ColumnPlan | None = None,
) -> tuple[CoordinateForm, State]:
    """The form and its initial state, in the sizes of a plan or in their own."""
    refusal = coordinate_refusal(initial)
    if refusal is not None:
        raise ValueError(
            f"form={name!r} needs keys and queries apart and values by neurons of one "
            f"layer, but {refusal}. Use form='weights'."
        )
    known = representatives(data)
    columns = _columns(name, data, known)
    plan = plan or plan_of(columns.entries)
    neurons = initial.values.alike(weights)
    full = {name: np.asarray(weights[name]) for name in ("W_K", "W_Q")}
    full["W_V"] = neurons.weights
    start = _Start(name, columns, data, full)
    at = _positions(data, known), column_map(columns.entries, plan)
    gains = neurons.readout, neurons.slope, np.array(neurons.gain)
    readout = tuple(map(on_device, gains))
    signs = name == "signs"
    tokens = on_device(data.host_tokens[known.tokens])
    basis = Basis(tokens, on_device(known.matrix), orthonormal=False)
    form = CoordinateForm(
        frame=frame_of(data, basis),
        scores=SignScores(*at) if signs else CoordinateScores(*at),
        values=SignValues(*at, *readout) if signs else CoordinateValues(*at, *readout),
        representatives=on_device(known.tokens),
        name=name,
        passive=None if test is None else start.passive(test, plan.columns),
    )
    keys = start.state(("W_K", "W_Q"), known, plan, follow=test is not None)
    values = start.state(("W_V",), known, plan, follow=test is not None)
    if neurons.output is not None:
        values["w_O"] = on_device(neurons.output)
    return form, {"scores": keys, "values": values}


def _columns(name: str, data: Sequences, known: Representatives) -> Columns:
    columns = collapsed_columns if name == "signs" else covered_columns
    return columns(data, known.tokens)


def _positions(data: Sequences, known: Representatives) -> Positions:
    return positions_of(data, known.number, known.sign, count=len(known.tokens))


class _Start(NamedTuple):
    """Full initial weights, `(heads, neurons, embed)`, and the columns they are in."""

    name: str
    columns: Columns
    data: Sequences
    weights: DrawnWeights

    def state(
        self,
        names: tuple[str, ...],
        known: Representatives,
        plan: ColumnPlan,
        *,
        follow: bool,
    ) -> Arrays:
        """Inner products with tokens (and steps to `follow`), or weights by column."""
        if self.name == "coordinates":
            return {name: self._by_column(name, plan.columns) for name in names}
        tokens = self.data.host_tokens[known.tokens]
        seen = {name: self._seen(name, tokens) for name in names}
        if not follow:
            return seen
        sizes = {name: product.shape[-1] for name, product in seen.items()}
        if len(names) > 1 and not plan.sparse:
            sizes = {"W_KQ": sum(sizes.values())}
        heads = len(next(iter(seen.values())))
        steps = {
            f"steps_{name}": on_device(np.zeros((heads, plan.columns, size)))
            for name, size in sizes.items()
        }
        return {**seen, **steps}

    def passive(self, test: Sequences, columns: int) -> Passive:
        """Tokens of test samples, read from what the columns do."""
        known = representatives(test)
        tokens = test.host_tokens[known.tokens]
        if self.columns.coordinate is not None:
            entries, rest = self.columns.read(tokens), tokens
            if self.name == "coordinates":
                # Weights outside all columns keep their initial values.
                rest = self.columns.outside(tokens)
        elif test.columns is not None:
            entries, rest = np.asarray(test.columns)[known.tokens], tokens
        else:
            raise ValueError(
                "The training data give their columns alone, and the test samples do "
                "not: give columns of both, or of neither."
            )
        return Passive(
            _positions(test, known),
            on_device(np.pad(entries, ((0, 0), (0, columns - entries.shape[1])))),
            {name: self._seen(name, rest) for name in self.weights},
        )

    def _seen(self, name: str, tokens: np.ndarray) -> Array:
        # As products of matrices: `einsum` would not call the library for them.
        return on_device(tokens @ self.weights[name].swapaxes(1, 2))

    def _by_column(self, name: str, columns: int) -> Array:
        kept = self.columns.read(self.weights[name])
        spare = columns - kept.shape[-1]
        return on_device(np.pad(kept, ((0, 0), (0, 0), (0, spare))).swapaxes(1, 2))


def covered_columns(data: Sequences, tokens: np.ndarray) -> Columns:
    """A column for each coordinate in which some of these tokens is not zero."""
    vectors = _vectors(data, tokens)
    kept = np.flatnonzero((vectors != 0).any(axis=0))
    kept = kept[by_degree(vectors[:, kept])]
    count = len(kept)
    return Columns(vectors[:, kept], kept, np.ones(count), np.arange(count))


def collapsed_columns(data: Sequences, tokens: np.ndarray) -> Columns:
    """One column for each token's own coordinates, and one for each shared one."""
    if data.columns is not None:
        entries = np.asarray(data.columns)[tokens]
        return Columns(entries[:, by_degree(entries)])
    vectors = _vectors(data, tokens)
    degree = (vectors != 0).sum(axis=0)
    shared, single = np.flatnonzero(degree > 1), np.flatnonzero(degree == 1)
    shared = shared[by_degree(vectors[:, shared])]
    owner = np.abs(vectors[:, single]).argmax(axis=0)
    owners, column = np.unique(owner, return_inverse=True)
    sums = np.zeros((len(vectors), len(owners)))
    np.add.at(sums, (owner, column), np.abs(vectors[owner, single]))
    return Columns(
        np.concatenate([vectors[:, shared], sums], axis=1),
        np.concatenate([shared, single]),
        np.concatenate([np.ones(len(shared)), np.sign(vectors[owner, single])]),
        np.concatenate([np.arange(len(shared)), len(shared) + column]),
    )


def _vectors(data: Sequences, tokens: np.ndarray) -> np.ndarray:
    if data.columns is not None:
        raise ValueError(
            "These data give what a sign step adds to each token and not the tokens' "
            "coordinates, so that only SignGD in form='signs' can be followed."
        )
    return data.host_tokens[tokens]
