"""The runs that the figures share, and numbers read off them."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims.stages import select
from attnflow.papers.cooccurrence.claims import evidence
from attnflow.schema.declarations import Request

QUICK_EXPERIMENT: Mapping[str, Any] = {
    "steps": 15000.0,
    "records": 151,
    "test_samples": 0,
}
QUICK_THEORY: Mapping[str, Any] = {
    "samples": 24,
    "length": 3,
    "embed": 20,
    "test_samples": 0,
    "record": (
        "loss",
        "loss_by_group",
        "score",
        "value",
        "value_rate",
        "vocabulary_value",
        "readout_gain",
        "margin",
        "pull_by_group",
    ),
}
"""Fewer, shorter samples have the same phases, and compile faster."""

QUICK_NOISE_FREE: Mapping[str, Any] = {"length": 3, "records": 121}

EXPERIMENT = dataclasses.replace(evidence.experiment(seeds=5), quick=QUICK_EXPERIMENT)


def theory(width: int) -> Request:
    """Training under the theory's assumptions until the loss is 1/m."""
    return dataclasses.replace(evidence.whole(width), quick=QUICK_THEORY)


def noise_free(samples: float, /, **quick: Any) -> Request:
    """The flow without noise, up to symmetry, to b0·t = 1e8."""
    request = evidence.noise_free(samples)
    return dataclasses.replace(request, quick={**QUICK_NOISE_FREE, **quick})


SILENT_EXPERIMENT = (
    "What 'Kaiming initialization' means, and how the output vector a is made, is not "
    "stated. We take PyTorch's default for linear layers for all of them, with a "
    "frozen: of the readings tried, the one that looks as Figure 1 is described.",
    "Seeds are not stated. We show five: the first boldly, the others faintly.",
    "Where Phase 1 ends in the figure is not stated. We end it where all samples are "
    "right for good (T1).",
)
SILENT_THEORY = (
    "Condition 1 leaves powers of logarithms open: σ0 = 0.3/√(Lm), σ1 = 0.3/√m1.",
    "T1 is stated up to its constant. We mark where all samples are right for good.",
)


def at_end(run: xr.Dataset, selector: str) -> np.ndarray:
    """The last recorded value of a series, one for each seed."""
    return schema.last(run.assign(chosen=select(run, selector)), "chosen").values


def after(run: xr.Dataset, times: np.ndarray) -> xr.DataArray:
    """Which records lie at or behind a time of its own for each seed."""
    start = xr.DataArray(times, dims="seed", coords={"seed": run["seed"]})
    return (run["time"] >= start) & run["recorded"]


def always(steps: xr.DataArray, where: xr.DataArray) -> bool:
    """Whether, in every seed, something holds at some records and at all of them."""
    chosen = where.transpose("seed", "time")
    held = steps.transpose("seed", "time").where(chosen, True)
    return bool(chosen.any("time").all() and held.all())


def grows(series: xr.DataArray) -> xr.DataArray:
    """Whether each record is above the one before; the first is not."""
    return series > series.shift(time=1)


def falls(series: xr.DataArray) -> xr.DataArray:
    """Whether each record is below the one before; the first is not."""
    return series < series.shift(time=1)


def at_time(run: xr.Dataset, selector: str, times: np.ndarray) -> np.ndarray:
    """A series at a time of its own for each seed, between records by interpolation."""
    series = select(run, selector).transpose("seed", "time")
    kept = run["recorded"].transpose("seed", "time").values
    grid = run["time"].values
    return np.array(
        [
            np.interp(time, grid[rows], values[rows])
            for time, values, rows in zip(times, series.values, kept, strict=True)
        ]
    )


def three_numbers(values: np.ndarray) -> dict[str, float]:
    """Median, least and largest over seeds."""
    return {
        "median": float(np.median(values)),
        "least": float(np.min(values)),
        "largest": float(np.max(values)),
    }


def power(size: np.ndarray, measured: np.ndarray) -> float:
    """The log-log slope; NaN where something measured is not positive."""
    if not (np.isfinite(measured).all() and (measured > 0).all()):
        return float("nan")
    return float(np.polyfit(np.log(size), np.log(measured), 1)[0])
