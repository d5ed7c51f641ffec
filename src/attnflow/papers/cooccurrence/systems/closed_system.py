"""Appendix C's closed system of six tables of inner products.

| table | content | entry |
|---|---|---|
| `N` | neurons on tokens, `W W_V` | w_j · W_V μ |
| `S` | scores, `W_Kᵀ W_Q` | key ν, query μ |
| `O` | neurons with each other, `W Wᵀ` | w_j · w_k |
| `A_V`, `A_Q`, `A_K` | tokens' values, queries, keys with each other | `W_*ᵀ W_*` |

Tokens are orthonormal, so that they index the rows and columns of the tables.
"""

import functools
import operator
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.papers.cooccurrence.systems.model import Samples, Weights

OBJECTS = ("N", "S", "O", "A_V", "A_Q", "A_K")
State = dict[str, Array]
Terms = dict[str, tuple[Array, ...]]


class Pulls(NamedTuple):
    """Factors that all right-hand sides share, `(samples, queries, keys)`.

    - `values`: `g_i y_i p_lh / n`.
    - `scores`: the same times `(G(x_h) − Σ_k G(x_k) p_lk) / sqrt(m)`.
    """

    values: Float[Array, "samples queries keys"]
    scores: Float[Array, "samples queries keys"]


class ClosedSystem(eqx.Module):
    """Flow of the six tables under equations (6), (7) and the four below them.

    **Arguments:**

    - `samples`: token vectors by position, and labels.
    - `output`: the frozen a. `width`: m, which enters only as `1 / sqrt(m)`.
    """

    samples: Samples
    output: Float[Array, " neurons"]
    width: Float[Array, ""]

    def attention(self, state: State) -> Float[Array, "samples queries keys"]:
        """Attention: the softmax over keys."""
        X = self.samples.tokens
        scores = jnp.einsum("ihv,vu,ilu->ilh", X, state["S"], X)
        return jax.nn.softmax(scores / jnp.sqrt(self.width), axis=-1)

    def readout(self, state: State) -> Float[Array, " embed"]:
        """Readout G of every token."""
        return self.output @ state["N"]

    def outputs(self, state: State) -> Float[Array, " samples"]:
        """Output F of every sample."""
        values = self.samples.tokens @ self.readout(state)
        return jnp.einsum("ih,ilh->i", values, self.attention(state))

    def loss(self, state: State) -> Float[Array, ""]:
        """The mean logistic loss."""
        return jax.nn.softplus(-self.samples.label * self.outputs(state)).mean()

    def pulls(self, state: State) -> Pulls:
        """Factors that all right-hand sides share."""
        X, y = self.samples
        p, values = self.attention(state), X @ self.readout(state)
        rest = values[:, None, :] - jnp.einsum("ih,ilh->il", values, p)[..., None]
        slope = y * jax.nn.sigmoid(-y * self.outputs(state)) / len(y)
        pull = slope[:, None, None] * p
        return Pulls(pull, pull * rest / jnp.sqrt(self.width))

    def terms(self, state: State) -> Terms:
        """The two terms of each right-hand side, in the paper's order.

        With X and p throughout, which is correct for repeated tokens too. Indices: i
        sample, l query, h key, j and k neurons, u, v, w tokens.
        """
        N, S, neurons, A_V, A_Q, A_K = (state[name] for name in OBJECTS)
        X, a, (c, r) = self.samples.tokens, self.output, self.pulls(state)
        return {
            "N": (
                jnp.einsum("ilh,k,jk,ihu->ju", c, a, neurons, X),
                jnp.einsum("ilh,j,ihv,vu->ju", c, a, X, A_V),
            ),
            "S": (
                jnp.einsum("ilh,vw,ihw,ilu->vu", r, A_K, X, X),
                jnp.einsum("ilh,uw,ilw,ihv->vu", r, A_Q, X, X),
            ),
            "O": (
                jnp.einsum("ilh,k,jv,ihv->jk", c, a, N, X),
                jnp.einsum("ilh,j,kv,ihv->jk", c, a, N, X),
            ),
            "A_V": (
                jnp.einsum("ilh,j,jv,ihu->vu", c, a, N, X),
                jnp.einsum("ilh,j,ju,ihv->vu", c, a, N, X),
            ),
            "A_Q": (
                jnp.einsum("ilh,wv,ihw,ilu->vu", r, S, X, X),
                jnp.einsum("ilh,wu,ihw,ilv->vu", r, S, X, X),
            ),
            "A_K": (
                jnp.einsum("ilh,vw,ilw,ihu->vu", r, S, X, X),
                jnp.einsum("ilh,uw,ilw,ihv->vu", r, S, X, X),
            ),
        }

    def velocity(self, t: Array, state: State) -> State:
        """Time derivative of each table."""
        return {name: sum_of(terms) for name, terms in self.terms(state).items()}


def sum_of(terms: tuple[Array, ...]) -> Array:
    """Sum of terms."""
    return functools.reduce(operator.add, terms)


def tables_of(weights: Weights) -> State:
    """The six tables of weights."""
    W, W_V, W_K, W_Q = (weights[name] for name in ("W", "W_V", "W_K", "W_Q"))
    return {
        "N": W @ W_V,
        "S": W_K.T @ W_Q,
        "O": W @ W.T,
        "A_V": W_V.T @ W_V,
        "A_Q": W_Q.T @ W_Q,
        "A_K": W_K.T @ W_K,
    }


def system_of(weights: Weights, samples: Samples) -> ClosedSystem:
    """The closed system on samples, with a and the width of the weights."""
    width = jnp.asarray(float(len(weights["W_K"])))
    return ClosedSystem(samples, weights["a"], width)
