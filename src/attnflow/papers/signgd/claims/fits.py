"""How the training loss falls, seed by seed."""

import numpy as np
import xarray as xr

from attnflow.claims.statistics import Fall, fit_fall


def falls(run: xr.Dataset, start: float, end: float = np.inf) -> list[Fall]:
    """The fits to the training loss from one step to another, for each seed."""
    within = run["loss"].sel(time=slice(start, end)).transpose("seed", "time")
    steps = within["time"].values.astype(float)
    return [fit_fall(steps, loss) for loss in within.values]


def column(found: list[Fall], name: str) -> np.ndarray:
    """One number of each fit."""
    return np.array([getattr(fall, name) for fall in found])
