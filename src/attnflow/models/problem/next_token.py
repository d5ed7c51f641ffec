"""Next-token prediction from two tables: attention of the last token, then logits.

With the scores z of a sample's query at the places l of its context, their masses m
(counts, or probabilities in the limit of long sequences) and multiplicities w,

    c_l = m_l e^{z_l} / Σ w m e^z,     f = c / |c|,     logits_j = Σ_l w_l f_l Y_lj,

and the loss is the cross-entropy of the next token among all outputs. Parts of it can
be changed: f = c without `normalised`; and with a residual the query e_q is added,
f = LN(LN(c) + e_q) for `normalised` and f = LN(c + e_q) for `plain`, where LN divides
by the l2 norm.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Integer

Context = Float[Array, "*batch support"]
Residual = Literal["none", "normalised", "plain"]


class NextToken(eqx.Module):
    """The model's parts: normalisation of what attention gives, and a residual."""

    normalised: bool = eqx.field(static=True, default=True)
    residual: Residual = eqx.field(static=True, default="none")


class Places(NamedTuple):
    """Samples as places in the tables.

    - `rows`, `mass`, `weight`: of the context, `(samples, support)`.
    - `query`: the row of Z. `query_row`: that of the query in Y, for a residual.
    - `label`: the column of the next token; `probability`: the sample's share.
    """

    rows: Int[Array, "samples support"]
    mass: Float[Array, "samples support"]
    weight: Float[Array, "samples support"]
    query: Int[Array, " samples"]
    query_row: Int[Array, " samples"]
    label: Int[Array, " samples"]
    probability: Float[Array, " samples"]


class Outputs(NamedTuple):
    """Losses of samples, and the pull on their logits, `onehot − softmax`."""

    loss: Float[Array, " samples"]
    pull: Float[Array, "samples columns"]


def attention(scores: Context, mass: Context, weight: Context) -> Context:
    """`m e^z / Σ w m e^z`, the attention to each single token."""
    present = mass > 0
    top = jnp.max(jnp.where(present, scores, -jnp.inf), axis=-1, keepdims=True)
    top = jax.lax.stop_gradient(jnp.where(jnp.isfinite(top), top, 0.0))
    raw = mass * jnp.exp(jnp.where(present, scores - top, 0.0))
    total = jnp.sum(weight * raw, axis=-1, keepdims=True)
    return raw / jnp.where(total > 0, total, 1.0)


def features(
    model: NextToken, scores: Context, mass: Context, weight: Context
) -> tuple[Context, Float[Array, "*batch"]]:
    """What is read at the tokens of the context, and at the query itself."""
    context = attention(scores, mass, weight)
    query = jnp.zeros(context.shape[:-1])
    if model.residual == "none":
        return (
            _unit(context, query, weight)[0] if model.normalised else context
        ), query
    if model.residual == "normalised":
        context = _unit(context, query, weight)[0]
    query = jnp.ones_like(query)
    return _unit(context, query, weight) if model.normalised else (context, query)


def _unit(context: Array, query: Array, weight: Array) -> tuple[Array, Array]:
    square = jnp.sum(weight * context**2, axis=-1) + query**2
    size = jnp.sqrt(jnp.where(square > 0, square, 1.0))
    return context / size[..., None], query / size


def outputs(
    logits: Float[Array, "samples columns"],
    label: Integer[Array, " samples"],
    column_weight: Float[Array, " columns"],
) -> Outputs:
    """Cross-entropy and its pull, both to full relative precision.

    The pull on the label is the sum of all others' probabilities, not one minus its
    own, so that a loss of 1e-20 still has a gradient.
    """
    mine = label[..., None] == jnp.arange(logits.shape[-1])
    target = jnp.sum(jnp.where(mine, logits, 0.0), axis=-1, keepdims=True)
    top = jnp.max(logits, axis=-1, keepdims=True)
    size = jnp.exp(logits - top)
    other = jnp.sum(jnp.where(mine, 0.0, column_weight * size), axis=-1, keepdims=True)
    total = other + jnp.exp(target - top)
    pull = jnp.where(mine, other, -size) / total
    loss = jax.nn.softplus(jnp.log(other) + top - target)
    return Outputs(loss[..., 0], pull)


class Forces(NamedTuple):
    """Minus the gradient of the mean loss, per entry of the tables; and the losses."""

    scores: Float[Array, "queries rows"]
    values: Float[Array, "rows columns"]
    loss: Float[Array, " samples"]


def forces(
    model: NextToken,
    tables: Mapping[str, Float[Array, "_ _"]],
    places: Places,
    column_weight: Float[Array, " columns"],
) -> Forces:
    """Minus the gradient of the mean loss by single entries of the full tables.

    Rows and columns that stand for several tokens move as each of them does, which is
    the gradient by the kept entry divided by how often it counts.
    """
    scores, values = tables["scores"], tables["values"]
    at = scores[places.query[:, None], places.rows]
    (read, of_itself), back = jax.vjp(
        lambda z: features(model, z, places.mass, places.weight), at
    )
    kept, query = values[places.rows], values[places.query_row]
    logits = jnp.einsum("ns,nsc->nc", places.weight * read, kept)
    output = outputs(logits + of_itself[:, None] * query, places.label, column_weight)
    pull = places.probability[:, None] * output.pull
    seen = jnp.einsum("nsc,nc->ns", kept, column_weight * pull)
    of_query = jnp.sum(query * column_weight * pull, axis=-1)
    (push,) = back((places.weight * seen, of_query))
    push = push / places.weight
    moved = jnp.zeros_like(values).at[places.rows].add(read[..., None] * pull[:, None])
    moved = moved.at[places.query_row].add(of_itself[:, None] * pull)
    turned = jnp.zeros_like(scores).at[places.query[:, None], places.rows].add(push)
    return Forces(turned, moved, output.loss)
