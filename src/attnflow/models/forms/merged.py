"""One merged key–query matrix: scores that are linear in their weights.

The score of key x and query y is `xᵀ W_KQ y`. Minus the gradient is `E D Eᵀ`, for the
force D on the scores and an orthonormal basis of the tokens' span as columns of E, so
that the scores on the basis move by D itself: they are closed, and what lies outside
the span is never seen.
"""

from typing import Any, NoReturn

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.models.forms.base import (
    AbstractLinearPart,
    AbstractScores,
    SelfScores,
    rotation_refusal,
)
from attnflow.models.forms.weights import AbstractWeights
from attnflow.models.forms.whole import AbstractMatrices, Matrices
from attnflow.training.rules import Rule


class MergedWeights(AbstractWeights, AbstractScores):
    """The matrix itself: `{"W_KQ": (heads, embed, embed)}`, rows for keys."""

    basis: Float[Array, "basis embed"]

    def table(self, state: Any) -> Array:
        """`S[key, query]` per head."""
        return jnp.einsum("kd,hde,qe->hkq", self.basis, state["W_KQ"], self.basis)

    def self_scores(self, state: Any) -> SelfScores:
        """There are none."""
        _refuse_self_scores()


class MergedTable(AbstractLinearPart, AbstractScores, AbstractMatrices):
    """The scores of the basis; the state is the table, `(heads, r, r)`."""

    def table(self, state: Array) -> Array:
        """The state itself."""
        return state

    def self_scores(self, state: Array) -> SelfScores:
        """There are none."""
        _refuse_self_scores()

    def velocity(self, state: Array, force: Array) -> Array:
        """The force."""
        return force

    def refuses(self, rule: Rule) -> str | None:
        """Rules that act on single coordinates depend on the basis."""
        return rotation_refusal(rule)

    def matrices(self, update: Array) -> Matrices:
        """The table itself."""
        return {"W_KQ": update}

    def from_matrices(self, matrices: Matrices) -> Array:
        """The table itself."""
        return matrices["W_KQ"]


def _refuse_self_scores() -> NoReturn:
    raise ValueError(
        "One merged key–query matrix has no keys and queries of its own, so that there "
        "are no self-scores. Record the scores alone, or use merged=False."
    )
