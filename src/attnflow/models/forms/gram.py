"""Gram forms: keys and queries by their inner products alone."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.models.forms.base import (
    AbstractScores,
    SelfScores,
    memory_refusal,
    rotation_refusal,
)
from attnflow.models.forms.whole import AbstractLengths
from attnflow.training.rules import Flow, Rule


class Gram(AbstractScores, AbstractLengths):
    """`P = [[A_K, S], [Sᵀ, A_Q]]`, the Gram matrix of keys and queries, per head.

    Under gradient flow `dP/dt = P Ω + Ω P`, and one step of gradient descent is
    `P ← (I + ηΩ) P (I + ηΩ)`, all orders of the step included, with
    `Ω = [[0, D], [Dᵀ, 0]]`. A rule is shown Ω and answers with ηΩ, so that it must have
    neither memory nor a term in the weights. The state is P, `(heads, 2r, 2r)`.
    """

    def table(self, state: Array) -> Array:
        """`S[key, query]` per head."""
        rank = state.shape[-1] // 2
        return state[..., :rank, rank:]

    def self_scores(self, state: Array) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""
        rank = state.shape[-1] // 2
        return SelfScores(state[..., :rank, :rank], state[..., rank:, rank:])

    def velocity(self, state: Array, force: Array) -> Array:
        """`P Ω + Ω P`."""
        half = state @ generator(force)
        return half + half.swapaxes(-1, -2)

    def direction(self, state: Array, force: Array) -> Array:
        """`Ω`, of which a step is a multiple."""
        return generator(force)

    def move(self, state: Array, update: Array) -> Array:
        """`(I + U) P (I + U)`."""
        half = state + state @ update
        return half + update @ half

    def refuses(self, rule: Rule) -> str | None:
        """Gram matrices forget the directions that memory and decay would need."""
        return rotation_refusal(rule) or memory_refusal(rule)

    def square(self, state: Array, direction: Array) -> Array:
        """`tr(Ω P Ω)`."""
        return (direction * (state @ direction)).sum()


class InfiniteWidth(AbstractScores):
    """Scores alone, at infinite width, under gradient flow.

    From `P(0) = ω² I` the flow keeps `(J P)² = ω⁴ I`, hence
    `A_K = (ω⁴ I + S Sᵀ)^½`, `A_Q = (ω⁴ I + Sᵀ S)^½` and `dS/dt = D A_Q + A_K D`. The
    roots are taken by the singular values of S: a root of `S Sᵀ` would lose ω⁴ against
    the rounding of the largest singular value squared. The state is S.
    """

    omega: Float[Array, ""]

    def table(self, state: Array) -> Array:
        """The state itself."""
        return state

    def self_scores(self, state: Array) -> SelfScores:
        """Both roots, from one singular value decomposition."""
        left, sizes, right = jnp.linalg.svd(state)
        root = jnp.hypot(self.omega**2, sizes)[..., None, :]
        return SelfScores(
            (left * root) @ left.swapaxes(-1, -2),
            (right.swapaxes(-1, -2) * root) @ right,
        )

    def velocity(self, state: Array, force: Array) -> Array:
        """`D A_Q + A_K D`."""
        own = self.self_scores(state)
        return force @ own.query + own.key @ force

    def direction(self, state: Array, force: Array) -> Array:
        """Never asked for: every descent rule is refused."""
        raise ValueError(self.refuses_descent)

    def move(self, state: Array, update: Array) -> Array:
        """Never asked for: every descent rule is refused."""
        raise ValueError(self.refuses_descent)

    @property
    def refuses_descent(self) -> str:
        """Why no descent rule can be followed."""
        return (
            "Discrete steps leave the manifold (J P)² = ω⁴ I on which the scores alone "
            "determine the self-scores. Use form='gram' or 'transport', which take "
            "infinite width as well."
        )

    def refuses(self, rule: Rule) -> str | None:
        """Only gradient flow stays on the manifold."""
        return None if isinstance(rule, Flow) else self.refuses_descent


def generator(force: Array) -> Array:
    """`Ω = [[0, D], [Dᵀ, 0]]`."""
    zero = jnp.zeros_like(force)
    top = jnp.concatenate([zero, force], axis=-1)
    bottom = jnp.concatenate([force.swapaxes(-1, -2), zero], axis=-1)
    return jnp.concatenate([top, bottom], axis=-2)
