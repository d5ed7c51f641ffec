"""Quotients: one representative per orbit of samples, one block per irreducible part.

Where a symmetry of the data leaves the initial state alone, tables stay in its
commutant for all time: they are sums of small blocks, one for each irreducible part of
the symmetry's action, and products act block by block. So the parts of every other
form serve here too, with blocks in the place of heads; only the frame differs. A
block entry stands for several entries of the full tables; its force is the derivative
of the loss divided by that number (the gradient metric).

A kind of symmetry is an `AbstractSymmetry`: how scores and values of tokens are read
off the blocks, and how many entries each block entry stands for.
"""

import abc
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, Int

from attnflow.data import PermutedGroups, PrivateTokens, Sequences
from attnflow.data import Symmetry as Law
from attnflow.data.token_sequences import on_device
from attnflow.models.forms.base import AbstractFrame
from attnflow.models.forms.frames import basis_of
from attnflow.models.tables import Pairs, Tables

Tokens = Int[np.ndarray, "..."]


class AbstractSymmetry(abc.ABC):
    """How blocks sit in the full tables.

    Score blocks are `(blocks, size, size)`; values are one row of `size` entries,
    the components along orthonormal vectors that the symmetry leaves alone.
    """

    blocks: ClassVar[int]

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """Rows of a score block, and entries of the values."""

    @abc.abstractmethod
    def score_rows(self, key: Tokens, query: Tokens) -> np.ndarray:
        """Scores of pairs of tokens as linear maps of the blocks' entries.

        `(…, heads, blocks · size · size)` for key and query indices of shape `(…)`.
        """

    @abc.abstractmethod
    def value_rows(self, token: Tokens) -> np.ndarray:
        """Values of tokens likewise, `(…, heads, size)`."""

    @property
    @abc.abstractmethod
    def score_multiplicity(self) -> Float[np.ndarray, "blocks #size #size"]:
        """How many entries of the full tables share each block entry."""

    @property
    @abc.abstractmethod
    def value_multiplicity(self) -> float:
        """How many heads share the values."""


@dataclass(frozen=True)
class GroupSymmetry(AbstractSymmetry):
    """The symmetry that permutes K groups of a few kinds of tokens.

    Under permutations a kind splits into a trivial part (the mean over groups) and a
    standard one, so that every block of a table is `t` on means and `s` on differences:
    diagonal entries are `(t + (K − 1) s) / K` and the others `(t − s) / K`. Head h
    carries the same tables with the kinds' signs `head_signs[h]`. `coordinates` gives
    the tokens on the basis that is ordered by kind, then by group.
    """

    law: PermutedGroups
    coordinates: Float[np.ndarray, "tokens basis"]
    blocks: ClassVar[int] = 2

    @property
    def size(self) -> int:
        """Kinds of tokens."""
        return len(self.law.head_signs[0])

    @cached_property
    def _tables(self) -> tuple[np.ndarray, np.ndarray]:
        groups, kinds = self.law.groups, self.size
        signs, unit = np.array(self.law.head_signs, float), np.eye(kinds)
        mean = np.full((groups, groups), 1 / groups)
        parts = np.stack([mean, np.eye(groups) - mean])
        lift = np.einsum("ha,hb,pij,ac,bd->aibjhpcd", signs, signs, parts, unit, unit)
        lift = lift.reshape(kinds * groups, kinds * groups, len(signs), -1)
        row = np.einsum("ha,i,ac->aihc", signs, np.full(groups, groups**-0.5), unit)
        row = row.reshape(kinds * groups, len(signs), kinds)
        tokens = self.coordinates
        return (
            np.einsum("kr,rshe,qs->kqhe", tokens, lift, tokens),
            np.einsum("kr,rhe->khe", tokens, row),
        )

    def score_rows(self, key: Tokens, query: Tokens) -> np.ndarray:
        """Means and differences over groups, with the heads' signs."""
        return self._tables[0][key, query]

    def value_rows(self, token: Tokens) -> np.ndarray:
        """The kind's value, with the heads' signs."""
        return self._tables[1][token]

    @property
    def score_multiplicity(self) -> np.ndarray:
        """The dimensions of the two parts, times heads."""
        heads = len(self.law.head_signs)
        return heads * np.array([1.0, self.law.groups - 1.0])[:, None, None]

    @property
    def value_multiplicity(self) -> float:
        """The number of heads."""
        return float(len(self.law.head_signs))


