"""The local part of every kind of part that a form may have (`local_parts.py`)."""

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
from attnflow.observables.curvature.local_parts import (
    AbstractLocalPart,
    Factor,
    Line,
    Product,
)

# What a Gram matrix may hold beyond its `rows` largest eigenvalues, relative to the
# largest: far above the rounding of a long run, far below one more true row.
EXCESS = 1e-6


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
