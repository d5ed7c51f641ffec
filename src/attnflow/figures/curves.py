"""Curves over time, and points along ladders of sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from attnflow.claims.stages import select
from attnflow.figures.axes import number_axis, selector_label, typeset
from attnflow.figures.style import current_theme, styled
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr

Band = Literal["range", "quartiles", "seeds", "none"]
Role = Literal["finite", "limit"]
Middle = Literal["median", "mean", "first"]
Dashes = str | tuple[float, tuple[float, ...]]
Rungs = Sequence[float] | np.ndarray
"""Numbers, one per rung of a ladder."""

# More points than this are below the width of a line even on a whole slide.
POINTS = 500
DASHES = (0, (4, 2.2))


def curve(run: xr.Dataset, selector: str | xr.DataArray) -> xr.DataArray:
    """One series of a run with dims `(seed, time)`; NaN where nothing was recorded.

    `selector` is written as `score[+,c1,v1]`, or is such a series already.
    """
    values = select(run, selector) if isinstance(selector, str) else selector
    extra = set(values.dims) - {SEED, TIME}
    if extra or TIME not in values.dims:
        raise ValueError(
            f"{selector if isinstance(selector, str) else values.name!r} has dims "
            f"{values.dims}; a curve has only 'seed' and 'time'. Select one entry of "
            f"{sorted(map(str, extra)) or 'a recorded series'}."
        )
    if SEED not in values.dims:
        values = values.expand_dims(SEED)
    values = values.transpose(SEED, TIME)
    return values.where(run["recorded"]) if "recorded" in run else values


@styled
def series(
    ax: Axes,
    run: xr.Dataset,
    selector: str | xr.DataArray,
    *,
    kind: str = "other",
    label: str | None = None,
    shade: int = 0,
    band: Band = "range",
    role: Role = "finite",
    colour: str | None = None,
    middle: Middle = "median",
    dashes: Dashes = "-",
) -> Line2D:
    """Draws the median over seeds of one series, with its spread as a band.

    **Arguments:**

    - `selector`: such as `score[+,c1,v1]`, or a DataArray `(seed, time)`.
    - `kind`: what sort of quantity it is, which gives the colour (`palette`);
      `shade` tells members of a kind apart.
    - `label`: for `label_ends`; token names in it are typeset; `""` for none, and
      without it the selector's tokens.
    - `band`: from the least to the largest seed, between quartiles, each seed as a
      thin line, or nothing.
    - `role`: `limit` draws the infinite-width line, thick, dashed and in ink.
    - `colour`: instead of the kind's, for a colour of a `ramp`.
    - `middle`: draw the mean over seeds instead, or the first seed.
    - `dashes`: of the line, and of those of single seeds.
    """
    values = curve(run, selector)
    # Times at which no seed was recorded go: their median warns.
    values = values.isel(time=values.notnull().any(SEED).values)
    at = thin(values)
    times = at[TIME].values
    heights = _middle(at, middle).values
    if role == "limit":
        kind, band = "limit", "none"
    colour = colour or current_theme().colour(kind, shade)
    if values.sizes[SEED] > 1 and values.sizes[TIME]:
        _spread(ax, at, band, colour, dashes)
    (line,) = ax.plot(times, heights, color=colour, ls=dashes, zorder=3)
    if role == "limit":
        # Below the thin lines: what lies on the limit would else not be seen.
        line.set(linestyle=DASHES, linewidth=2.6, zorder=2.5)
    if label is None and isinstance(selector, str):
        label = selector_label(selector)
    line.set_label(typeset(label or "") or "_nolegend_")
    return line


def _middle(values: xr.DataArray, middle: Middle) -> xr.DataArray:
    if middle == "first":
        return values.isel({SEED: 0})
    return values.median(SEED) if middle == "median" else values.mean(SEED)


def thin(values: xr.DataArray) -> xr.DataArray:
    """About `POINTS` times: even on a linear and on a logarithmic axis, and by record.

    Where records are further and further apart, these are three kinds of evenness.
    """
    count = values.sizes[TIME]
    if count <= POINTS:
        return values
    even = np.linspace(0, count - 1, POINTS // 2)
    early = np.geomspace(1, count, POINTS // 2) - 1
    times = np.asarray(values[TIME].values, float)
    linear = np.linspace(times[0], times[-1], POINTS // 2)
    nearest = np.interp(linear, times, np.arange(count))
    index = np.unique(np.concatenate([even, early, nearest]).round().astype(int))
    return values.isel(time=index)


def _spread(
    ax: Axes, values: xr.DataArray, band: Band, colour: str, dashes: Dashes
) -> None:
    times = values[TIME].values
    if band == "seeds":
        thin_lines = {"lw": 0.6, "alpha": 0.55, "ls": dashes, "zorder": 2}
        ax.plot(times, values.T.values, color=colour, **thin_lines)
    elif band != "none":
        ends = {"range": (0.0, 1.0), "quartiles": (0.25, 0.75)}[band]
        low, high = values.quantile(ends, dim=SEED).values
        ax.fill_between(times, low, high, color=colour, alpha=0.18, lw=0, zorder=1)


@styled
def theory(ax: Axes, x: npt.ArrayLike, y: npt.ArrayLike, *, label: str = "") -> Line2D:
    """A formula's curve: thin, dashed and in ink, above what was measured."""
    colour = current_theme().colour("theory")
    (line,) = ax.plot(np.asarray(x), np.asarray(y), color=colour, lw=1.1, zorder=5)
    line.set(linestyle=DASHES, label=typeset(label) or "_nolegend_")
    return line


