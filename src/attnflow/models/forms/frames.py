"""Frames over a basis of the tokens' span, one block per head."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from attnflow.data import Sequences
from attnflow.data.token_sequences import on_device
from attnflow.models.forms.base import AbstractFrame
from attnflow.models.tables import Pairs, Tables

# Below this many entries a dense map is a single small product, which beats gathering
# and scattering (2.4 against 4.1 µs at 1,152 entries; 20 against 8 µs at 34,560).
DENSE_ENTRIES = 5_000
# A table over all tokens is given up where it has this many times more entries than
# there are products of positions.
FEW_PAIRS = 4


class Basis(eqx.Module):
    """A basis of the tokens' span, orthonormal but for rules that rotations disturb.

    Those see single coordinates, in which a rotated token is never exactly zero: for
    them tokens stand for themselves.
    """

    vectors: Float[Array, "basis embed"]
    coordinates: Float[Array, "tokens basis"]
    orthonormal: bool = eqx.field(static=True, default=True)

    @property
    def rank(self) -> int:
        """Dimension of the span."""
        return self.vectors.shape[0]


def basis_of(data: Sequences) -> Basis:
    """A basis of the span of the tokens.

    Where the tokens, or the shown ones, are themselves an orthonormal basis, they are
    taken, so that coordinates are exact; otherwise the right singular vectors are.
    Duplicate and dependent tokens are no special case.
    """
    tokens = data.host_tokens
    for vectors in (tokens, tokens[list(data.shown)]):
        if _is_basis(vectors, tokens):
            return Basis(on_device(vectors), on_device(tokens @ vectors.T))
    return span_of(tokens)


def span_of(vectors: Float[Array, "tokens embed"] | np.ndarray) -> Basis:
    """The right singular vectors as a basis of the span of vectors."""
    tokens = np.asarray(vectors)
    _, sizes, vectors = np.linalg.svd(tokens, full_matrices=False)
    cut = sizes.max() * max(tokens.shape) * np.finfo(float).eps
    vectors = vectors[sizes > cut]
    return Basis(on_device(vectors), on_device(tokens @ vectors.T))


def _is_basis(shown: np.ndarray, tokens: np.ndarray) -> bool:
    count = len(shown)
    if not 0 < count <= shown.shape[1]:
        return False
    close = np.abs(shown @ shown.T - np.eye(count)).max() <= 1e-12
    return bool(close) and bool(
        np.abs(tokens - (tokens @ shown.T) @ shown).max() <= 1e-12
    )


class AbstractHeadFrame(AbstractFrame):
    """What frames with one block per head share."""

    shown_coordinates: eqx.AbstractVar[Float[Array, "shown basis"]]
    orthonormal: eqx.AbstractVar[bool]

    def metric(self, gradient: Tables) -> Tables:
        """Every entry of a table stands for itself."""
        return gradient

    def shown(self, tables: Tables) -> Tables:
        """The tables of each head on the shown tokens."""
        return Tables(
            self.shown_scores(tables.scores),
            jnp.einsum("hr,tr->ht", tables.values, self.shown_coordinates),
        )

    def shown_scores(self, scores: Array) -> Array:
        """A score-like table of each head on the shown tokens."""
        tokens = self.shown_coordinates
        return jnp.einsum("kr,hrs,qs->hkq", tokens, scores, tokens)


class DenseFrame(AbstractHeadFrame):
    """Pair scores as one product with a fixed matrix: the choice for small data."""

    score_map: Float[Array, "pairs squared_basis"]
    value_map: Float[Array, "positions basis"]
    shown_coordinates: Float[Array, "shown basis"]
    samples: int = eqx.field(static=True)
    queries: int = eqx.field(static=True)
    orthonormal: bool = eqx.field(static=True)

    def pairs(self, tables: Tables) -> Pairs:
        """Pair scores and values at the positions of the samples."""
        heads = tables.scores.shape[0]
        scores = tables.scores.reshape(heads, -1) @ self.score_map.T
        values = tables.values @ self.value_map.T
        shape = (heads, self.samples, self.queries, -1)
        return Pairs(
            scores.reshape(shape).swapaxes(0, 1),
            values.reshape(heads, self.samples, -1).swapaxes(0, 1),
        )


class GatherFrame(AbstractHeadFrame):
    """Pair scores picked out of a table over all tokens: the choice for large data.

    `plain` says that the tokens are the basis, so that the table is there already.
    """

    coordinates: Float[Array, "tokens basis"]
    key: Int[Array, "samples keys"]
    query: Int[Array, "samples queries"]
    shown_coordinates: Float[Array, "shown basis"]
    plain: bool = eqx.field(static=True)
    orthonormal: bool = eqx.field(static=True)

    def pairs(self, tables: Tables) -> Pairs:
        """Pair scores and values at the positions of the samples."""
        scores, values = tables
        if not self.plain:
            tokens = self.coordinates
            scores = jnp.einsum("kr,hrs,qs->hkq", tokens, scores, tokens)
            values = jnp.einsum("kr,hr->hk", tokens, values)
        picked = scores[:, self.key[:, None, :], self.query[:, :, None]]
        return Pairs(picked.swapaxes(0, 1), values[:, self.key].swapaxes(0, 1))


class PlaceFrame(AbstractHeadFrame):
    """Pair scores from the tokens at each position: for many tokens of low rank."""

    keys: Float[Array, "samples keys basis"]
    queries: Float[Array, "samples queries basis"]
    shown_coordinates: Float[Array, "shown basis"]
    orthonormal: bool = eqx.field(static=True)

    def pairs(self, tables: Tables) -> Pairs:
        """Pair scores and values at the positions of the samples."""
        seen = jnp.einsum("hrs,nqs->nhqr", tables.scores, self.queries)
        scores = jnp.einsum("nkr,nhqr->nhqk", self.keys, seen)
        return Pairs(scores, jnp.einsum("nkr,hr->nhk", self.keys, tables.values))


def frame_of(data: Sequences, basis: Basis) -> AbstractHeadFrame:
    """The cheapest of the frames for these data."""
    # On the host: a handful of small arrays, each of which would cost a dispatch.
    tokens = np.asarray(basis.coordinates)
    shown = on_device(tokens[list(data.shown)])
    samples, queries = data.query.shape
    entries = samples * queries * data.key.shape[1] * basis.rank**2
    if entries > DENSE_ENTRIES and len(tokens) ** 2 > FEW_PAIRS * entries:
        return PlaceFrame(
            keys=on_device(tokens[np.asarray(data.key)]),
            queries=on_device(tokens[np.asarray(data.query)]),
            shown_coordinates=shown,
            orthonormal=basis.orthonormal,
        )
    if entries > DENSE_ENTRIES:
        return GatherFrame(
            coordinates=basis.coordinates,
            key=data.key,
            query=data.query,
            shown_coordinates=shown,
            plain=np.array_equal(tokens, np.eye(len(tokens))),
            orthonormal=basis.orthonormal,
        )
    keys, query = tokens[np.asarray(data.key)], tokens[np.asarray(data.query)]
    score_map = np.einsum("nkr,nqs->nqkrs", keys, query)
    return DenseFrame(
        score_map=on_device(score_map.reshape(-1, basis.rank**2)),
        value_map=on_device(keys.reshape(-1, basis.rank)),
        shown_coordinates=shown,
        samples=samples,
        queries=queries,
        orthonormal=basis.orthonormal,
    )


def frames_of(
    data: Sequences, test: Sequences | None, *, rotated: bool = True
) -> tuple[Basis, AbstractFrame, AbstractFrame | None]:
    """A basis for all tokens, the frame of the data and that of the test samples.

    Test samples over a vocabulary of their own widen the basis by their tokens. Without
    `rotated` the basis is the tokens themselves.
    """
    every = data
    if test is not None and not _same_tokens(data, test):
        both = np.concatenate([data.host_tokens, test.host_tokens])
        every = replace(data, vectors=on_device(both), scale=None)
    basis = basis_of(every)
    if not rotated:
        eye, tokens = np.eye(len(every.vectors)), every.host_tokens
        basis = Basis(on_device(tokens), on_device(eye), orthonormal=False)
    of_data = _rows_of(basis, slice(len(data.vectors)))
    if test is None:
        return basis, frame_of(data, of_data), None
    of_test = _rows_of(basis, slice(-len(test.vectors), None))
    return basis, frame_of(data, of_data), frame_of(test, of_test)


def _rows_of(basis: Basis, rows: slice) -> Basis:
    """The basis with the coordinates of some tokens alone."""
    return replace(basis, coordinates=on_device(np.asarray(basis.coordinates)[rows]))


def _same_tokens(data: Sequences, test: Sequences) -> bool:
    return data is test or np.array_equal(data.host_tokens, test.host_tokens)


def prompt_of(data: Sequences) -> int | None:
    """The token that is the only query of every sample; `None` where there is none."""
    query = np.asarray(data.query)
    one = query.shape[1] == 1 and bool((query == query[0, 0]).all())
    return int(query[0, 0]) if one else None
