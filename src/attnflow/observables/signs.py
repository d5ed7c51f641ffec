"""Gradients by coordinate: their sizes, and how sure their signs are."""

from collections.abc import Iterable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.models.forms import CoordinateForm
from attnflow.observables.registry import observable
from attnflow.observables.view import View
from attnflow.training.scaled_numbers import Scaled

LOG10 = np.log(10.0)


@observable(about="log10 of the mean |gradient| by W_K, over the columns data cover")
def log_mean_key_gradient(view: View) -> Array:  # noqa: D103
    return _log_mean(view, "W_K")


@observable(about="log10 of the mean |gradient| by W_Q, over the columns data cover")
def log_mean_query_gradient(view: View) -> Array:  # noqa: D103
    return _log_mean(view, "W_Q")


@observable(about="gradients by covered columns that are exactly zero")
def zero_signs(view: View) -> Array:  # noqa: D103
    return _sum(
        ((g.mantissa == 0) & jnp.isfinite(g.log)).sum() for g in _gradients(view)
    )


@observable(about="gradients by covered columns whose sign is within rounding of a tie")
def tied_signs(view: View) -> Array:  # noqa: D103
    form, system = _form(view), view.system
    errors = form.gradient_errors(system.problem, view.state, system.trained_on)
    found = system.gradients(view.state)
    return _sum(
        ((g.mantissa != 0) & (jnp.abs(g.mantissa) <= errors[part][name])).sum()
        for part, gradients in found.items()
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
