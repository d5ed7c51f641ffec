"""Observables of single neurons, where the form knows them."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from attnflow.models.forms import AbstractNeurons, State
from attnflow.models.systems import Training
from attnflow.models.tables import Tables
from attnflow.observables.registry import observable
from attnflow.observables.view import View


@observable(
    "head", "neuron", "token", about="what each neuron reads of a token: W W_V x"
)
def neuron_value(view: View) -> Array:  # noqa: D103
    return _shown_neurons(view.system, view.state)


@observable(
    "head", "neuron", "token", about="time derivative of what each neuron reads (flow)"
)
def neuron_value_rate(view: View) -> Array:  # noqa: D103
    velocity = view.system.velocity(0.0, view.state)

    def of_state(state: State) -> Array:
        return _shown_neurons(view.system, state)

    return jax.jvp(of_state, (view.state,), (velocity,))[1]


@observable(
    "head",
    "neuron",
    "other_neuron",
    about="change of the inner products W Wᵀ of neurons since the start",
)
def neuron_gram_change(view: View) -> Array:  # noqa: D103
    return _gram_change(view)


@observable(about="largest change of an inner product of two neurons since the start")
def largest_neuron_gram_change(view: View) -> Array:  # noqa: D103
    return jnp.abs(_gram_change(view)).max()


def _shown_neurons(system: Training, state: State) -> Array:
    """`W W_V` on the shown tokens: each neuron's row is read as values are."""
    part = _neurons(system.form.values)
    scores = system.form.tables(state).scores

    def shown(values: Array) -> Array:
        return system.form.frame.shown(Tables(scores, values)).values

    table = part.neuron_table(state["values"])
    return jax.vmap(shown, in_axes=1, out_axes=1)(table)


def _gram_change(view: View) -> Array:
    start = view.system.start
    if start is None:
        raise ValueError(
            "The system does not know its initial state, from which changes of neurons "
            "are measured. Give Training(…, start=state)."
        )
    part = _neurons(view.system.form.values)
    return part.neuron_gram_change(view.state["values"], start["values"])


def _neurons(part: Any) -> AbstractNeurons:
    if not isinstance(part, AbstractNeurons):
        raise ValueError(
            f"Single neurons are not known to {type(part).__name__}: give the values "
            "as Neurons(…, follow=True) with form='transport', or use form='weights' "
            "with values that have neurons."
        )
    return part
