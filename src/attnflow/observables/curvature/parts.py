"""The local part of every form's part: which factor, which gain, which width."""

from functools import singledispatch
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from attnflow.models.forms import AbstractPart
from attnflow.models.forms.laws import shortened
from attnflow.models.forms.neurons import NeuronTransport
from attnflow.models.forms.scores import (
    Gram,
    InfiniteWidth,
    MergedTable,
    MergedWeights,
    Transport,
)
from attnflow.models.forms.values import ChainGram, ChainTransport, ValueTable
from attnflow.models.forms.weights import (
    ChainWeights,
    ClassMeanWeights,
    FixedOutputWeights,
    NeuronWeights,
    ScoreWeights,
    ValueWeights,
)
from attnflow.observables.curvature.factors import (
    factor_at_infinite_width,
    factor_of_gram,
)
from attnflow.observables.curvature.local import AbstractLocalPart, Line, Product
from attnflow.observables.curvature.widths import Width, free_rows


@singledispatch
def local_part(
    part: AbstractPart, state: Any, width: Width | None
) -> AbstractLocalPart:
    """The local part of a form's part in a state."""
    raise ValueError(
        f"The curvature of {type(part).__name__} is not known: register it with "
        "`local_part`, or use form='gram', 'transport' or 'weights'."
    )


@local_part.register
def _(part: ScoreWeights, state: Any, width: Width | None) -> Product:
    both = [state[name] @ part.basis.T for name in ("W_K", "W_Q")]
    factor = jnp.concatenate(both, axis=-1)
    return _scores(shortened(factor), factor.shape[1])


@local_part.register
def _(part: Transport, state: Array, width: Width | None) -> Product:
    return _scores(state, width)


@local_part.register
def _(part: Gram, state: Array, width: Width | None) -> Product:
    return _scores(factor_of_gram(state, _rows(state, width)), width)


@local_part.register
def _(part: InfiniteWidth, state: Array, width: Width | None) -> Product:
    return _scores(factor_at_infinite_width(state, part.omega), "infinite")


@local_part.register
def _(part: MergedTable | MergedWeights, state: Any, width: Width | None) -> Line:
    table = part.table(state)
    return Line(table, jnp.ones(len(table)))


@local_part.register
def _(part: ValueTable, state: Array, width: Width | None) -> Line:
    return Line(state, part.gain)


@local_part.register
def _(part: ValueWeights, state: Any, width: Width | None) -> Line:
    table = part.table(state)
    return Line(table, jnp.ones(len(table)))


@local_part.register
def _(part: ClassMeanWeights, state: Any, width: Width | None) -> Line:
    heads, _, count, _ = state["W_V"].shape
    return Line(part.table(state), jnp.full((heads,), 2 / count))


@local_part.register
def _(part: FixedOutputWeights, state: Any, width: Width | None) -> Line:
    return Line(part.table(state), (part.output**2).sum(axis=1))


@local_part.register
def _(part: ChainWeights, state: Any, width: Width | None) -> Product:
    gain = jnp.ones(len(state["w_O"]))
    return _plain_chain(state["W_V"] @ part.basis.T, state["w_O"], gain)


@local_part.register
def _(part: NeuronWeights, state: Any, width: Width | None) -> Product:
    seen = jnp.einsum("hn,hnv->hv", part.output, state["W"])
    gain = (part.output**2).sum(axis=1)
    return _plain_chain(state["W_V"] @ part.basis.T, seen, gain)


@local_part.register
def _(part: ChainTransport, state: Array, width: Width | None) -> Product:
    return _chain(state, part.gain, width)


@local_part.register
def _(part: NeuronTransport, state: Any, width: Width | None) -> Product:
    return _chain(state["factor"], part.gain, width)


@local_part.register
def _(part: ChainGram, state: Array, width: Width | None) -> Product:
    return _chain(factor_of_gram(state, _rows(state, width)), part.gain, width)


def _rows(gram: Array, width: Width | None) -> int:
    """No more than the width, so that a narrow model gets no direction too many."""
    columns = gram.shape[-1]
    return min(width, columns) if isinstance(width, int) else columns


def _scores(factor: Array, width: Width | None) -> Product:
    blocks, rows, columns = factor.shape
    free = jnp.asarray(free_rows("keys and queries", width, rows))
    return Product(factor, jnp.ones((blocks, columns)), free, columns // 2, False)


def _chain(factor: Array, gain: Array, width: Width | None) -> Product:
    blocks, rows, columns = factor.shape
    free = jnp.asarray(free_rows("values", width, rows))
    scale = jnp.ones((blocks, columns)).at[:, -1].set(jnp.sqrt(gain))
    return Product(factor, scale, free, columns - 1, True)


def _plain_chain(first: Array, seen: Array, gain: Array) -> Product:
    factor = jnp.concatenate([first, seen[..., None]], axis=-1)
    return _chain(shortened(factor), gain, factor.shape[1])
