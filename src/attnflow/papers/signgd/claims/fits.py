"""How a loss falls: exponential against power law, each by its residual."""

from dataclasses import dataclass

import numpy as np
import xarray as xr

from attnflow.measures import log_log_line, semi_log_line


@dataclass(frozen=True)
class Fall:
    """Two fits to a loss over some steps, with residuals of its logarithm.

    - `rate` of exp(−rate · t), `power` of t^−power, and the root mean square of what
      either leaves, `exponential` and `algebraic`.
    """

    rate: float
    power: float
    exponential: float
    algebraic: float


def falls(run: xr.Dataset, start: float, end: float = np.inf) -> list[Fall]:
    """The fits to the training loss from one step to another, for each seed."""
    within = run["loss"].sel(time=slice(start, end)).transpose("seed", "time")
    steps = within["time"].values.astype(float)
    return [_fall(steps, loss) for loss in within.values]


def column(found: list[Fall], name: str) -> np.ndarray:
    """One number of each fit."""
    return np.array([getattr(fall, name) for fall in found])


def _fall(steps: np.ndarray, loss: np.ndarray) -> Fall:
    if not (np.isfinite(loss).all() and (loss > 0).all()):
        return Fall(np.nan, np.nan, np.nan, np.nan)
    line, power = semi_log_line(steps, loss, log="y"), log_log_line(steps, loss)
    return Fall(-line.slope, -power.slope, line.noise, power.noise)
