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
from functools import singledispatch

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from attnflow.models.forms import AbstractPart
from attnflow.models.forms.coordinates import (
    AbstractCoordinateScores,
    AbstractCoordinateValues,
)
from attnflow.models.forms.neurons import NeuronTransport
from attnflow.models.forms.prompt import PromptScores, SeenChain
from attnflow.models.forms.scores import (
    Gram,
    InfiniteWidth,
    MergedTable,
    MergedWeights,
    Transport,
)
from attnflow.models.forms.tokens import TokenChain, TokenScores, TokenValues
from attnflow.models.forms.values import ChainGram, ChainTransport, ValueTable
from attnflow.models.forms.weights import (
    ChainWeights,
    ClassMeanWeights,
    FixedOutputWeights,
    NeuronWeights,
    ScoreWeights,
    ValueWeights,
)
from attnflow.models.forms.widths import Width

Factor = Float[Array, "blocks rows columns"]
# What a Gram matrix may hold beyond its `rows` largest eigenvalues, relative to the
# largest: far above the rounding of a long run, far below one more true row.
EXCESS = 1e-6


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


@singledispatch
def local_part(
    part: AbstractPart, state: PyTree, width: Width | None
) -> AbstractLocalPart:
    """The local part of a form's part in a state."""
    raise ValueError(
        f"The curvature of {type(part).__name__} is not known: register it with "
        "`local_part`, or use form='gram', 'transport' or 'weights'."
    )


@local_part.register
def _(part: ScoreWeights, state: PyTree, width: Width | None) -> Product:
    both = [state[name] @ part.basis.T for name in ("W_K", "W_Q")]
    factor = jnp.concatenate(both, axis=-1)
    return _scores(_shortened(factor), factor.shape[1])


@local_part.register
def _(part: Transport, state: Array, width: Width | None) -> Product:
    return _scores(state, width)


@local_part.register
def _(part: Gram, state: Array, width: Width | None) -> Product:
    return _scores(_factor_of_gram(state, _rows(state, width)), width)


@local_part.register
def _(part: InfiniteWidth, state: Array, width: Width | None) -> Product:
    return _scores(_factor_at_infinite_width(state, part.omega), "infinite")


@local_part.register
def _(part: MergedTable | MergedWeights, state: PyTree, width: Width | None) -> Line:
    table = part.table(state)
    return Line(table, jnp.ones(len(table)))


@local_part.register
def _(part: ValueTable, state: Array, width: Width | None) -> Line:
    return Line(state, part.gain)


@local_part.register
def _(part: ValueWeights, state: PyTree, width: Width | None) -> Line:
    table = part.table(state)
    return Line(table, jnp.ones(len(table)))


@local_part.register
def _(part: ClassMeanWeights, state: PyTree, width: Width | None) -> Line:
    heads, _, count, _ = state["W_V"].shape
    return Line(part.table(state), jnp.full((heads,), 2 / count))


@local_part.register
def _(part: FixedOutputWeights, state: PyTree, width: Width | None) -> Line:
    return Line(part.table(state), (part.output**2).sum(axis=1))


@local_part.register
def _(part: ChainWeights, state: PyTree, width: Width | None) -> Product:
    gain = jnp.ones(len(state["w_O"]))
    return _plain_chain(state["W_V"] @ part.basis.T, state["w_O"], gain)


@local_part.register
def _(part: NeuronWeights, state: PyTree, width: Width | None) -> Product:
    seen = jnp.einsum("hn,hnv->hv", part.output, state["W"])
    gain = (part.output**2).sum(axis=1)
    return _plain_chain(state["W_V"] @ part.basis.T, seen, gain)


@local_part.register
def _(part: ChainTransport, state: Array, width: Width | None) -> Product:
    return _chain(state, part.gain, width)


@local_part.register
def _(part: NeuronTransport, state: PyTree, width: Width | None) -> Product:
    return _chain(state["factor"], part.gain, width)


@local_part.register
def _(part: ChainGram, state: Array, width: Width | None) -> Product:
    return _chain(_factor_of_gram(state, _rows(state, width)), part.gain, width)


@local_part.register
def _(part: PromptScores, state: PyTree, width: Width | None) -> AbstractLocalPart:
    return local_part(part.column, state, width)


@local_part.register
def _(part: SeenChain, state: PyTree, width: Width | None) -> Product:
    return _chain(state["factor"], part.chain.gain, width)


@local_part.register
def _(part: TokenScores, state: PyTree, width: Width | None) -> Product:
    return _scores(_by_rows(*part.sides(state)), width)


@local_part.register
def _(part: TokenValues, state: PyTree, width: Width | None) -> Line:
    return Line(part.table(state), part.gain)


@local_part.register
def _(part: TokenChain, state: PyTree, width: Width | None) -> Product:
    factor = _by_rows(state["rows"], state["output"][:, None, :])
    return _chain(factor, part.gain, width)


@local_part.register
def _(part: AbstractCoordinateScores, state: PyTree, width: Width | None) -> Product:
    factor = _by_rows(*part.rows(state))
    return _scores(_shortened(factor), factor.shape[1])


