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
from attnflow.forms.column_maps import by_degree


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
    - `parts`: `(embed, columns)`, the coordinates in each column with their signs;
      `None` where the data tell the entries alone.
    """

    entries: np.ndarray
    parts: np.ndarray | None


def covered(data: Sequences, chosen: np.ndarray) -> Columns:
    """A column for each coordinate in which some token is not zero."""
    tokens = _own_coordinates(data, chosen)
    kept = np.flatnonzero((tokens != 0).any(axis=0))
    return _ordered(tokens[:, kept], np.eye(tokens.shape[1])[:, kept])


def collapsed(data: Sequences, chosen: np.ndarray) -> Columns:
    """One column for each token's own coordinates, and one for each shared one."""
    if data.columns is not None:
        return _ordered(np.asarray(data.columns)[chosen], None)
    tokens = _own_coordinates(data, chosen)
    cover = (tokens != 0).sum(axis=0)
    shared = np.eye(tokens.shape[1])[:, cover > 1]
    own = np.where(cover == 1, np.sign(tokens), 0.0)
    own = own[own.any(axis=1)].T
    parts = np.concatenate([own, shared], axis=1)
    return _ordered(tokens @ parts, parts)


def _ordered(entries: np.ndarray, parts: np.ndarray | None) -> Columns:
    order = by_degree(entries)
    return Columns(entries[:, order], None if parts is None else parts[:, order])


def _own_coordinates(data: Sequences, chosen: np.ndarray) -> np.ndarray:
    if data.columns is not None:
        raise ValueError(
            "These data tell what a sign step adds to each token and not the tokens' "
            "coordinates, so that only SignGD in form='signs' can be followed."
        )
    return np.asarray(data.tokens)[chosen]
