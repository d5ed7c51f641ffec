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

**Tokens as a basis.** Forms for rules that rotations disturb, and the one over tokens,
have the tokens themselves in the place of an orthonormal basis. With `G = L Lᵀ` their
Gram matrix, what weights make of tokens is L times the coordinates of the weights on
the span; `span_of_tokens` has L and its inverse there.
"""

import abc
from collections.abc import Collection
from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

Factor = Float[Array, "blocks rows columns"]


class Span(eqx.Module):
    """Tokens by orthonormal coordinates: `root` is L, `inverse` its inverse there."""

    root: Float[Array, "tokens rank"]
    inverse: Float[Array, "rank tokens"]


def span_of_tokens(gram: Float[Array, "tokens tokens"]) -> Span:
    """The span of tokens with this Gram matrix; dependent ones are no special case."""
    sizes, vectors = jnp.linalg.eigh(gram)
    kept = sizes > len(gram) * jnp.finfo(sizes.dtype).eps * sizes[-1]
    roots = jnp.sqrt(jnp.where(kept, sizes, 1.0))
    root = jnp.where(kept, vectors * roots, 0.0)
    return Span(root, jnp.where(kept, vectors / roots, 0.0).T)


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

    @abc.abstractmethod
    def within(self, span: Span) -> "AbstractLocalPart":
        """The same by coordinates on a span, of a part by its tokens."""

    @abc.abstractmethod
    def only(self, weights: Collection[str]) -> "AbstractLocalPart":
        """The same where these of its weights are trained alone."""


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
        first, second = self.scale[:, : self.split], self.scale[:, self.split :]
        # A force may have columns more, which training does not see.
        matrix = matrix[:, : self.split] * first[..., None] * second[:, None, :]
        return jnp.linalg.svd(matrix, compute_uv=False).reshape(-1), self.free

    def within(self, span: Span) -> "Product":
        """Both factors by coordinates on the span; a chain's output stays."""
        first, second = jnp.split(self.factor, [self.split], axis=-1)
        first = first @ span.inverse.T
        second = second if self.chain else second @ span.inverse.T
        factor = jnp.concatenate([first, second], axis=-1)
        wide = [first.shape[-1], second.shape[-1]]
        ends = [self.scale[:, :1], self.scale[:, -1:]]
        scale = [jnp.repeat(x, n, axis=1) for x, n in zip(ends, wide, strict=True)]
        return Product(
            factor, jnp.concatenate(scale, axis=1), self.free, wide[0], self.chain
        )

    def only(self, weights: Collection[str]) -> "Product":
        """Steps of all other weights count for nothing."""
        first, second = (("W_V",), ("w_O", "W")) if self.chain else (("W_K",), ("W_Q",))
        is_first = jnp.arange(self.scale.shape[1]) < self.split
        moves = [float(any(n in weights for n in names)) for names in (first, second)]
        return replace(self, scale=self.scale * jnp.where(is_first, *moves))


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

    def within(self, span: Span) -> "Line":
        """The table by coordinates on the span."""
        start = self.start @ span.inverse.T
        return Line(span.inverse @ start if start.ndim > 2 else start, self.gain)

    def only(self, weights: Collection[str]) -> "Line":
        """One set of weights, which is trained."""
        return self
