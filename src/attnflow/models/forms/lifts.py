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

import jax
import numpy as np
from jaxtyping import Float

from attnflow.models.forms.base import (
    AbstractForm,
    AbstractPart,
    BasisVectors,
    DrawnWeights,
    PartState,
    State,
    Weights,
    decays,
    host_divisor,
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
from attnflow.models.forms.weights import AbstractWeights
from attnflow.training.rules import Rule


def lift(
    form: AbstractForm, state: State, weights: Weights, basis: BasisVectors
) -> DrawnWeights:
    """All weights in a state of a form that began with these `weights`.

    **Arguments:**

    - `weights`: the full initial weights by name.
    - `basis`: the form's basis of the tokens' span, `basis_of(data).vectors`.

    **Returns:** weights by the same names, those that are not trained included.
    """
    full = {name: np.asarray(weight) for name, weight in weights.items()}
    begun = jax.tree.map(np.asarray, state)
    parts = (form.scores, begun["scores"]), (form.values, begun["values"])
    moved = [lift_part(part, x, full, np.asarray(basis)) for part, x in parts]
    return {**full, **moved[0], **moved[1]}


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
    part: AbstractPart, state: PartState, weights: DrawnWeights, basis: np.ndarray
) -> DrawnWeights:
    """The weights of one part that have moved."""
    match part:
        case AbstractWeights():
            return dict(state)
        case Transport():
            names = ("W_K", "W_Q")
            began = np.concatenate([weights[n] @ basis.T for n in names], axis=-1)
            moved = np.split(_moved(began, state), 2, axis=-1)
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
    part: ValueTable, state: np.ndarray, weights: DrawnWeights, basis: np.ndarray
) -> DrawnWeights:
    if "w" in weights:
        table = weights["w"] @ basis.T
        return {"w": weights["w"] + (state - table) @ basis}
    first = weights["W_V"]
    if "w_O" in weights:
        output = weights["w_O"]
        table = np.einsum("hv,hvd->hd", output, first) @ basis.T
        gain = host_divisor(np.asarray(part.gain))
        step = ((state - table) / gain[:, None]) @ basis
        return {"W_V": first + output[:, :, None] * step[:, None, :]}
    means = first.mean(axis=2)
    table = (means[:, 0] - means[:, 1]) @ basis.T
    # Neurons move by ±s/count for a sum s of forces, and the values by 2 s/count.
    step = ((state - table) / 2) @ basis
    signs = np.array([1.0, -1.0])[:, None, None]
    return {"W_V": first + signs * step[:, None, None, :]}


def _lift_chain(
    factor: np.ndarray, weights: DrawnWeights, basis: np.ndarray
) -> DrawnWeights:
    first = weights["W_V"]
    if "w_O" in weights:
        seen = weights["w_O"]
    else:
        seen = np.einsum("hn,hnv->hv", weights["a"], weights["W"])
    began = np.concatenate([first @ basis.T, seen[..., None]], axis=-1)
    moved = _moved(began, factor)
    W_V = first + moved[..., :-1] @ basis
    if "w_O" in weights:
        return {"W_V": W_V, "w_O": seen + moved[..., -1]}
    output = weights["a"]
    along = output / host_divisor((output**2).sum(axis=1))[:, None]
    inner = weights["W"] + along[:, :, None] * moved[:, None, :, -1]
    return {"W_V": W_V, "W": inner}


def _moved(
    began: Float[np.ndarray, "heads width columns"],
    factor: Float[np.ndarray, "heads rows columns"],
) -> Float[np.ndarray, "heads width columns"]:
    """`Q N − Q F`, with `Q F` the columns that it began with."""
    if began.shape[1] <= began.shape[2]:
        return factor - began
    # The same routine as for the initial factor, so that signs agree.
    return np.linalg.qr(began)[0] @ factor - began
