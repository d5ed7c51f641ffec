"""Exponential and power-law fits to the training loss, by seed."""

from __future__ import annotations

import numpy as np

from attnflow.claims.statistics import Fall, fit_fall
from attnflow.schema.installation import xr


def falls(run: xr.Dataset, start: float, end: float = np.inf) -> list[Fall]:
    """Fits to the training loss from step `start` to step `end`, for each seed."""
    within = run["loss"].sel(time=slice(start, end)).transpose("seed", "time")
    steps = within["time"].values.astype(float)
    return [fit_fall(steps, loss) for loss in within.values]


def column(fits: list[Fall], name: str) -> np.ndarray:
    """A field of each fit, such as `rate` or `exponential`, as an array."""
    return np.array([getattr(fall, name) for fall in fits])


def residual(name: str, start: float, run: xr.Dataset) -> np.ndarray:
    """The residual of the `exponential` or the `algebraic` fit from a step on."""
    return column(falls(run, start), name)


def power_over_exponential(start: float, run: xr.Dataset) -> np.ndarray:
    """The residual of a power law over that of an exponential from a step on."""
    return residual("algebraic", start, run) / residual("exponential", start, run)


def rate(start: float, run: xr.Dataset, end: float = np.inf) -> np.ndarray:
    """The rate of the exponential between two steps."""
    return column(falls(run, start, end), "rate")
