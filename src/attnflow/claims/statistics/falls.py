"""How a series falls: exponential against power law, each by its residual."""

from dataclasses import dataclass

import numpy as np

from attnflow.claims.statistics.slopes import log_log_line, semi_log_line


@dataclass(frozen=True)
class Fall:
    """Two fits to a series, with equal weight for every record of its logarithm.

    - `rate` of C exp(−rate · t), `power` of C t^−power.
    - `exponential`, `algebraic`: the root mean square of what either leaves.
    """

    rate: float
    power: float
    exponential: float
    algebraic: float

    @property
    def is_exponential(self) -> bool:
        """Whether the exponential leaves less."""
        return self.exponential < self.algebraic


def fit_fall(times: np.ndarray, values: np.ndarray) -> Fall:
    """Both fits; all is NaN where a value has no logarithm."""
    if not (np.isfinite(values).all() and (values > 0).all()):
        return Fall(np.nan, np.nan, np.nan, np.nan)
    line, power = semi_log_line(times, values, log="y"), log_log_line(times, values)
    return Fall(-line.slope, -power.slope, line.noise, power.noise)
