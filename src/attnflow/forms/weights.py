"""The plain path: the weights themselves, moved by autodiff, exact for every rule."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.forms.base import AbstractPart, AbstractScores, SelfScores
from attnflow.rules import Rule


class ScoreWeights(AbstractScores):
    """Key and query weights themselves: exact for every rule, the plain path.

    The state is `{"W_K": (heads, width, embed), "W_Q": the same}`, and the table is
    `(W_K E)ᵀ (W_Q E)` with the basis vectors as columns of E.
    """

    basis: Float[Array, "basis embed"]

    def table(self, state: Any) -> Array:
        """`S[key, query]` per head."""
        keys, queries = self._project(state)
        return jnp.einsum("hmk,hmq->hkq", keys, queries)

    def self_scores(self, state: Any) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""
        keys, queries = self._project(state)
        return SelfScores(
            jnp.einsum("hmk,hmq->hkq", keys, keys),
            jnp.einsum("hmk,hmq->hkq", queries, queries),
        )

    def _project(self, state: Any) -> tuple[Array, Array]:
        return state["W_K"] @ self.basis.T, state["W_Q"] @ self.basis.T

    def velocity(self, state: Any, force: Array) -> Any:
        """Minus the gradient, by autodiff of the table."""
        return _by_autodiff(self, state, force)

    def direction(self, state: Any, force: Array) -> Any:
        """Minus the gradient, by autodiff of the table."""
        return _by_autodiff(self, state, force)

    def move(self, state: Any, update: Any) -> Any:
        """The weights plus the update."""
        return jax.tree.map(jnp.add, state, update)

    def refuses(self, rule: Rule) -> str | None:
        """Weights follow every rule."""
        return None


class ValueWeights(AbstractPart):
    """One vector per head, `value of token x = w · x`.

    The state is `{"w": (heads, embed)}`.
    """

    basis: Float[Array, "basis embed"]

    def table(self, state: Any) -> Array:
        """The value of each basis vector, per head."""
        return state["w"] @ self.basis.T

    def velocity(self, state: Any, force: Array) -> Any:
        """Minus the gradient, by autodiff of the table."""
        return _by_autodiff(self, state, force)

    def direction(self, state: Any, force: Array) -> Any:
        """Minus the gradient, by autodiff of the table."""
        return _by_autodiff(self, state, force)

    def move(self, state: Any, update: Any) -> Any:
        """The weights plus the update."""
        return jax.tree.map(jnp.add, state, update)

    def refuses(self, rule: Rule) -> str | None:
        """Weights follow every rule."""
        return None


def _by_autodiff(part: AbstractPart, state: Any, force: Array) -> Any:
    _, back = jax.vjp(part.table, state)
    return back(force)[0]