@styled
def reference(ax: Axes, value: float, label: str = "") -> Line2D:
    """A level to compare with, such as log 2, named at the right just above it."""
    theme = current_theme()
    line = ax.axhline(value, color=theme.muted, lw=0.8, ls=(0, (1, 2)), zorder=1)
    ax.annotate(
        typeset(label),
        (1.0, value),
        xycoords=ax.get_yaxis_transform(),
        xytext=(-3, 2.5),
        textcoords="offset points",
        ha="right",
        va="bottom",
        size="small",
        color=theme.muted,
    )
    return line


class Fit(NamedTuple):
    """A least-squares line through the logarithms: `y = exp(intercept) x^slope`."""

    slope: float
    intercept: float


def fit_power(size: Rungs, measured: Rungs) -> Fit:
    """The power law nearest to the points, on logarithmic axes."""
    return Fit(*map(float, np.polyfit(np.log(size), np.log(measured), 1)))


@styled
def ladder_plot(
    ax: Axes,
    size: Rungs,
    measured: Rungs,
    *,
    predicted: Rungs | None = None,
    expected_slope: float | None = None,
    low: Rungs | None = None,
    high: Rungs | None = None,
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
    text = f"slope {round(fit.slope, 3) + 0.0:.3f}"  # no minus before 0.000
    if expected_slope is not None:
        text += f"  (stated {expected_slope:g})"
    # The corner that a line of this slope leaves empty.
    x, side = (0.04, "left") if fit.slope > 0 else (0.96, "right")
    corner = {"transform": ax.transAxes, "ha": side, "va": "top"}
    ax.text(x, 0.96, typeset(text.replace("-", "−")), color=colour, **corner)
    return fit


def deviation(values: np.ndarray) -> np.ndarray:
    """The standard deviation over runs, which are the last axis; 0 of a single run."""
    if values.shape[-1] < 2:
        return np.zeros(values.shape[:-1])
    return values.std(axis=-1, ddof=1)


def error_bars(
    ax: Axes, x: Sequence[float], values: np.ndarray, *, kind: str, label: str
) -> None:
    """Means over runs joined by a line, and their deviations as bars.

    **Arguments:**

    - `values`: `(points, runs)`.
    - `kind`: what is shown, which decides the colour.
    """
    ax.errorbar(
        x,
        values.mean(axis=-1),
        deviation(values),
        color=current_theme().colour(kind),
        marker="o",
        capsize=3,
        label=label,
    )
