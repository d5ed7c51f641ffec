"""The summary of a run: what is listed and printed of it, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from attnflow import schema
from attnflow.schema.dataset import Outcome
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.libraries import xr

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

    **Returns:** `id`, `paper`, `experiment`, `setting`, `form`, `form_reason`,
    `system`, `outcome` (the worst of the seeds'), `outcomes` (the seeds of each),
    `stages`, `final` (scalar observable → last value: a number for one seed, a list by
    seed otherwise), `seconds`, `compile_seconds`, `seeds`; and, None where there are
    none, the worst over seeds of `drift`, `refinement` (with the observable that was
    `refined_most`) and `rate_threshold` (with all `rate_thresholds` and the
    `learning_rate`), and how many `signs` of updates were zero or tied.
    """
    return {
        "id": str(run.attrs["id"]),
        "paper": str(run.attrs["paper"]),
        "experiment": str(run.attrs["experiment"]),
        "setting": schema.setting_of(run),
        "form": str(run.attrs["form"]),
        "form_reason": str(run.attrs["form_reason"]),
        "system": run.attrs.get("system"),
        "outcome": worst_outcome(run).label,
        "outcomes": _seeds_by_outcome(run),
        "stages": [dict(row) for row in stages],
        "final": final_values(run),
        "seconds": float(run.attrs["wall_seconds"]),
        "compile_seconds": float(run.attrs["compile_seconds"]),
        "seeds": [int(seed) for seed in run[SEED].values],
        "drift": _worst(run, "drift", np.max),
        # One seed without a finer run leaves the whole without one.
        "refinement": _worst(run, "refinement", np.max),
        "refined_most": _refined_most(run),
        "rate_threshold": _worst(run, "rate_threshold", np.min),
        **_rate(run),
        "signs": _signs(run),
    }


def _seeds_by_outcome(run: xr.Dataset) -> dict[str, list[int]]:
    seeds: dict[str, list[int]] = {}
    for seed, outcome in zip(run[SEED].values, schema.outcomes_of(run), strict=True):
        seeds.setdefault(outcome.label, []).append(int(seed))
    return seeds


def _refined_most(run: xr.Dataset) -> str | None:
    if "refinement_by_observable" not in run:
        return None
    each = run["refinement_by_observable"].values.max(axis=0)
    return str(run["observable"].values[each.argmax()])


def _rate(run: xr.Dataset) -> dict[str, Any]:
    if "rate_threshold" not in run:
        return {"rate_thresholds": None, "learning_rate": None}
    limits = run["rate_threshold"]
    rate = float(limits.attrs["learning_rate"])
    return {"rate_thresholds": limits.values.tolist(), "learning_rate": rate}


def _signs(run: xr.Dataset) -> dict[str, int] | None:
    names = {"zero": "zero_signs", "tied": "tied_signs", "count": "signs_count"}
    if any(name not in run for name in names.values()):
        return None
    recorded = {key: run[name].where(run["recorded"]) for key, name in names.items()}
    return {key: int(counts.sum().item()) for key, counts in recorded.items()}


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
