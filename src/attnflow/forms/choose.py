"""Which form: the one place where it is chosen and built.

The rule, in order:

1. Data that are orbit representatives need the `quotient`.
2. Rules that do not commute with rotations (Adam, SignGD) need `weights`.
3. Rules with memory or decay (momentum) take `transport`.
4. Gradient flow and gradient descent take `gram`: two products of `2r × 2r` matrices a
   step, r the rank of the tokens, at every width.

A caller may name a form; it is refused, with the reason, where it would not be exact.
"""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from attnflow._suggest import look_up
from attnflow.data import Sequences
from attnflow.forms.base import AbstractScores, Form, State
from attnflow.forms.frames import Basis, basis_of, frame_of
from attnflow.forms.gram import Gram, InfiniteWidth
from attnflow.forms.initialise import (
    Initial,
    bartlett_factor,
    draw_values,
    draw_weights,
    factor_of,
)
from attnflow.forms.quotient import Symmetry, quotient_frame
from attnflow.forms.transport import Transport, identity_transport
from attnflow.forms.values import ValueTable
from attnflow.forms.weights import ScoreWeights, ValueWeights
from attnflow.rules import Rule

FORMS = ("weights", "transport", "gram", "infinite", "quotient")


def choose(
    asked: str, rules: list[dict[str, Rule]], *, symmetric: bool
) -> tuple[str, str]:
    """The name of the form for these rules (one mapping per stage), and why."""
    if asked != "auto":
        look_up("form", asked, dict.fromkeys(("auto", *FORMS)))
        return asked, "as asked"
    if symmetric:
        return "quotient", "the data are one representative per orbit"
    every = [rule for stage in rules for rule in stage.values()]
    odd = next((r for r in every if not r.equivariant), None)
    if odd is not None:
        return "weights", f"{odd.name} does not commute with rotations"
    if any(not r.memoryless for r in every):
        return "transport", "exact at every width for rules with memory or decay"
    return "gram", "exact at every width; the cheapest for flow and gradient descent"


def build(
    name: str,
    data: Sequences,
    initial: Initial,
    *,
    heads: int,
    key: Array,
    given: Mapping[str, Array] | None = None,
    symmetry: Symmetry | None = None,
) -> tuple[Form, State]:
    """The form and its initial state for one seed."""
    basis = basis_of(data)
    if name == "quotient":
        return _quotient(data, basis, initial, symmetry, given)
    _check_width(name, initial, given)
    if name == "weights":
        return _weights(data, basis, initial, heads, key, given)
    factor, values = _factor(data, basis, initial, heads, key, given)
    part, state = _score_part(name, initial, factor)
    form = Form(frame_of(data, basis), part, ValueTable(), name)
    return form, {"scores": state, "values": values @ basis.vectors.T}


def _check_width(name: str, initial: Initial, given: Any) -> None:
    infinite = initial.width == "infinite" and given is None
    if name == "infinite" and not infinite:
        raise ValueError(
            "form='infinite' keeps scores alone, which close only at infinite width "
            f"and without given weights; width is {initial.width}. Set it to infinite."
        )
    if name == "weights" and infinite:
        raise ValueError(
            "There are no weights at infinite width: use form='gram' or 'transport', "
            "or a finite width."
        )


def _weights(
    data: Sequences, basis: Basis, initial: Initial, heads: int, key: Array, given: Any
) -> tuple[Form, State]:
    embed = data.tokens.shape[1]
    weights = given or draw_weights(initial, heads, embed, key=key)
    form = Form(
        frame_of(data, basis),
        ScoreWeights(basis.vectors),
        ValueWeights(basis.vectors),
        "weights",
    )
    scores = {"W_K": weights["W_K"], "W_Q": weights["W_Q"]}
    return form, {"scores": scores, "values": {"w": weights["w"]}}


def _factor(
    data: Sequences, basis: Basis, initial: Initial, heads: int, key: Array, given: Any
) -> tuple[Array, Array]:
    """The initial Gram factor, and the values' vectors."""
    embed = data.tokens.shape[1]
    if given is not None:
        return factor_of(given, basis.vectors), given["w"]
    how = initial.drawn_as(basis.rank, embed)
    if how == "weights":
        weights = draw_weights(initial, heads, embed, key=key)
        return factor_of(weights, basis.vectors), weights["w"]
    key_factor, key_values = jax.random.split(key)
    values = draw_values(initial, heads, embed, key=key_values)
    if how == "bartlett":
        return bartlett_factor(initial, heads, basis.rank, key=key_factor), values
    eye = jnp.eye(2 * basis.rank)
    return initial.omega * jnp.broadcast_to(eye, (heads, *eye.shape)), values


def _score_part(
    name: str, initial: Initial, factor: Array
) -> tuple[AbstractScores, Array]:
    if name == "transport":
        return Transport(factor), identity_transport(factor)
    if name == "gram":
        return Gram(), factor.swapaxes(-1, -2) @ factor
    rank = factor.shape[-1] // 2
    omega = jnp.asarray(initial.omega, jnp.float64)
    return InfiniteWidth(omega), jnp.zeros((factor.shape[0], rank, rank))


def _quotient(
    data: Sequences,
    basis: Basis,
    initial: Initial,
    symmetry: Symmetry | None,
    given: Any,
) -> tuple[Form, State]:
    symmetric = initial.width == "infinite" and initial.value_scale == 0
    if symmetry is None or given is not None or not symmetric:
        raise ValueError(
            "A quotient needs data with a symmetry, one representative per orbit, and "
            "an initial state that shares it: population='orbits', width='infinite', "
            f"value_scale=0 (given: width={initial.width}, "
            f"value_scale={initial.value_scale}, "
            f"{'no ' if given is None else ''}initial weights). "
            "Use population='exact' otherwise."
        )
    eye = initial.omega**2 * jnp.eye(2 * symmetry.size)
    state = jnp.broadcast_to(eye, (symmetry.blocks, *eye.shape))
    form = Form(quotient_frame(data, basis, symmetry), Gram(), ValueTable(), "quotient")
    return form, {"scores": state, "values": jnp.zeros((1, symmetry.size))}
