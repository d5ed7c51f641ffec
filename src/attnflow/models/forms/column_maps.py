"""Maps from forces at positions of samples to gradients by columns of coordinates.

Every sum is over numbers with scales of their own; it takes the largest of these as its
scale, and what lies more than e^745 below it is lost, where it could decide a sign only
if the rest cancelled to that many digits. First forces are summed by token; the scales
do not depend on the neuron, so that a gradient by all neurons is one product of
matrices. Then a map between tokens and columns, dense or along the few overlaps, takes
gradients by tokens to gradients by columns (`pull`) and steps of columns to what they
add to the tokens (`push`). Each column has a scale of its own, that of the largest of
its tokens: where these are very small beside others, their signs are not lost.
`pull_signs` gives numbers of the same signs, under whatever scales are the cheapest.
"""

import abc
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from attnflow.data import Sequences
from attnflow.data.token_sequences import on_device
from attnflow.models.problem.base import finite
from attnflow.schema.installation import scipy
from attnflow.training.scaled_numbers import Scaled

# Up to this share of entries that are not zero, picking them out beats a product with
# the whole matrix (about a third of the time at a share of 0.11).
SPARSE_SHARE = 0.25
# Columns that so many tokens share are fewer than this on average: no room for them.
RAREST = 0.05
# Logarithms of float64 numbers span 1416; a part of that is left to the mantissas.
ROOM = 1300.0
Tokens = Float[Array, "heads tokens neurons"]
SideLogs = Float[Array, "heads tokens sides"]
Moves = Float[Array, "heads columns neurons"]


class AbstractColumnMap(eqx.Module):
    """What columns of coordinates have to do with tokens.

    `stacked` says that neurons of several weights are best moved in one array: one
    product of larger matrices is quicker than two, and sums need not be copied.
    """

    entries: eqx.AbstractVar[Float[Array, "tokens columns"]]
    stacked: ClassVar[bool]

    @abc.abstractmethod
    def pull(self, tokens: Tokens, log: Float[Array, "heads tokens"]) -> Scaled:
        """Gradients by columns, `(heads, columns, neurons)`, a scale for each column.

        Columns without tokens have the scale 0, whose logarithm is −inf.
        """

    @abc.abstractmethod
    def pull_signs(self, tokens: Tokens, log: SideLogs) -> Moves:
        """Numbers with the signs of the gradients by columns.

        Neurons are in as many equal parts as there are `sides`, each with log scales of
        its own.
        """

    def push(self, moves: Moves) -> Tokens:
        """What moves of the columns add to the tokens, by one product of matrices.

        Picking out the columns of each token is no faster: XLA fuses it with what gives
        the moves, which it then computes again for every token of a column.
        """
        return _apart(self.entries @ _together(moves), len(moves))


class DenseColumns(AbstractColumnMap):
    """All entries as one matrix."""

    stacked: ClassVar[bool] = True
    entries: Float[Array, "tokens columns"]

    def pull(self, tokens: Tokens, log: Float[Array, "heads tokens"]) -> Scaled:
        """One product of matrices; the scales do not depend on the neuron."""
        met = self.entries != 0
        each = log[:, :, None]
        top = jnp.where(met, each, -jnp.inf).max(axis=1)
        share = self.entries * jnp.where(
            met, jnp.exp(each - finite(top)[:, None, :]), 0.0
        )
        return Scaled(jnp.einsum("htc,htn->hcn", share, tokens), top[..., None])

    def pull_signs(self, tokens: Tokens, log: SideLogs) -> Moves:
        """One product for all sides under one scale, as long as that has room."""
        known = jnp.isfinite(log)
        high = jnp.where(known, log, -jnp.inf).max(axis=1, keepdims=True)
        low = jnp.where(known, log, jnp.inf).min(axis=1, keepdims=True)
        share = jnp.where(known, jnp.exp(log - finite(0.5 * (high + low))), 0.0)
        neurons = tokens.shape[-1] // log.shape[-1]
        sums = self.entries.T @ _together(tokens * jnp.repeat(share, neurons, axis=-1))
        signs = _apart(sums, len(tokens))

        def under_many(_: tuple[Array, Moves]) -> tuple[Array, Moves]:
            parts = [
                self.pull(tokens[..., k * neurons : (k + 1) * neurons], log[..., k])
                for k in range(log.shape[-1])
            ]
            whole = jnp.concatenate([part.mantissa for part in parts], axis=-1)
            return jnp.asarray(False), whole

        # A loop that is hardly ever entered, since a branch would copy all moves.
        wide = (high - low).max() >= ROOM
        return jax.lax.while_loop(lambda c: c[0], under_many, (wide, signs))[1]


