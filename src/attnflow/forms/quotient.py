"""Quotients: one representative per orbit of samples, one block per irreducible part.

Where a symmetry of the data leaves the initial state alone, tables stay in its
commutant for all time: they are sums of small blocks, one for each irreducible part of
the symmetry's action, and products act block by block. So the parts of every other
form serve here too, with blocks in the place of heads; only the frame differs. A
block entry stands for several entries of the full tables; its force is the derivative
of the loss divided by that number (the gradient metric).
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnflow._types import Pairs, Tables
from attnflow.data import PermutedGroups, Sequences
from attnflow.forms.base import AbstractFrame
from attnflow.forms.frames import Basis


class Symmetry(NamedTuple):
    """How blocks sit in the full tables of the heads.

    - `score_lift`: full scores as a linear map of the blocks' entries.
    - `value_lift`: full values as a linear map of the value entries.
    - `score_multiplicity`: how many entries (heads × dimension of the irreducible
      part) share a block; `value_multiplicity`: likewise for each value entry.
    """

    score_lift: Float[np.ndarray, "heads basis basis blocks size size"]
    value_lift: Float[np.ndarray, "heads basis one size"]
    score_multiplicity: Float[np.ndarray, " blocks"]
    value_multiplicity: Float[np.ndarray, " size"]

    @property
    def blocks(self) -> int:
        """Number of irreducible parts."""
        return self.score_lift.shape[3]

    @property
    def size(self) -> int:
        """Size of a block."""
        return self.score_lift.shape[-1]


def permuted_groups(law: PermutedGroups) -> Symmetry:
    """The symmetry that permutes K groups of a few kinds of tokens.

    Under permutations a kind splits into a trivial part (the mean over groups) and a
    standard one, so that every block of a table is `t` on means and `s` on differences:
    diagonal entries are `(t + (K − 1) s) / K` and the others `(t − s) / K`. Head h
    carries the same tables with the kinds' signs `head_signs[h]`.
    """
    groups, head_signs = law.groups, law.head_signs
    kinds, heads = len(head_signs[0]), len(head_signs)
    mean = np.full((groups, groups), 1 / groups)
    parts = np.stack([mean, np.eye(groups) - mean])
    unit = np.eye(kinds)
    signs = np.array(head_signs, float)
    lift = np.einsum("ha,hb,pij,ac,bd->haibjpcd", signs, signs, parts, unit, unit)
    size = kinds * groups
    values = np.einsum("ha,i,ac->haic", signs, np.ones(groups), unit)
    return Symmetry(
        score_lift=lift.reshape(heads, size, size, 2, kinds, kinds),
        value_lift=values.reshape(heads, size, 1, kinds),
        score_multiplicity=heads * np.array([1.0, groups - 1.0]),
        value_multiplicity=np.full(kinds, float(heads * groups)),
    )


class QuotientFrame(AbstractFrame):
    """Blocks → pair scores and values of the representatives."""

    score_map: Float[Array, "pairs entries"]
    value_map: Float[Array, "positions size"]
    score_shown: Float[Array, "heads shown shown entries"]
    value_shown: Float[Array, "heads shown size"]
    score_multiplicity: Float[Array, " blocks"]
    value_multiplicity: Float[Array, " size"]
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
            gradient.scores / self.score_multiplicity[:, None, None],
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


def quotient_frame(data: Sequences, basis: Basis, symmetry: Symmetry) -> QuotientFrame:
    """The frame of a quotient for one representative per orbit."""
    heads, rank = symmetry.score_lift.shape[:2]
    tokens = np.asarray(basis.coordinates)
    scores = symmetry.score_lift.reshape(heads, rank, rank, -1)
    values = symmetry.value_lift.reshape(heads, rank, -1)
    shown = tokens[list(data.shown)]
    table = np.einsum("kr,hrse,qs->hkqe", tokens, scores, tokens)
    row = np.einsum("kr,hre->hke", tokens, values)
    key, query = np.asarray(data.key), np.asarray(data.query)
    picked = table[:, key[:, None, :], query[:, :, None]].swapaxes(0, 1)
    return QuotientFrame(
        score_map=jnp.asarray(picked.reshape(-1, picked.shape[-1])),
        value_map=jnp.asarray(row[:, key].swapaxes(0, 1).reshape(-1, row.shape[-1])),
        score_shown=jnp.asarray(np.einsum("kr,hrse,qs->hkqe", shown, scores, shown)),
        value_shown=jnp.asarray(np.einsum("kr,hre->hke", shown, values)),
        score_multiplicity=jnp.asarray(symmetry.score_multiplicity),
        value_multiplicity=jnp.asarray(symmetry.value_multiplicity),
        shape=picked.shape[:-1],
    )
