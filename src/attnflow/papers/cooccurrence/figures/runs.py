"""Run requests that figures share, and statistics of runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from attnflow import schema
from attnflow.claims.stages import select
from attnflow.papers.cooccurrence.claims import evidence
from attnflow.schema.declarations import Request
from attnflow.schema.libraries import xr

Numbers: TypeAlias = "float | Mapping[str, Numbers]"
"""What an exhibit's `values` hold: a number, or numbers by name."""
QUICK_EXPERIMENT: Mapping[str, evidence.Override] = {
    "steps": 15000.0,
    "records": 151,
    "test_samples": 0,
}
QUICK_THEORY: Mapping[str, evidence.Override] = {
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
"""Fewer and shorter samples: the same phases, and faster compilation."""

QUICK_NOISE_FREE: Mapping[str, evidence.Override] = {"length": 3, "records": 121}

EXPERIMENT = dataclasses.replace(evidence.experiment(seeds=5), quick=QUICK_EXPERIMENT)


def theory(width: int) -> Request:
    """Request for training under the theory's assumptions until the loss is 1/m."""
    return dataclasses.replace(evidence.whole(width), quick=QUICK_THEORY)


def noise_free(samples: float, /, **quick: evidence.Override) -> Request:
    """Request for the noise-free flow, up to symmetry, to b0·t = 1e8."""
    request = evidence.noise_free(samples)
    return dataclasses.replace(request, quick={**QUICK_NOISE_FREE, **quick})


SILENT_EXPERIMENT = (
    "'Kaiming initialization' and the distribution of the output vector a are not "
    "specified. We use PyTorch's default for linear layers for all of them, with a "
    "frozen: of the readings tried, the one that matches the description of Figure 1.",
    "Seeds are not stated. We show five: the first in bold, the others faint.",
    "Where Phase 1 ends in the figure is not stated. We end it when all samples are "
    "correct for good (T1).",
)
SILENT_THEORY = (
    "Condition 1 leaves powers of logarithms open: σ0 = 0.3/√(Lm), σ1 = 0.3/√m1.",
    "T1 is stated up to a constant. We mark when all samples are correct for good.",
)


def at_end(run: xr.Dataset, selector: str) -> np.ndarray:
    """Last recorded value of a series, by seed."""
    return schema.last(run.assign(series=select(run, selector)), "series").values


def after(run: xr.Dataset, times: np.ndarray) -> xr.DataArray:
    """Mask of the records at or after a time, one time for each seed."""
    start = xr.DataArray(times, dims="seed", coords={"seed": run["seed"]})
    return (run["time"] >= start) & run["recorded"]


def always(steps: xr.DataArray, where: xr.DataArray) -> bool:
    """Whether a condition holds at all selected records, and each seed has some."""
    is_inside = where.transpose("seed", "time")
    holds = steps.transpose("seed", "time").where(is_inside, True)
    return bool(is_inside.any("time").all() and holds.all())


def grows(series: xr.DataArray) -> xr.DataArray:
    """Mask of records above the previous one; False at the first."""
    return series > series.shift(time=1)


def falls(series: xr.DataArray) -> xr.DataArray:
    """Mask of records below the previous one; False at the first."""
    return series < series.shift(time=1)


def at_time(run: xr.Dataset, selector: str, times: np.ndarray) -> np.ndarray:
    """A series interpolated at a time, one time for each seed."""
    series = select(run, selector).transpose("seed", "time")
    is_recorded = run["recorded"].transpose("seed", "time").values
    grid = run["time"].values
    return np.array(
        [
            np.interp(time, grid[rows], values[rows])
            for time, values, rows in zip(
                times, series.values, is_recorded, strict=True
            )
        ]
    )


def three_numbers(values: np.ndarray) -> dict[str, float]:
    """Median, smallest and largest value over seeds."""
    return {
        "median": float(np.median(values)),
        "least": float(np.min(values)),
        "largest": float(np.max(values)),
    }


def power(size: np.ndarray, measured: np.ndarray) -> float:
    """Log-log slope of a statistic over a size; NaN unless all values are positive."""
    if not (np.isfinite(measured).all() and (measured > 0).all()):
        return float("nan")
    return float(np.polyfit(np.log(size), np.log(measured), 1)[0])
