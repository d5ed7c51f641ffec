"""Runs shared by the figures of `mixture`, and statistics of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from attnflow.claims.stages import Event
from attnflow.schema.declarations import Request
from attnflow.schema.libraries import xr

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


def medians(ends: Mapping[str, xr.DataArray]) -> dict[str, float]:
    """Median over seeds of each series at its end."""
    return {name: float(end.median()) for name, end in ends.items()}


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