@dataclass(frozen=True)
class PrivateSymmetry(AbstractSymmetry):
    """The symmetry that permutes samples of a kind, and the private tokens of a sample.

    Kind k has N samples with r private tokens each. Its tokens split into a trivial
    part (their sum), differences between samples (N − 1 dimensions) and differences
    within a sample (N (r − 1) dimensions). Trivial parts of all kinds, and the shared
    tokens, are mixed by one block; each of the others is a number for every kind. These
    numbers stand on the diagonals of two more blocks, where products keep them. With
    `t`, `b`, `w` the three numbers of a kind, the entry of two of its tokens is

        t / (N r)  +  b ([same sample] / r − 1 / (N r))  +  w ([same] − [same sample] / r).
    """  # noqa: E501

    law: PrivateTokens
    blocks: ClassVar[int] = 3

    @property
    def size(self) -> int:
        """Shared tokens and kinds of samples."""
        return self.law.shared + len(self.law.counts)

    @cached_property
    def _window(self) -> tuple[np.ndarray, np.ndarray]:
        """Row of the trivial block of every token (−1: unseen), and its sample."""
        law = self.law
        places = law.places()
        rows = [*range(law.shared), *(law.shared + kind for kind, _, _ in places), -1]
        samples = [-1] * law.shared + [sample for _, sample, _ in places] + [-1]
        return np.array(rows), np.array(samples)

    @cached_property
    def _norms(self) -> np.ndarray:
        """A token's component along the unit vector of its row."""
        counts, private = np.array(self.law.counts), np.array(self.law.private)
        total = counts * private
        private_norm = np.where(total > 0, total, np.inf) ** -0.5
        return np.concatenate([np.ones(self.law.shared), private_norm, [0.0]])

    def score_rows(self, key: Tokens, query: Tokens) -> np.ndarray:
        """The trivial block's entry, and the two numbers of the kind."""
        rows, samples = self._window
        first, second = rows[key], rows[query]
        shape = (*first.shape, 1, self.blocks, self.size, self.size)
        pair = np.indices(first.shape)
        trivial = self._norms[first] * self._norms[second]
        together = (first == second) & (first >= self.law.shared)
        alike = samples[key] == samples[query]
        share = 1 / np.maximum(1, self._private[first])
        between = np.where(together, alike * share - trivial, 0.0)
        within = np.where(together, (key == query) - alike * share, 0.0)
        parts = [
            _scattered(shape, (*pair, 0, block, first, second), values)
            for block, values in enumerate((trivial, between, within))
        ]
        entries = parts[0] + parts[1] + parts[2]
        return entries.reshape(*first.shape, 1, -1)

    def value_rows(self, token: Tokens) -> np.ndarray:
        """The component along the trivial part."""
        row = self._window[0][token]
        where = (*np.indices(row.shape), 0, row)
        return _scattered((*row.shape, 1, self.size), where, self._norms[row])

    @cached_property
    def _private(self) -> np.ndarray:
        """Private tokens of a sample, by row."""
        shared = np.ones(self.law.shared, int)
        return np.concatenate([shared, self.law.private, [1]])

    @property
    def score_multiplicity(self) -> np.ndarray:
        """1 for trivial parts; N − 1 and N (r − 1) on the diagonals of the others."""
        counts, private = np.array(self.law.counts), np.array(self.law.private)
        alone = np.zeros(self.law.shared)
        on_diagonal = np.eye(self.size) > 0
        diagonals = np.stack(
            [
                np.concatenate([alone, counts - 1]),
                np.concatenate([alone, counts * (private - 1)]),
            ]
        )
        each = np.where(on_diagonal, diagonals[:, None, :], 1.0)
        dimension = np.concatenate([np.ones((1, self.size, self.size)), each])
        # No token, no force: an absent part is divided by 1.
        return np.where(dimension > 0, dimension, 1.0)

    @property
    def value_multiplicity(self) -> float:
        """There is one head."""
        return 1.0