def _together(heads: Float[Array, "heads rows neurons"]) -> Array:
    """All heads' neurons side by side: a product of matrices beats one for each."""
    return heads.swapaxes(0, 1).reshape(heads.shape[1], -1)


def _apart(rows: Array, heads: int) -> Float[Array, "heads rows neurons"]:
    return rows.reshape(len(rows), heads, -1).swapaxes(0, 1)


class SparseColumns(AbstractColumnMap):
    """Columns in the order of how many tokens they have, most first.

    `token[k]`, `entry[k]` are the k-th token of each column that has so many.
    """

    stacked: ClassVar[bool] = False
    entries: Float[Array, "tokens columns"]
    token: tuple[Int[Array, " _"], ...]
    entry: tuple[Float[Array, " _"], ...]

    def pull(self, tokens: Tokens, log: Float[Array, "heads tokens"]) -> Scaled:
        """Sums over the few tokens of each column, shorter lists onto longer ones."""
        each = [
            self._head(rows, scales) for rows, scales in zip(tokens, log, strict=True)
        ]
        sums, tops = zip(*each, strict=True)
        return Scaled(jnp.stack(sums), jnp.stack(tops)[..., None])

    def pull_signs(self, tokens: Tokens, log: SideLogs) -> Moves:
        """The same sums: few exponentials are cheaper than a branch around them."""
        neurons = tokens.shape[-1] // log.shape[-1]
        sides = [
            self.pull(
                tokens[..., k * neurons : (k + 1) * neurons], log[..., k]
            ).mantissa
            for k in range(log.shape[-1])
        ]
        return jnp.concatenate(sides, axis=-1)

    def _head(
        self, rows: Float[Array, "tokens neurons"], log: Float[Array, " tokens"]
    ) -> tuple[Array, Array]:
        logs = [
            jnp.where(entry != 0, log[token], -jnp.inf)
            for token, entry in zip(self.token, self.entry, strict=True)
        ]
        top = _fold(jnp.maximum, logs, -jnp.inf)
        parts = []
        for token, entry, each in zip(self.token, self.entry, logs, strict=True):
            share = entry * jnp.exp(each - finite(top[: len(entry)]))
            parts.append(share[:, None] * rows[token])
        return _fold(jnp.add, parts, 0.0), top


def _fold(
    combine: Callable[[Array, Array], Array], parts: list[Array], empty: float
) -> Array:
    """Combine arrays of falling lengths."""
    whole = parts[-1]
    for part in parts[-2::-1]:
        widths = [(0, len(part) - len(whole))] + [(0, 0)] * (whole.ndim - 1)
        whole = combine(part, jnp.pad(whole, widths, constant_values=empty))
    return whole


class ColumnPlan(NamedTuple):
    """Sizes of a map; seeds that run side by side need the same.

    `degrees[k]` is the number of columns with more than k tokens.
    """

    degrees: tuple[int, ...]
    sparse: bool

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return self.degrees[0]


def plan_of(entries: np.ndarray) -> ColumnPlan:
    """The sizes for one matrix of entries."""
    met = entries != 0
    degree = met.sum(axis=0)
    counts = [int((degree > k).sum()) for k in range(max(int(degree.max()), 1))]
    counts[0] = entries.shape[1]
    share = met.sum() / met.size
    return ColumnPlan(tuple(counts), bool(share <= SPARSE_SHARE))


def widest(plans: list[ColumnPlan]) -> ColumnPlan:
    """Sizes in which all of these have room."""
    depth = max(len(plan.degrees) for plan in plans)
    degrees = [
        max(plan.degrees[k] if k < len(plan.degrees) else 0 for plan in plans)
        for k in range(depth)
    ]
    return ColumnPlan(tuple(degrees), all(plan.sparse for plan in plans))


def expected_plan(rate: float, coordinates: int, tokens: int) -> tuple[int, ...]:
    """Sizes that have room for tokens of random supports, whichever are drawn.

    With `rate` tokens to a coordinate on average, `coordinates · P(Poisson(rate) > k)`
    of them have more than k; the room is 2.5 standard deviations more. So another seed
    mostly needs no other program.
    """
    count = coordinates * scipy.special.pdtrc(np.arange(tokens), rate)
    room = np.ceil(count + 2.5 * np.sqrt(count))[count > RAREST]
    return tuple(int(size) for size in np.minimum(room, coordinates))


