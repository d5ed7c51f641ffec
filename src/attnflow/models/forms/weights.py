"""The plain path: the weights themselves, moved by autodiff, exact for every rule."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.models.forms.base import (
    AbstractLinearPart,
    AbstractMatrices,
    AbstractNeurons,
    AbstractPieces,
    AbstractRows,
    AbstractScores,
    Arrays,
    Matrices,
    Rows,
    SelfScores,
)
from attnflow.training.rules import Rule

# Weights that are one vector per head; the others are matrices in their last two axes.
VECTORS = ("w", "w_O")


class AbstractWeights(AbstractPieces, AbstractLinearPart, AbstractMatrices):
    """Weights as they are: their motion follows from the table by autodiff."""

    def velocity(self, state: Arrays, force: Array) -> Arrays:
        """Minus the gradient."""
        return jax.vjp(self.table, state)[1](force)[0]

    def refuses(self, rule: Rule) -> str | None:
        """Weights follow every rule."""
        return None

    def pieces(self, update: Arrays) -> Arrays:
        """The weights by name."""
        return update

    def whole(self, pieces: Arrays) -> Arrays:
        """The weights by name."""
        return pieces

    def matrices(self, update: Arrays) -> Matrices:
        """The weights themselves; a vector per head is a matrix of one row."""
        return {n: x[:, None] if n in VECTORS else x for n, x in update.items()}

    def from_matrices(self, matrices: Matrices) -> Arrays:
        """The same as weights."""
        return {n: x[:, 0] if n in VECTORS else x for n, x in matrices.items()}


class ScoreWeights(AbstractWeights, AbstractScores, AbstractRows):
    """Key and query weights: `{"W_K": (heads, width, embed), "W_Q": the same}`.

    The table is `(W_K E)ᵀ (W_Q E)` with the basis vectors as columns of E.
    """

    basis: Float[Array, "basis embed"]

    def table(self, state: Arrays) -> Array:
        """`S[key, query]` per head."""
        keys, queries = self._project(state)
        return jnp.einsum("hmk,hmq->hkq", keys, queries)

    def self_scores(self, state: Arrays) -> SelfScores:
        """Inner products of keys with keys and of queries with queries."""
        keys, queries = self._project(state)
        return SelfScores(
            jnp.einsum("hmk,hmq->hkq", keys, keys),
            jnp.einsum("hmk,hmq->hkq", queries, queries),
        )

    def rows(self, state: Arrays) -> Rows:
        """What every row of `W_K` and of `W_Q` sees of the basis."""
        return Rows(*(x.swapaxes(-1, -2) for x in self._project(state)))

    def _project(self, state: Arrays) -> tuple[Array, Array]:
        return state["W_K"] @ self.basis.T, state["W_Q"] @ self.basis.T


class ValueWeights(AbstractWeights):
    """One vector per head: `{"w": (heads, embed)}`, the value of x is `w · x`."""

    basis: Float[Array, "basis embed"]

    def table(self, state: Arrays) -> Array:
        """The value of each basis vector, per head."""
        return state["w"] @ self.basis.T


class ChainWeights(AbstractWeights):
    """`{"W_V": (heads, value_width, embed), "w_O": (heads, value_width)}`.

    Both are trained. The value of x is `w_Oᵀ W_V x`.
    """

    basis: Float[Array, "basis embed"]

    def table(self, state: Arrays) -> Array:
        """The value of each basis vector, per head."""
        return jnp.einsum("hv,hvd,rd->hr", state["w_O"], state["W_V"], self.basis)


class FixedOutputWeights(AbstractWeights):
    """`{"W_V": (heads, value_width, embed)}` under a fixed `w_O`."""

    basis: Float[Array, "basis embed"]
    output: Float[Array, "heads value_width"]

    def table(self, state: Arrays) -> Array:
        """The value of each basis vector, per head."""
        return jnp.einsum("hv,hvd,rd->hr", self.output, state["W_V"], self.basis)


class ClassMeanWeights(AbstractWeights):
    """`{"W_V": (heads, 2, neurons, embed)}`, a bank of neurons for either class.

    The value of x is `mean_r W_V[0, r] · x − mean_r W_V[1, r] · x`.
    """

    basis: Float[Array, "basis embed"]

    def table(self, state: Arrays) -> Array:
        """The value of each basis vector, per head."""
        means = state["W_V"].mean(axis=2)
        return (means[:, 0] - means[:, 1]) @ self.basis.T


class NeuronWeights(AbstractWeights, AbstractNeurons):
    """`{"W_V": (heads, value_width, embed), "W": (heads, neurons, value_width)}`.

    The value of x is `aᵀ W W_V x` under a fixed a, `(heads, neurons)`.
    """

    basis: Float[Array, "basis embed"]
    output: Float[Array, "heads neurons"]

    def table(self, state: Arrays) -> Array:
        """The value of each basis vector, per head."""
        seen = jnp.einsum("hn,hnv->hv", self.output, state["W"])
        return jnp.einsum("hv,hvd,rd->hr", seen, state["W_V"], self.basis)

    def neuron_table(self, state: Arrays) -> Array:
        """`W W_V` on the basis."""
        return state["W"] @ (state["W_V"] @ self.basis.T)

    def neuron_gram_change(self, state: Arrays, start: Arrays) -> Array:
        """`W Wᵀ − (W Wᵀ)(0) = W Δᵀ + Δ W(0)ᵀ`, which does not cancel for small Δ."""
        now, then = state["W"], start["W"]
        moved = now - then
        return now @ moved.swapaxes(-1, -2) + moved @ then.swapaxes(-1, -2)