def _scattered(
    shape: tuple[int, ...], where: tuple[Any, ...], values: np.ndarray
) -> np.ndarray:
    """Zeros, but for these values at different places."""
    # As an index, −1 is the last entry: what is unseen has the value 0 there.
    flat = np.ravel_multi_index(np.broadcast_arrays(*where), shape, mode="wrap")
    size = math.prod(shape)
    return np.bincount(flat.ravel(), values.ravel(), size).reshape(shape)


def symmetry_of(law: Law, data: Sequences) -> AbstractSymmetry:
    """The quotient's symmetry for a law of the data."""
    if isinstance(law, PrivateTokens):
        return PrivateSymmetry(law)
    return GroupSymmetry(law, np.asarray(basis_of(data).coordinates))


class QuotientFrame(AbstractFrame):
    """Blocks → pair scores and values of the representatives."""

    score_map: Float[Array, "pairs entries"]
    value_map: Float[Array, "positions size"]
    score_shown: Float[Array, "heads shown shown entries"]
    value_shown: Float[Array, "heads shown size"]
    score_multiplicity: Float[Array, "blocks #block #block"]
    value_multiplicity: Float[Array, ""]
    shape: tuple[int, int, int, int] = eqx.field(static=True)

    def pairs(self, tables: Tables) -> Pairs:
        """Pair scores and values at the positions of the representatives."""
        samples, heads, _, keys = self.shape
        return Pairs(
            (self.score_map @ tables.scores.reshape(-1)).reshape(self.shape),
            (self.value_map @ tables.values[0]).reshape(samples, heads, keys),
        )

    def metric(self, gradient: Tables) -> Tables:
        """Derivatives divided by the number of entries that they stand for."""
        return Tables(
            gradient.scores / self.score_multiplicity,
            gradient.values / self.value_multiplicity,
        )

    def shown(self, tables: Tables) -> Tables:
        """The tables of each head on the shown tokens."""
        return Tables(
            self.shown_scores(tables.scores), self.value_shown @ tables.values[0]
        )

    def shown_scores(self, scores: Array) -> Array:
        """A score-like table of each head on the shown tokens."""
        return self.score_shown @ scores.reshape(-1)


def quotient_frame(data: Sequences, symmetry: AbstractSymmetry) -> QuotientFrame:
    """The frame of a quotient for one representative per orbit."""
    key, query = np.asarray(data.key), np.asarray(data.query)
    pairs = symmetry.score_rows(
        *np.broadcast_arrays(key[:, None, :], query[:, :, None])
    )
    scores = pairs.transpose(0, 3, 1, 2, 4)
    values = symmetry.value_rows(key).swapaxes(1, 2)
    shown = np.array(data.shown)
    every = np.broadcast_arrays(shown[:, None], shown[None, :])
    return QuotientFrame(
        score_map=on_device(scores.reshape(-1, scores.shape[-1])),
        value_map=on_device(values.reshape(-1, values.shape[-1])),
        score_shown=on_device(symmetry.score_rows(*every).transpose(2, 0, 1, 3)),
        value_shown=on_device(symmetry.value_rows(shown).swapaxes(0, 1)),
        score_multiplicity=on_device(symmetry.score_multiplicity),
        value_multiplicity=on_device(np.asarray(symmetry.value_multiplicity)),
        shape=scores.shape[:-1],
    )
