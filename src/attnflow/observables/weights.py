"""Observables of weights: entries, changes, neurons, gradients and sharpness.

Each needs a form that holds what it shows, and says which ones do.
"""

from collections.abc import Iterable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.models.forms import (
    AbstractNeurons,
    AbstractPart,
    AbstractRows,
    CoordinateForm,
    State,
    TokenForm,
)
from attnflow.models.systems import Training
from attnflow.models.tables import Tables
from attnflow.observables.curvature import gauss_newton_sharpness, sharpness
from attnflow.observables.registry import declare, observable
from attnflow.observables.view import View
from attnflow.training.scaled_numbers import Scaled

LOG10 = np.log(10.0)


def _weights(view: View, part: str, name: str) -> Array:
    state = view.state[part]
    if not isinstance(state, dict):
        raise ValueError(
            f"{name} can be recorded with form='weights' alone; this run uses "
            f"form={view.system.form.name!r}, which keeps no weights."
        )
    if name not in state:
        raise ValueError(
            f"{name} is not among the weights of the {part}, which are {sorted(state)}."
        )
    return _by_head(view, state[name])


def _by_head(view: View, weight: Array) -> Array:
    """A weight with a row for each head, where all share one too."""
    return jnp.broadcast_to(weight, (view.system.problem.heads, *weight.shape[1:]))


def _weight_change(view: View, weight: str, side: str) -> Array:
    """From weights, or `tr(aᵀ X Xᵀ a)` of the sums a over the tokens X of samples."""
    form, state = view.system.form, view.state["scores"]
    if isinstance(form, TokenForm):
        sums = state[f"{side}_sums"]
        positions = form.scores.keys if side == "key" else form.scores.queries
        token = positions.token.reshape(-1)
        moved = form.scores.gram[token[:, None], token] @ sums
        # Weight decay also moves components that the sums of forces do not contain.
        known = jnp.where(state["share"] == 1, 1.0, jnp.nan)
        return known * jnp.sqrt((sums * moved).sum(axis=(1, 2)))
    if not isinstance(state, dict) or weight not in state:
        raise ValueError(
            f"The change of {weight} is not known to form={form.name!r}: use "
            "form='tokens' or 'weights'."
        )
    moved = state[weight] - view.start.state["scores"][weight]
    return _by_head(view, jnp.linalg.norm(moved, axis=(1, 2)))


declare(
    *("head", "width", "embed"),
    W_K=("key weights (form='weights' only)", lambda v: _weights(v, "scores", "W_K")),
    W_Q=("query weights (form='weights' only)", lambda v: _weights(v, "scores", "W_Q")),
)
declare(
    *("head", "embed"),
    w=("value weights (form='weights' only)", lambda v: _weights(v, "values", "w")),
)
declare(
    "head",
    key_weight_change=(
        "|W_K − W_K(0)|, the norm of all entries' changes",
        lambda v: _weight_change(v, "W_K", "key"),
    ),
    query_weight_change=(
        "|W_Q − W_Q(0)|, the norm of all entries' changes",
        lambda v: _weight_change(v, "W_Q", "query"),
    ),
)
declare(
    *("head", "neuron", "token"),
    key_neuron=("what each row of W_K sees of a token", lambda v: _rows(v, "key")),
    query_neuron=("what each row of W_Q sees of a token", lambda v: _rows(v, "query")),
    neuron_value=(
        "what each neuron reads of a token: W W_V x",
        lambda v: _neuron_values(v.system, v.state),
    ),
)


@observable(
    "head", "neuron", "token", about="time derivative of what each neuron reads (flow)"
)
def neuron_value_rate(view: View) -> Array:  # noqa: D103
    velocity = view.system.velocity(0.0, view.state)

    def of_state(state: State) -> Array:
        return _neuron_values(view.system, state)

    return jax.jvp(of_state, (view.state,), (velocity,))[1]


@observable(
    "head",
    "neuron",
    "other_neuron",
    about="change of the inner products W Wᵀ of neurons since the start",
)
def neuron_gram_change(view: View) -> Array:  # noqa: D103
    start = view.system.start
    if start is None:
        raise ValueError(
            "The system does not know its initial state, from which changes of neurons "
            "are measured. Give Training(…, start=state)."
        )
    part = _neurons(view.system.form.values)
    return part.neuron_gram_change(view.state["values"], start["values"])


