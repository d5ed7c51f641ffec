"""Asymptotic statements: what was measured along a ladder of sizes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from attnflow.figures.axes import number_axis
from attnflow.figures.curves import theory
from attnflow.figures.names import typeset
from attnflow.figures.style import current_theme, styled


@dataclass(frozen=True)
class Fit:
    """A least-squares line through the logarithms: `y = exp(intercept) x^slope`."""

    slope: float
    intercept: float


def fit_power(size: Sequence[float], measured: Sequence[float]) -> Fit:
    """The power law nearest to the points, on logarithmic axes."""
    slope, intercept = np.polyfit(np.log(size), np.log(measured), 1)
    return Fit(float(slope), float(intercept))


@styled
def ladder_plot(
    ax: Axes,
    size: Sequence[float],
    measured: Sequence[float],
    *,
    predicted: Sequence[float] | None = None,
    expected_slope: float | None = None,
    low: Sequence[float] | None = None,
    high: Sequence[float] | None = None,
    kind: str = "signal",
    label: str = "measured",
    predicted_label: str = "predicted",
) -> Fit:
    """Points on logarithmic axes, the prediction dashed, the fitted slope as text.

    **Arguments:**

    - `size`, `measured`: positive numbers, one per rung.
    - `predicted`: the paper's formula at the same rungs.
    - `expected_slope`: printed beside the fitted one.
    - `low`, `high`: the ends of error bars, such as quartiles over seeds.
    """
    colour = current_theme().colour(kind)
    if low is not None and high is not None:
        ax.vlines(size, low, high, color=colour, lw=1.2, alpha=0.6)
    style = {"marker": "o", "ms": 5.5, "ls": "", "mec": current_theme().paper}
    ax.plot(size, measured, color=colour, zorder=4, label=label, **style)
    if predicted is not None:
        theory(ax, size, predicted, label=predicted_label)
    ax.set(xscale="log", yscale="log")
    ax.margins(x=0.06, y=0.12)
    number_axis(ax, "x")
    number_axis(ax, "y")
    fit = fit_power(size, measured)
    _write_slope(ax, fit, expected_slope, colour)
    return fit


def _write_slope(ax: Axes, fit: Fit, expected: float | None, colour: str) -> None:
    """In the corner that a line of this slope leaves empty."""
    text = f"slope {fit.slope:.3f}"
    if expected is not None:
        text += f"  (stated {expected:g})"
    x, ha = (0.04, "left") if fit.slope > 0 else (0.96, "right")
    place = {"transform": ax.transAxes, "ha": ha, "va": "top"}
    ax.text(x, 0.96, typeset(text.replace("-", "−")), color=colour, **place)
