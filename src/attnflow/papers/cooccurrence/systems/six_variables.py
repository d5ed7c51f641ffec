"""Appendix C against the full model: right-hand sides, equation (5), flow."""

from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array

from attnflow.papers.cooccurrence.computations import AppendixC
from attnflow.papers.cooccurrence.settings import Fields
from attnflow.papers.cooccurrence.systems.closed_system import (
    OBJECTS,
    ClosedSystem,
    State,
    Terms,
    sum_of,
    system_of,
    tables_of,
)
from attnflow.papers.cooccurrence.systems.flows import flow_differences
from attnflow.papers.cooccurrence.systems.model import (
    FILLERS,
    Fillers,
    Samples,
    Weights,
    draw_model,
    outputs,
    relative_error,
    velocity,
)
from attnflow.papers.cooccurrence.systems.token_forms import token_terms
from attnflow.training.programs import Effort, Program

Formulas = Callable[[ClosedSystem, State], Terms]


def appendix_c(setting: Fields, seeds: Sequence[int]) -> xr.Dataset:
    """Errors of Appendix C's equations, and differences of its flow from ours.

    - `right_side_error`: each equation with X and p, against exact derivatives of the
      full model's tables along its gradient flow, relative.
    - `token_form_error`: the same for the forms of Lemmas C.1, C.3, C.4 (NaN for O).
    - `readout_gain_error`: equation (5).
    - `difference`: largest of an entry at each record, between Appendix C's flow and
      the same run by the forms of the core; `move`: largest change of an entry by then.
    """
    sizes = AppendixC(**setting)
    rows = [[_errors(sizes, f, seed) for f in FILLERS] for seed in seeds]
    errors = {
        name: (dims, np.array([[row[name] for row in pair] for pair in rows]))
        for name, dims in (
            ("right_side_error", ("seed", "fillers", "object")),
            ("token_form_error", ("seed", "fillers", "object")),
            ("readout_gain_error", ("seed", "fillers")),
        )
    }
    coords = {"fillers": list(FILLERS), "object": list(OBJECTS)}
    return xr.Dataset(errors, coords).merge(flow_differences(sizes, seeds))


def _errors(
    setting: AppendixC, fillers: Fillers, seed: int
) -> dict[str, float | list[float]]:
    weights, samples = draw_model(setting, fillers, seed)
    errors = {
        "right_side_error": errors_of(ClosedSystem.terms, weights, samples),
        "token_form_error": errors_of(token_terms, weights, samples),
    }
    by_object = {n: [e.get(o, np.nan) for o in OBJECTS] for n, e in errors.items()}
    return {**by_object, "readout_gain_error": readout_gain_error(weights, samples)}


def errors_of(
    formulas: Formulas, weights: Weights, samples: Samples
) -> dict[str, float]:
    """Relative errors of right-hand sides, by table."""
    exact = _VELOCITY(Effort.LEAST, weights, samples)
    errors = _ERRORS(Effort.LEAST, formulas, weights, samples, exact)
    return {name: float(error) for name, error in errors.items()}


def _table_velocity(weights: Weights, samples: Samples) -> State:
    """Exact derivatives of the tables along gradient flow."""
    return jax.jvp(tables_of, (weights,), (velocity(weights, samples),))[1]


def _errors_of(
    formulas: Formulas, weights: Weights, samples: Samples, exact: State
) -> dict[str, Array]:
    terms = formulas(system_of(weights, samples), tables_of(weights))
    return {n: relative_error(sum_of(parts), exact[n]) for n, parts in terms.items()}


def readout_gain_error(weights: Weights, samples: Samples) -> float:
    """Relative error of `d|Wᵀa|²/dt = (2 m1 / n) Σ_i g_i y_i F_i`."""
    return float(_GAIN_ERROR(Effort.LEAST, weights, samples))


def _gain_error(weights: Weights, samples: Samples) -> Array:
    def gain(weights: Weights) -> Array:
        return jnp.square(weights["a"] @ weights["W"]).sum()

    exact = jax.jvp(gain, (weights,), (velocity(weights, samples),))[1]
    margin = samples.label * outputs(weights, samples)
    pull = jax.nn.sigmoid(-margin)
    printed = 2 * len(weights["a"]) * (pull * margin).mean()
    return relative_error(printed, exact)


# Operation by operation, these were 93 programs.
_VELOCITY, _ERRORS = Program(_table_velocity), Program(_errors_of)
_GAIN_ERROR = Program(_gain_error)
