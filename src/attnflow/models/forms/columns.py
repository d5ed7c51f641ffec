"""Coordinates of the weights as data see them, for rules that see each one alone.

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

from attnflow.data import Sequences
from attnflow.models.forms.column_maps import by_degree


class Representatives(NamedTuple):
    """Token `t` is `sign[t]` times the token `chosen[number[t]]`."""

    chosen: np.ndarray
    number: np.ndarray
    sign: np.ndarray

    @property
    def matrix(self) -> np.ndarray:
        """Tokens as signed representatives: `(tokens, representatives)`."""
        matrix = np.zeros((len(self.number), len(self.chosen)))
        matrix[np.arange(len(self.number)), self.number] = self.sign
        return matrix


def representatives(data: Sequences) -> Representatives:
    """One of each pair `x`, `−x` of tokens that training sees, shown ones first."""
    tokens = np.asarray(data.tokens)
    used = np.union1d(np.asarray(data.key), np.asarray(data.query))
    order = [*data.shown, *(int(t) for t in used if t not in data.shown)]
    others = [t for t in range(len(tokens)) if t not in set(order)]
    known: dict[bytes, int] = {}
    chosen: list[int] = []
    index, sign = np.zeros(len(tokens), int), np.ones(len(tokens))
    for token in [*order, *others]:
        # Adding zero makes −0.0 and 0.0 the same bytes.
        vector = tokens[token] + 0.0
        here, there = vector.tobytes(), (-vector + 0.0).tobytes()
        if here not in known and there not in known:
            known[here] = len(chosen)
            chosen.append(token)
        same = here in known
        index[token] = known[here if same else there]
        sign[token] = 1.0 if same else -1.0
    return Representatives(np.array(chosen), index, sign)


class Columns(NamedTuple):
    """How coordinates are put together.

    - `entries`: `(representatives, columns)`, what a unit step of a column adds to the
      inner product of a weight with a token.
    - `coordinate`, `sign`, `column`: the coordinates in some column, with which sign,
      and in which; `None` where the data tell the entries alone.
    """

    entries: np.ndarray
    coordinate: np.ndarray | None = None
    sign: np.ndarray | None = None
    column: np.ndarray | None = None

    def read(self, vectors: np.ndarray) -> np.ndarray:
        """Other vectors in the columns: `(…, embed)` to `(…, columns)`."""
        if self.coordinate is None or self.sign is None or self.column is None:
            raise ValueError("These data tell columns without coordinates.")
        made = np.zeros((self.entries.shape[1], *vectors.shape[:-1]))
        parts = vectors[..., self.coordinate] * self.sign
        np.add.at(made, self.column, np.moveaxis(parts, -1, 0))
        return np.moveaxis(made, 0, -1)

    def outside(self, vectors: np.ndarray) -> np.ndarray:
        """The vectors without the coordinates that are in some column."""
        rest = vectors.copy()
        rest[..., self.coordinate] = 0.0
        return rest


def covered(data: Sequences, chosen: np.ndarray) -> Columns:
    """A column for each coordinate in which some token is not zero."""
    tokens = _own_coordinates(data, chosen)
    kept = np.flatnonzero((tokens != 0).any(axis=0))
    kept = kept[by_degree(tokens[:, kept])]
    count = len(kept)
    return Columns(tokens[:, kept], kept, np.ones(count), np.arange(count))


def collapsed(data: Sequences, chosen: np.ndarray) -> Columns:
    """One column for each token's own coordinates, and one for each shared one."""
    if data.columns is not None:
        entries = np.asarray(data.columns)[chosen]
        return Columns(entries[:, by_degree(entries)])
    tokens = _own_coordinates(data, chosen)
    degree = (tokens != 0).sum(axis=0)
    shared, single = np.flatnonzero(degree > 1), np.flatnonzero(degree == 1)
    shared = shared[by_degree(tokens[:, shared])]
    owner = np.abs(tokens[:, single]).argmax(axis=0)
    owners, column = np.unique(owner, return_inverse=True)
    own = np.zeros((len(tokens), len(owners)))
    np.add.at(own, (owner, column), np.abs(tokens[owner, single]))
    return Columns(
        np.concatenate([tokens[:, shared], own], axis=1),
        np.concatenate([shared, single]),
        np.concatenate([np.ones(len(shared)), np.sign(tokens[owner, single])]),
        np.concatenate([np.arange(len(shared)), len(shared) + column]),
    )


def _own_coordinates(data: Sequences, chosen: np.ndarray) -> np.ndarray:
    if data.columns is not None:
        raise ValueError(
            "These data tell what a sign step adds to each token and not the tokens' "
            "coordinates, so that only SignGD in form='signs' can be followed."
        )
    return np.asarray(data.tokens)[chosen]
