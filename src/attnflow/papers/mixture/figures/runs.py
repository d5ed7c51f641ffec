"""Runs shared by the figures of `mixture`, and statistics of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnflow import schema
from attnflow.claims.stages import Event, select
from attnflow.schema.declarations import Request
from attnflow.schema.libraries import xr

Number = float | int | None
Numbers = Mapping[str, Number | Mapping[str, Number | Mapping[str, Number]]]
"""What an exhibit's `values` returns: numbers under names, nested up to three deep."""

FINITE = Request("figure1", seeds=3)
INFINITE = Request("figure1", {"width": "infinite"}, seeds=1)

LAST = 8e-5
"""The loss at which runs of Algorithm 1 end."""


def algorithm(omega: float, quick: Mapping[str, str | float]) -> Request:
    """All three stages of Algorithm 1 at infinite width, by gradient flow.

    The records give T3 for every ε above `LAST`. One compiled program serves all ω, so
    that each further run costs a fraction of a second.
    """
    overrides = {"omega": omega, "epsilon": LAST, "last_record": 1e5, "records": 601}
    return Request("three-stage", overrides, seeds=1, quick=quick)


SILENT_TRAINING = (
    "The width m and the initial scale ω are not stated. We use m = 128 and ω = 0.1; "
    "the order of events does not depend on them (claim B-Sec3-range).",
    "The number of steps is not stated: 2000.",
    "Whether gradients are over the population or over drawn samples is not stated. We "
    "use the population, whose 8 samples are enumerated.",
    "The number of seeds is not stated. We show three: the median as a line and the "
    "range as a band.",
)


def at_end(run: xr.Dataset, selector: str) -> float:
    """The median over seeds of the last recorded value of a series."""
    return float(_last(run, selector).median())


def every_at_end(run: xr.Dataset, selector: str) -> np.ndarray:
    """The last recorded values of a series, one for each seed."""
    return _last(run, selector).values


def _last(run: xr.Dataset, selector: str) -> xr.DataArray:
    return schema.last(run.assign(series=select(run, selector)), "series")


def comes_before(first: Event, second: Event) -> bool:
    """Whether the first event happened in every seed, and before the second.

    A second event that never happened counts as later.
    """
    later = np.where(np.isnan(second.times), np.inf, second.times)
    return bool((first.times < later).all())


def nearly_together(first: Event, second: Event, factor: float) -> bool:
    """Whether both events happened in every seed, at times within a factor."""
    early = np.minimum(first.times, second.times)
    late = np.maximum(first.times, second.times)
    return bool((early > 0).all() and (late < factor * early).all())


def line(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Slope and intercept by least squares; NaN if some point is not finite."""
    if len(x) < 2 or not np.isfinite([x, y]).all():
        return np.full(2, np.nan)
    return np.polyfit(x, y, 1)


def power(size: np.ndarray, measured: np.ndarray) -> float:
    """Exponent (log-log slope) by least squares; NaN if some value is not positive."""
    if not (measured > 0).all():
        return float("nan")
    return float(line(np.log(size), np.log(measured))[0])


def at_time(run: xr.Dataset, selector: str, times: np.ndarray) -> np.ndarray:
    """A series at one time per seed, interpolated between records."""
    series = select(run, selector).transpose("seed", "time")
    recorded = run["recorded"].transpose("seed", "time").values
    grid = run["time"].values
    return np.array(
        [
            np.interp(time, grid[rows], values[rows])
            for time, values, rows in zip(times, series.values, recorded, strict=True)
        ]
    )
