"""A run in a few numbers: what is listed, and what the command line prints as JSON."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.schema.dataset import Outcome
from attnflow.schema.dims import SEED, TIME

# The last of these that a seed met is the outcome of the run.
_FROM_GOOD_TO_BAD = (
    Outcome.FINISHED,
    Outcome.EVENT,
    Outcome.EVENT_NOT_REACHED,
    Outcome.OUT_OF_STEPS,
    Outcome.DIVERGED,
    Outcome.INTERRUPTED,
)


def summarise(
    run: xr.Dataset, stages: Iterable[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """The `run` as a table of plain values.

    **Arguments:**

    - `stages`: rows of the run's stage table.

    **Returns:** `id`, `paper`, `experiment`, `setting`, `form`, `outcome` (the worst
    of the seeds'), `stages`, `final` (scalar observable → last value: a number for
    one seed, a list by seed otherwise), `seconds`, `compile_seconds`, `seeds`, and the
    worst over seeds of `drift`, `refinement` and `rate_threshold` (None where there
    are none).
    """
    return {
        "id": str(run.attrs["id"]),
        "paper": str(run.attrs["paper"]),
        "experiment": str(run.attrs["experiment"]),
        "setting": schema.setting_of(run),
        "form": str(run.attrs["form"]),
        "outcome": worst_outcome(run).label,
        "stages": [dict(row) for row in stages],
        "final": final_values(run),
        "seconds": float(run.attrs["wall_seconds"]),
        "compile_seconds": float(run.attrs["compile_seconds"]),
        "seeds": [int(seed) for seed in run[SEED].values],
        "drift": _worst(run, "drift", np.max),
        # One seed without a finer run leaves the whole without one.
        "refinement": _worst(run, "refinement", np.max),
        "rate_threshold": _worst(run, "rate_threshold", np.min),
    }


def _worst(
    run: xr.Dataset, name: str, choose: Callable[[np.ndarray], Any]
) -> float | None:
    return float(choose(run[name].values)) if name in run else None


def worst_outcome(run: xr.Dataset) -> Outcome:
    """The worst of the seeds' outcomes."""
    return max(schema.outcomes_of(run), key=_FROM_GOOD_TO_BAD.index)


def final_values(run: xr.Dataset) -> dict[str, Any]:
    """The last recorded value of each scalar observable."""
    return {
        name: _by_seed(_last(run, name))
        for name in map(str, run.data_vars)
        if _is_scalar_observable(run, name)
    }


def _is_scalar_observable(run: xr.Dataset, name: str) -> bool:
    if name in schema.BOOKKEEPING or run[name].dtype.kind not in "fiub":
        return False
    dims = {SEED, TIME} if TIME in run.dims else {SEED}
    return set(run[name].dims) == dims


def _last(run: xr.Dataset, name: str) -> np.ndarray:
    if TIME not in run.dims:
        return run[name].values
    return schema.last(run, name).values


def _by_seed(values: np.ndarray) -> Any:
    return values[0].item() if values.size == 1 else values.tolist()