@local_part.register
def _(
    part: AbstractCoordinateValues, state: PyTree, width: Width | None
) -> AbstractLocalPart:
    if "w_O" not in state:
        gain = part.gain * (part.readout * part.slope).sum(axis=1)
        return Line(part.table(state), gain)
    seen = part.seen(state, "W_V").swapaxes(-1, -2)
    return _plain_chain(seen, state["w_O"], jnp.ones(len(seen)))


def _by_rows(
    first: Float[Array, "blocks tokens rows"], second: Float[Array, "blocks _ rows"]
) -> Factor:
    """Columns of two factors side by side, from what each row sees of tokens."""
    return jnp.concatenate([first, second], axis=1).swapaxes(-1, -2)


def _rows(gram: Array, width: Width | None) -> int:
    """No more than the width, so that a narrow model gets no direction too many."""
    columns = gram.shape[-1]
    return min(width, columns) if isinstance(width, int) else columns


def _scores(factor: Array, width: Width | None) -> Product:
    blocks, rows, columns = factor.shape
    free = jnp.asarray(_free_rows("keys and queries", width, rows))
    return Product(factor, jnp.ones((blocks, columns)), free, columns // 2, False)


def _chain(factor: Array, gain: Array, width: Width | None) -> Product:
    blocks, rows, columns = factor.shape
    free = jnp.asarray(_free_rows("values", width, rows))
    scale = jnp.ones((blocks, columns)).at[:, -1].set(jnp.sqrt(gain))
    return Product(factor, scale, free, columns - 1, True)


def _plain_chain(first: Array, seen: Array, gain: Array) -> Product:
    factor = jnp.concatenate([first, seen[..., None]], axis=-1)
    return _chain(_shortened(factor), gain, factor.shape[1])


def _shortened(factor: Factor) -> Float[Array, "blocks short columns"]:
    """A factor with the same Gram matrix and at most as many rows as columns."""
    if factor.shape[1] <= factor.shape[2]:
        return factor
    return jnp.linalg.qr(factor, mode="r")


def _factor_of_gram(gram: Float[Array, "blocks columns columns"], rows: int) -> Factor:
    """A factor F of `rows` rows with `FᵀF = P`, which may be singular.

    Columns are brought to unit length first, so that a long one (β of many neurons)
    does not drown the others in its rounding; eigenvalues within rounding of zero give
    rows of zeros, since their roots would be noise of size 1e-8.
    """
    lengths = jnp.sqrt(jnp.diagonal(gram, axis1=-2, axis2=-1))
    unit = jnp.where(lengths > 0, lengths, 1.0)
    sizes, vectors = jnp.linalg.eigh(gram / (unit[:, :, None] * unit[:, None, :]))
    columns = sizes.shape[-1]
    beyond = jnp.abs(sizes[:, : columns - rows]).max(initial=0.0)
    sizes = eqx.error_if(
        sizes,
        beyond > EXCESS * jnp.abs(sizes).max(),
        "The Gram matrix has a higher rank than the width allows. Give the width with "
        "which the state was drawn.",
    )
    cut = columns * jnp.finfo(sizes.dtype).eps * sizes[:, -1:]
    roots = jnp.sqrt(jnp.where(sizes > cut, sizes, 0.0))[:, columns - rows :]
    kept = vectors[:, :, columns - rows :].swapaxes(-1, -2)
    return roots[..., None] * kept * unit[:, None, :]


def _factor_at_infinite_width(
    scores: Float[Array, "blocks basis basis"], omega: Float[Array, ""]
) -> Factor:
    """A factor of P where `(J P)² = ω⁴ I`, from the singular values of the scores.

    With `S = U s Vᵀ` and `h = (ω⁴ + s²)^½`, P has the eigenvectors `(u, ±v) / √2` with
    eigenvalues `h ± s`; the smaller one is `ω⁴ / (h + s)`, which does not cancel.
    """
    left, sizes, right = jnp.linalg.svd(scores)
    large = jnp.sqrt((jnp.hypot(omega**2, sizes) + sizes) / 2)[..., None]
    small = omega**2 / (2 * large)
    keys = left.swapaxes(-1, -2)
    top = jnp.concatenate([large * keys, large * right], axis=-1)
    bottom = jnp.concatenate([small * keys, -small * right], axis=-1)
    return jnp.concatenate([top, bottom], axis=-2)


def _free_rows(what: str, width: Width | None, rows: int) -> float:
    """How many directions of the hidden space the weights do not reach.

    **Arguments:**

    - `rows`: rows of a factor of the weights' Gram matrix.
    """
    if width is None:
        raise ValueError(
            f"The width of the {what} is not known, and a reduced state does not hold "
            "it. Give widths=widths_of(initial), or widths=Widths(scores, values)."
        )
    if width == "infinite":
        return float("inf")
    if width < rows:
        raise ValueError(
            f"The width of the {what} is given as {width}, but their state has {rows} "
            "rows: no weights of that width have this state. Give the width with which "
            "it was drawn."
        )
    return float(width - rows)
