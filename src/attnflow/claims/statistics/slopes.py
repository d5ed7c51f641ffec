"""Straight lines by least squares: slopes, intervals, exponential and power decay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from attnflow.schema.installation import scipy

if TYPE_CHECKING:
    from jaxtyping import Float

Points: TypeAlias = 'Float[np.ndarray, " points"]'
RESAMPLES = 2000
TAILS = (1.0 - 0.95) / 2.0, 1.0 - (1.0 - 0.95) / 2.0


@dataclass(frozen=True)
class Line:
    """A line y = intercept + slope · x fitted by least squares.

    **Arguments:**

    - `error`: the standard error of the slope.
    - `noise`: the standard deviation of the residuals, with n − 2 degrees of freedom.
    - `interval`: Student's interval of the slope.
    """

    slope: float
    intercept: float
    error: float
    noise: float
    interval: tuple[float, float]


def fit_line(x: Points, y: Points, *, level: float = 0.95) -> Line:
    """The least-squares line through points, with Student's interval of its slope.

        slope = Σ (x − x̄)(y − ȳ) / Σ (x − x̄)²,   error² = noise² / Σ (x − x̄)²,
        interval = slope ± t_{n−2} · error,        noise² = Σ residual² / (n − 2).

    Covers the slope with probability `level` where the residuals are independent and
    Gaussian. Points of a deterministic ladder have no noise; their residual is
    curvature, and the interval says how far curvature bends the slope.

    `fit_line(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0])).slope` is `2.0`.
    """
    x, y = _check_points(x, y)
    centred = x - x.mean()
    spread = float(centred @ centred)
    slope = float(centred @ (y - y.mean())) / spread
    intercept = float(y.mean() - slope * x.mean())
    residual = y - y.mean() - slope * centred
    freedom = len(x) - 2
    noise = float(np.sqrt(residual @ residual / freedom))
    error = noise / float(np.sqrt(spread))
    reach = float(scipy.special.stdtrit(freedom, (1.0 + level) / 2.0)) * error
    return Line(slope, intercept, error, noise, (slope - reach, slope + reach))


def log_log_line(x: Points, y: Points) -> Line:
    """The line through (ln x, ln y): y ≈ e^intercept · x^slope.

    !!! example

        ```python
        n = np.array([1.0, 10.0, 100.0])
        log_log_line(n, 3 * n**-0.5).slope  # -0.5
        ```
    """
    return fit_line(_logarithm("x", x), _logarithm("y", y))


def semi_log_line(x: Points, y: Points, *, log: Literal["x", "y"] = "x") -> Line:
    """The line through (ln x, y), or (x, ln y) where `log` is `y`.

    The first is a time that grows like a logarithm; the second an exponential rate.

    !!! example

        ```python
        n = np.array([1.0, 10.0, 100.0])
        semi_log_line(n, 5 + 2 * np.log(n)).slope  # 2.0
        ```
    """
    if log == "x":
        return fit_line(_logarithm("x", x), np.asarray(y, float))
    return fit_line(np.asarray(x, float), _logarithm("y", y))


def bootstrap_slope(
    x: Points, y: Points, *, generator: np.random.Generator
) -> tuple[float, float]:
    """The 95% percentile interval of the least-squares slope over resampled points.

    Points are drawn with replacement; draws whose x are all equal have no slope and
    are left out. With few points the interval is narrower than that says: it is to
    be reported, not to decide. The same `generator` gives the same interval.

    ??? cite

        B. Efron, Bootstrap methods: another look at the jackknife, Ann. Statist. 7
        (1979) 1–26.
    """
    x, y = _check_points(x, y)
    drawn = generator.integers(len(x), size=(RESAMPLES, len(x)))
    xs, ys = x[drawn], y[drawn]
    centred = xs - xs.mean(axis=1, keepdims=True)
    spread = (centred**2).sum(axis=1)
    usable = spread > 1e-12 * float(np.ptp(x)) ** 2
    slopes = (centred * ys).sum(axis=1)[usable] / spread[usable]
    low, high = np.quantile(slopes, TAILS)
    return float(low), float(high)


@dataclass(frozen=True)
class Fall:
    """Exponential and power-law fits to the logarithm of a falling series.

    - `rate` of C exp(−rate · t), `power` of C t^−power.
    - `exponential`, `algebraic`: the residual standard deviation of either fit.
    """

    rate: float
    power: float
    exponential: float
    algebraic: float

    @property
    def is_exponential(self) -> bool:
        """Whether the exponential has the smaller residual."""
        return self.exponential < self.algebraic


def fit_fall(times: np.ndarray, values: np.ndarray) -> Fall:
    """Both fits, with equal weight for every record; NaN where a value is not > 0."""
    if not (np.isfinite(values).all() and (values > 0).all()):
        return Fall(np.nan, np.nan, np.nan, np.nan)
    line, power = semi_log_line(times, values, log="y"), log_log_line(times, values)
    return Fall(-line.slope, -power.slope, line.noise, power.noise)


def _check_points(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape or len(x) < 3:
        raise ValueError(
            f"x has shape {x.shape} and y {y.shape}: give two lists of one length, "
            "with at least 3 points."
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("Some points are not finite: leave those out first.")
    if np.ptp(x) == 0.0:
        raise ValueError(f"All x are {x[0]}: a slope needs two different ones.")
    return x, y


def _logarithm(name: str, values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if not (values > 0.0).all():
        raise ValueError(
            f"{name} has values that are not positive ({values.min()} is the least): "
            "a logarithmic fit cannot use them."
        )
    return np.log(values)
