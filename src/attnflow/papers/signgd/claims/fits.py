"""Exponential and power-law fits to the training loss, by seed."""

import numpy as np
import xarray as xr

from attnflow.claims.statistics import Fall, fit_fall


def falls(run: xr.Dataset, start: float, end: float = np.inf) -> list[Fall]:
    """Fits to the training loss from step `start` to step `end`, for each seed."""
    within = run["loss"].sel(time=slice(start, end)).transpose("seed", "time")
    steps = within["time"].values.astype(float)
    return [fit_fall(steps, loss) for loss in within.values]


def column(fits: list[Fall], name: str) -> np.ndarray:
    """A field of each fit, such as `rate` or `exponential`, as an array."""
    return np.array([getattr(fall, name) for fall in fits])
