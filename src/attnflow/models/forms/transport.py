"""Transport: training at any width as a path of small matrices."""

import jax.numpy as jnp
from jaxtyping import Array

from attnflow.models.forms.base import (
    AbstractLinearPart,
    AbstractScores,
    SelfScores,
    rotation_refusal,
)
from attnflow.models.forms.whole import AbstractMatrices, Matrices
from attnflow.training.rules import Rule


class Transport(AbstractLinearPart, AbstractScores, AbstractMatrices):
    """`[W_K W_Q](t) = [W_K W_Q](0) · M(t)` on the tokens' span, carried as `N = F M`.

    With the force D on the scores and `Ω = [[0, D], [Dᵀ, 0]]`, minus the gradient of
    the weights is `[W_K W_Q] Ω`, so that M moves by `M Ω` at every width. The width
    enters through a factor F of the initial Gram matrix `FᵀF` alone: given weights, a
    Wishart draw, or ω times the identity. Tables need `N = F M` only, which moves by
    `N Ω` and starts as F. Exact for every rule that is linear in gradients and weights.
    The state is N, `(heads, rows, 2r)` with at most 2r rows.
    """

    def table(self, state: Array) -> Array:
        """`S[key, query]` per head."""
        keys, queries = jnp.split(state, 2, axis=-1)
        return keys.swapaxes(-1, -2) @ queries

    def self_scores(self, state: Array) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""
        keys, queries = jnp.split(state, 2, axis=-1)
        return SelfScores(
            keys.swapaxes(-1, -2) @ keys, queries.swapaxes(-1, -2) @ queries
        )

    def velocity(self, state: Array, force: Array) -> Array:
        """`N Ω`."""
        keys, queries = jnp.split(state, 2, axis=-1)
        return jnp.concatenate(
            [queries @ force.swapaxes(-1, -2), keys @ force], axis=-1
        )

    def refuses(self, rule: Rule) -> str | None:
        """Rules that act on single coordinates do not commute with rotations."""
        return rotation_refusal(rule)

    def matrices(self, update: Array) -> Matrices:
        """The columns of keys and those of queries."""
        keys, queries = jnp.split(update, 2, axis=-1)
        return {"W_K": keys, "W_Q": queries}

    def from_matrices(self, matrices: Matrices) -> Array:
        """Both side by side."""
        return jnp.concatenate([matrices["W_K"], matrices["W_Q"]], axis=-1)