def by_degree(entries: np.ndarray) -> np.ndarray:
    """The order of columns with most tokens first, as a map takes them."""
    return np.argsort(-(entries != 0).sum(axis=0), kind="stable")


def column_map(entries: np.ndarray, plan: ColumnPlan) -> AbstractColumnMap:
    """The map for entries in the order of `by_degree`, filled up to a plan."""
    entries = np.pad(entries, ((0, 0), (0, plan.columns - entries.shape[1])))
    if not plan.sparse:
        return DenseColumns(on_device(entries))
    met = entries != 0
    # The tokens of each column come first in its order.
    order, degree = np.argsort(~met, axis=0, kind="stable"), met.sum(axis=0)
    token, entry = [], []
    for k, count in enumerate(plan.degrees):
        there = degree[:count] > k
        index = np.where(there, order[min(k, len(order) - 1), :count], 0)
        token.append(on_device(index))
        entry.append(on_device(np.where(there, entries[index, np.arange(count)], 0)))
    return SparseColumns(on_device(entries), tuple(token), tuple(entry))


class Positions(eqx.Module):
    """Which representative stands at each position, and with which sign.

    The same as matrices over all places, positions of all samples in a row: the sign
    with which a token stands at a place, zero where another stands there.
    """

    key: Int[Array, "samples keys"]
    key_sign: Float[Array, "samples keys"]
    query: Int[Array, "samples queries"]
    query_sign: Float[Array, "samples queries"]
    key_places: Float[Array, "tokens key_places"]
    query_places: Float[Array, "tokens query_places"]


def pulled_keys(force: Scaled, at: Positions) -> tuple[Array, Array]:
    """Forces on pair scores as a table, each row of a key under a scale of its own.

    **Returns:** `(heads, tokens, tokens)`, row = key, column = query, and log scales
    `(heads, tokens)`: the gradient by a key is its row times the queries.
    """
    log = _by_token(force.log.max(axis=2), at.key_places)
    share = force.mantissa * jnp.exp(force.log - _at(finite(log), at.key)[:, :, None])
    return _table(share, at), log


def pulled_queries(force: Scaled, at: Positions) -> tuple[Array, Array]:
    """The same for queries: row = query, column = key."""
    log = _by_token(force.log.max(axis=3), at.query_places)
    scale = _at(finite(log), at.query)[..., None]
    share = force.mantissa * jnp.exp(force.log - scale)
    return _table(share, at).swapaxes(1, 2), log


def pulled_values(force: Scaled, at: Positions) -> tuple[Array, Array]:
    """Forces on values, `(heads, tokens, 1)`, and log scales `(heads, tokens)`."""
    log = _by_token(force.log, at.key_places)
    share = force.mantissa * jnp.exp(force.log - _at(finite(log), at.key))
    flat = share.swapaxes(0, 1).reshape(share.shape[1], -1)
    return (flat @ at.key_places.T)[..., None], log


def positions_of(
    data: Sequences, index: np.ndarray, sign: np.ndarray, *, count: int
) -> Positions:
    """The positions of samples, token t being `sign[t]` times number `index[t]`."""
    key, query = np.asarray(data.key), np.asarray(data.query)

    def places(at: np.ndarray) -> Array:
        mine = np.arange(count)[:, None] == index[at].reshape(-1)
        return on_device(mine * sign[at].reshape(-1))

    return Positions(
        key=on_device(index[key]),
        key_sign=on_device(sign[key]),
        query=on_device(index[query]),
        query_sign=on_device(sign[query]),
        key_places=places(key),
        query_places=places(query),
    )


def _table(share: Float[Array, "samples heads queries keys"], at: Positions) -> Array:
    """Sums over the pairs of each key and query, `(heads, keys, queries)`."""
    signed = share * (at.query_sign[:, :, None] * at.key_sign[:, None, :])[:, None]
    count = at.key_places.shape[0]
    empty = jnp.zeros((share.shape[1], count, count))
    pair = at.key[:, None, :], at.query[:, :, None]
    return empty.at[:, *pair].add(signed.swapaxes(0, 1))


def _by_token(
    log: Float[Array, "samples heads positions"], places: Float[Array, "tokens places"]
) -> Float[Array, "heads tokens"]:
    """The largest log scale at the places of each token."""
    flat = log.swapaxes(0, 1).reshape(log.shape[1], 1, -1)
    return jnp.where(places != 0, flat, -jnp.inf).max(axis=-1)


def _at(
    log: Float[Array, "heads tokens"], index: Int[Array, "samples positions"]
) -> Float[Array, "samples heads positions"]:
    return log[:, index].swapaxes(0, 1)