def _rows(view: View, side: str) -> Array:
    part = view.system.form.scores
    if not isinstance(part, AbstractRows):
        raise ValueError(
            f"Single rows of keys and queries are not known to {type(part).__name__}: "
            "use form='weights', 'coordinates' or 'signs'."
        )
    rows = getattr(part.rows(view.state["scores"]), side)
    shown = view.system.form.frame.shown_coordinates  # pyright: ignore
    return _by_head(view, jnp.einsum("tr,hrn->hnt", shown, rows))


def _neuron_values(system: Training, state: State) -> Array:
    """`W W_V` on the shown tokens: each neuron's row is read as values are."""
    part = _neurons(system.form.values)
    scores = system.form.tables(state).scores

    def shown(values: Array) -> Array:
        return system.form.frame.shown(Tables(scores, values)).values

    table = part.neuron_table(state["values"])
    return jax.vmap(shown, in_axes=1, out_axes=1)(table)


def _neurons(part: AbstractPart) -> AbstractNeurons:
    if not isinstance(part, AbstractNeurons):
        raise ValueError(
            f"Single neurons are not known to {type(part).__name__}: give the values "
            "as Neurons(…, follow=True) with form='transport', or use form='weights' "
            "with values that have neurons."
        )
    return part


declare(
    largest_neuron_gram_change=(
        "largest change of an inner product of two neurons since the start",
        lambda v: jnp.abs(neuron_gram_change(v)).max(),
    ),
    log_mean_key_gradient=(
        "log10 of the mean |gradient| by W_K, over the columns data cover",
        lambda v: _log_mean(v, "W_K"),
    ),
    log_mean_query_gradient=(
        "log10 of the mean |gradient| by W_Q, over the columns data cover",
        lambda v: _log_mean(v, "W_Q"),
    ),
    tangent_sharpness=(
        "top eigenvalue of H^½ K H^½, K the tangent kernel, H = p ∂²l/∂f²",
        lambda v: gauss_newton_sharpness(v.system, v.state),
    ),
    sharpness=(
        "top eigenvalue of the Hessian of the training loss by all trained weights",
        lambda v: sharpness(v.system, v.state, v.system.widths),
    ),
)


@observable(about="gradients by covered columns that are exactly zero")
def zero_signs(view: View) -> Array:  # noqa: D103
    return _sum(
        ((g.mantissa == 0) & jnp.isfinite(g.log)).sum() for g in _gradients(view)
    )


@observable(about="gradients by covered columns whose sign is within rounding of a tie")
def tied_signs(view: View) -> Array:  # noqa: D103
    form, system = _form(view), view.system
    errors = form.gradient_errors(system.problem, view.state, system.trained_on)
    return _sum(
        ((g.mantissa != 0) & (jnp.abs(g.mantissa) <= errors[part][name])).sum()
        for part, gradients in system.gradients(view.state).items()
        for name, g in gradients.items()
    )


@observable(about="gradients by covered columns, all weights together")
def signs_count(view: View) -> Array:  # noqa: D103
    return _sum(
        jnp.isfinite(g.log).sum() * g.mantissa.shape[-1] for g in _gradients(view)
    )


def _sum(counts: Iterable[Array]) -> Array:
    return jnp.stack(list(counts)).sum()


def _gradients(view: View) -> list[Scaled]:
    _form(view)
    parts = view.system.gradients(view.state).values()
    return [gradient for part in parts for gradient in part.values()]


def _log_mean(view: View, name: str) -> Array:
    _form(view)
    gradient = view.system.gradients(view.state)["scores"][name]
    log = gradient.log
    top = log.max()
    covered = jnp.isfinite(log).sum() * gradient.mantissa.shape[-1]
    mean = (jnp.abs(gradient.mantissa) * jnp.exp(log - top)).sum() / covered
    return (jnp.log(mean) + top) / LOG10


def _form(view: View) -> CoordinateForm:
    form = view.system.form
    if not isinstance(form, CoordinateForm):
        raise ValueError(
            f"Gradients by coordinate are not known to form={form.name!r}: use "
            "form='coordinates' or 'signs'."
        )
    return form
