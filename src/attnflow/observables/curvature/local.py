"""Local parts: the smallest plain weights that stand for a part, and steps from them.

A part of the model is a set of weights W of which the loss sees a table. Curvature is
that of the loss in orthonormal coordinates of W, and most of these are trivial:

**Products.** Keys and queries, `W = [W_K W_Q]` with table `W_Kᵀ W_Q`, or a chain,
`W = [W_V β]` with table `W_Vᵀ β`. Write `W = U F` with orthonormal columns U, and a
step as `dW = U X + U⊥ Y`. Then

    table(W + dW) = table(F + X) + Y_1ᵀ Y_2,

so that X sees the plain problem of weights F, and Y is not coupled to X, nor to
the other part, at second order. Each row y of Y sees `−y_1ᵀ D y_2` alone, D being the
force on the table: the matrix `−[[0, D], [Dᵀ, 0]]`, with eigenvalues ±σ(D). So the
Hessian is that of the plain problem at F beside `width − rows` copies of this matrix;
every F with `FᵀF = WᵀW` serves, also one with rows of zeros (whose own curvature is
one of the copies), as long as it has no more rows than W.

**A gain.** With neurons `β = Wᵀ a` and a fixed, a step of W moves β by `dWᵀ a`: only
the component of dW along a counts, and a unit of it moves β by |a| = √g. So
`β = β₀ + √g x` with x orthonormal, and the copies become `−√g [[0, z], [zᵀ, 0]]`.
Likewise a value that is linear in one set of weights with gain g (a vector, a chain
with fixed `w_O`) is `v₀ + √g x`, and nothing else of these weights is seen; so are the
scores of one merged key–query matrix, with g = 1.

Components of weights outside the tokens' span are never seen.
"""

import abc

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class AbstractLocalPart(eqx.Module):
    """A part's table as a function of steps in orthonormal coordinates."""

    @abc.abstractmethod
    def origin(self) -> Array:
        """The step that goes nowhere."""

    @abc.abstractmethod
    def table(self, step: Array) -> Array:
        """The table after a step."""

    @abc.abstractmethod
    def repeated(self, force: Array) -> tuple[Array, Array]:
        """Eigenvalues on a row that the weights do not reach, and how many there are.

        The eigenvalues come in pairs ± and are given by the positive one.
        """


class Product(AbstractLocalPart):
    """`table = F_1ᵀ F_2`; a step moves the columns of F by `scale` times itself.

    `split` columns are F_1. A chain has one column in F_2, and its table is a row.
    """

    factor: Float[Array, "blocks rows columns"]
    scale: Float[Array, "blocks columns"]
    free: Float[Array, ""]
    split: int = eqx.field(static=True)
    chain: bool = eqx.field(static=True)

    def origin(self) -> Array:
        """Zeros, one for each entry of F."""
        return jnp.zeros_like(self.factor)

    def table(self, step: Array) -> Array:
        """`(F_1 + x_1)ᵀ (F_2 + √g x_2)`."""
        moved = self.factor + self.scale[:, None, :] * step
        first, second = moved[..., : self.split], moved[..., self.split :]
        table = first.swapaxes(-1, -2) @ second
        return table[..., 0] if self.chain else table

    def repeated(self, force: Array) -> tuple[Array, Array]:
        """The singular values of the force, times √g."""
        matrix = force[..., None] if self.chain else force
        matrix = matrix * self.scale[:, None, self.split :]
        return jnp.linalg.svd(matrix, compute_uv=False).reshape(-1), self.free


class Line(AbstractLocalPart):
    """`table = v₀ + √g x`: values or scores that are linear in one set of weights."""

    start: Float[Array, "blocks *table"]
    gain: Float[Array, " blocks"]

    def origin(self) -> Array:
        """Zeros, one for each entry of the table."""
        return jnp.zeros_like(self.start)

    def table(self, step: Array) -> Array:
        """`v₀ + √g x`."""
        scale = jnp.sqrt(self.gain).reshape(-1, *[1] * (step.ndim - 1))
        return self.start + scale * step

    def repeated(self, force: Array) -> tuple[Array, Array]:
        """None: what does not move the table has no curvature."""
        return jnp.zeros(0), jnp.zeros(())
