"""Run requests that figures share, and statistics of runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from attnflow.claims import look
from attnflow.papers.cooccurrence.claims import evidence
from attnflow.papers.cooccurrence.stages import STAGES, clock_times
from attnflow.schema.declarations import Evidence, Request
from attnflow.schema.dims import SEED
from attnflow.schema.installation import xr

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

EXPERIMENT = dataclasses.replace(
    evidence.experiment(seeds=5), quick=QUICK_EXPERIMENT, quick_seeds=2
)


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


def clock_events(run: xr.Dataset) -> dict[str, np.ndarray]:
    """Times b0·t of the ends of phases, per seed."""
    return {stage.name: clock_times(run, stage(run)) for stage in STAGES}


def by_width(
    evidence: Evidence,
    statistic: Callable[[xr.Dataset], np.ndarray],
    widths: tuple[int, ...],
) -> xr.DataArray:
    """A statistic of runs called `m = 512`, …, by width and seed."""
    rows = [statistic(evidence[f"m = {width}"]) for width in widths]
    return xr.DataArray(rows, {"width": list(widths)}, ("width", SEED))


def rises(run: xr.Dataset, series: xr.DataArray, start: look.Times = 0.0) -> np.ndarray:
    """Whether a series rises from record to record, from a time on, per seed."""
    later = look.both(look.between(run, start, np.inf))
    return look.least(look.steps(series), later) > 0


def falls(run: xr.Dataset, series: xr.DataArray, start: look.Times = 0.0) -> np.ndarray:
    """Whether a series falls from record to record, from a time on, per seed."""
    return rises(run, -series, start)


def three_numbers(values: np.ndarray | xr.DataArray) -> dict[str, float]:
    """Median, smallest and largest value over seeds."""
    least, median, largest = look.extent(values)
    return {"median": median, "least": least, "largest": largest}
