"""Lift: full weights at a later time, from a reduced state and the initial weights.

Reduced forms move weights on the tokens' span alone, with an orthonormal basis of it as
rows of E, and what lies outside stays as it began. So, for every rule without decay,

    W(t) = W(0) + (W(t) Eᵀ − W(0) Eᵀ) E,

and the part knows `W(t) Eᵀ`: transport carries N with `[W_K Eᵀ W_Q Eᵀ](t) = Q N(t)` and
Q the orthogonal factor of `[W_K Eᵀ W_Q Eᵀ](0) = Q F`. A chain is the same with
`[W_V Eᵀ β]`; neurons follow from `W(t) = W(0) + a (β(t) − β(0))ᵀ / |a|²`. A table moves
by gain times the sum of forces, and the weights behind it by that sum along fixed
directions: `w` itself, `w_O` in `W_V`, `±1/count` in either bank of class means.
"""

from collections.abc import Mapping

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.models.forms.base import (
    AbstractForm,
    AbstractPart,
    Arrays,
    BasisVectors,
    PartState,
    State,
    Weights,
    decays,
    divisor,
)
from attnflow.models.forms.neurons import NeuronTransport
from attnflow.models.forms.scores import (
    Gram,
    InfiniteWidth,
    MergedTable,
    Transport,
    plain_table,
)
from attnflow.models.forms.values import ChainGram, ChainTransport, ValueTable
from attnflow.models.forms.weights import AbstractWeights, ClassMeanWeights
from attnflow.training.rules import Rule


def lift(
    form: AbstractForm, state: State, weights: Weights, basis: BasisVectors
) -> Arrays:
    """All weights in a state of a form that began with these `weights`.

    **Arguments:**

    - `weights`: the full initial weights by name.
    - `basis`: the form's basis of the tokens' span, `basis_of(data).vectors`.

    **Returns:** weights by the same names, those that are not trained included.
    """
    parts = (form.scores, state["scores"]), (form.values, state["values"])
    moved = [lift_part(part, x, weights, basis) for part, x in parts]
    return {**weights, **moved[0], **moved[1]}


def lift_refusal(form: AbstractForm, rules: Mapping[str, Rule]) -> str | None:
    """Why weights cannot be lifted under these rules; `None` if they can."""
    parts = (form.scores, form.values)
    if all(isinstance(part, AbstractWeights) for part in parts):
        return None
    if form.name in ("coordinates", "signs"):
        return (
            f"form={form.name!r} leaves out what the data do not cover, and puts "
            "neurons together that move alike. Use form='weights'."
        )
    squares = (Gram, InfiniteWidth, ChainGram)
    if any(isinstance(part, squares) for part in parts):
        return (
            f"form={form.name!r} keeps inner products alone, from which weights come "
            "back up to a rotation only. Use form='transport'."
        )
    if any(decays(rule) for rule in rules.values()):
        return (
            "Under weight decay the weights outside the tokens' span decay too, which "
            "reduced forms do not follow. Use form='weights'."
        )
    return None


def lift_part(
    part: AbstractPart, state: PartState, weights: Weights, basis: BasisVectors
) -> Arrays:
    """The weights of one part that have moved."""
    match part:
        case AbstractWeights():
            return dict(state)
        case Transport():
            names = ("W_K", "W_Q")
            began = jnp.concatenate([weights[n] @ basis.T for n in names], axis=-1)
            moved = jnp.split(_moved(began, state), 2, axis=-1)
            changes = zip(names, moved, strict=True)
            return {n: weights[n] + x @ basis for n, x in changes}
        case MergedTable():
            moved = state - plain_table(weights, basis)
            return {"W_KQ": weights["W_KQ"] + basis.T @ moved @ basis}
        case ChainTransport():
            return _lift_chain(state, weights, basis)
        case NeuronTransport():
            return _lift_chain(state["factor"], weights, basis)
        case ValueTable():
            return _lift_table(part, state, weights, basis)
    raise ValueError(
        f"Weights cannot be lifted from {type(part).__name__}, which keeps inner "
        "products alone. Use form='transport' or 'weights'."
    )


def _lift_table(
    part: ValueTable, state: Array, weights: Weights, basis: BasisVectors
) -> Arrays:
    if "w" in weights:
        table = weights["w"] @ basis.T
        return {"w": weights["w"] + (state - table) @ basis}
    first = weights["W_V"]
    if "w_O" in weights:
        output = weights["w_O"]
        table = jnp.einsum("hv,hvd,rd->hr", output, first, basis)
        step = ((state - table) / divisor(part.gain)[:, None]) @ basis
        return {"W_V": first + output[:, :, None] * step[:, None, :]}
    table = ClassMeanWeights(basis).table({"W_V": first})
    # Neurons move by ±s/count for a sum s of forces, and the values by 2 s/count.
    step = ((state - table) / 2) @ basis
    signs = jnp.array([1.0, -1.0])[:, None, None]
    return {"W_V": first + signs * step[:, None, None, :]}


def _lift_chain(factor: Array, weights: Weights, basis: BasisVectors) -> Arrays:
    first = weights["W_V"]
    if "w_O" in weights:
        seen = weights["w_O"]
    else:
        seen = jnp.einsum("hn,hnv->hv", weights["a"], weights["W"])
    began = jnp.concatenate([first @ basis.T, seen[..., None]], axis=-1)
    moved = _moved(began, factor)
    W_V = first + moved[..., :-1] @ basis
    if "w_O" in weights:
        return {"W_V": W_V, "w_O": seen + moved[..., -1]}
    output = weights["a"]
    along = output / divisor((output**2).sum(axis=1))[:, None]
    inner = weights["W"] + along[:, :, None] * moved[:, None, :, -1]
    return {"W_V": W_V, "W": inner}


def _moved(
    began: Float[Array, "heads width columns"],
    factor: Float[Array, "heads rows columns"],
) -> Float[Array, "heads width columns"]:
    """`Q N − Q F`, with `Q F` the columns that it began with."""
    if began.shape[1] <= began.shape[2]:
        return factor - began
    # The same routine as for the initial factor, so that signs agree.
    return jnp.linalg.qr(began)[0] @ factor - began
