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

from attnflow._types import Scaled
from attnflow.data import Sequences


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

    def keys(self, tokens: Float[Array, "heads tokens neurons"]) -> Array:
        """What neurons see at each key: `(heads, samples, keys, neurons)`."""
        return tokens[:, self.key] * self.key_sign[..., None]

    def queries(self, tokens: Float[Array, "heads tokens neurons"]) -> Array:
        """What neurons see at each query: `(heads, samples, queries, neurons)`."""
        return tokens[:, self.query] * self.query_sign[..., None]


def pulled(
    force: Scaled, seen: Float[Array, "heads samples others neurons"]
) -> tuple[Array, Array]:
    """`Σ_o force[s, h, o, p] · seen[h, s, o]`, at each position p of each sample.

    **Returns:** the sums, `(heads, samples, positions, neurons)`, and their log scales,
    `(heads, samples, positions)`.
    """
    top = force.log.max(axis=2)
    share = force.mantissa * jnp.exp(force.log - finite(top)[:, :, None, :])
    return jnp.einsum("shop,hson->hspn", share, seen), top.swapaxes(0, 1)


def onto_tokens(
    at: Float[Array, "heads samples positions neurons"],
    log: Float[Array, "heads samples positions"],
    place: Float[Array, "tokens places"],
) -> tuple[Array, Array]:
    """Sums over the places of each token: `(heads, tokens, neurons)`, and log scales.

    `place` is a matrix of `Positions`.
    """
    heads, neurons = at.shape[0], at.shape[-1]
    log = log.reshape(heads, 1, -1)
    top = jnp.where(place != 0, log, -jnp.inf).max(axis=-1)
    share = jnp.where(place != 0, jnp.exp(log - finite(top)[..., None]), 0.0) * place
    return jnp.einsum("htp,hpn->htn", share, at.reshape(heads, -1, neurons)), top


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
