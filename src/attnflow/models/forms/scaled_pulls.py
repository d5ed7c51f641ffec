"""From forces at the positions of samples to gradients by columns of coordinates.

Every sum below is over numbers with scales of their own; it takes the largest of these
as its scale, and what lies more than e^745 below it is lost, where it could decide a
sign only if the rest cancelled to that many digits. The scales do not depend on the
neuron, so that a gradient by all neurons is one product of matrices.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from attnflow.data import Sequences
from attnflow.training.scaled_numbers import Scaled


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


def _table(share: Float[Array, "samples heads queries keys"], at: Positions) -> Array:
    """Sums over the pairs of each key and query, `(heads, keys, queries)`."""
    signed = share * (at.query_sign[:, :, None] * at.key_sign[:, None, :])[:, None]
    count = at.key_places.shape[0]
    empty = jnp.zeros((share.shape[1], count, count))
    place = at.key[:, None, :], at.query[:, :, None]
    return empty.at[:, *place].add(signed.swapaxes(0, 1))


def positions_of(
    data: Sequences, index: np.ndarray, sign: np.ndarray, *, count: int
) -> Positions:
    """The positions of samples, token t being `sign[t]` times number `index[t]`."""
    key, query = np.asarray(data.key), np.asarray(data.query)

    def places(at: np.ndarray) -> Array:
        mine = np.arange(count)[:, None] == index[at].reshape(-1)
        return jnp.asarray(mine * sign[at].reshape(-1))

    return Positions(
        key=jnp.asarray(index[key]),
        key_sign=jnp.asarray(sign[key]),
        query=jnp.asarray(index[query]),
        query_sign=jnp.asarray(sign[query]),
        key_places=places(key),
        query_places=places(query),
    )


def finite(log: Array) -> Array:
    """A log scale to subtract: zero where there is nothing to scale."""
    return jnp.where(jnp.isfinite(log), log, 0.0)
