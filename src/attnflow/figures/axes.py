"""Panels with letters, and axes of time whose numbers can be read."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from attnflow.figures.names import typeset
from attnflow.figures.style import FULL_WIDTH, current_theme, styled
from attnflow.schema.dims import SEED, TIME

Scale = Literal["linear", "log"]

THIN_SPACE = "\u2009"


@styled
def panels(
    rows: int = 1,
    columns: int = 1,
    *,
    titles: Sequence[str] = (),
    size: tuple[float, float] | None = None,
    share_time: bool = False,
    share_values: bool = False,
) -> tuple[Figure, np.ndarray]:
    """A figure with a grid of panels, lettered (a), (b), … where there are several.

    **Arguments:**

    - `titles`: one per panel, row by row; token names in them are typeset.
    - `size`: inches; by default as wide as a slide, and panels of pleasant shape.

    **Returns:** the figure, and its axes as an array `(rows, columns)`.
    """
    size = size or (FULL_WIDTH * min(1.0, 0.3 + 0.35 * columns), 0.5 + 2.75 * rows)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(
        rows, columns, squeeze=False, sharex=share_time, sharey=share_values
    )
    for ax in grid.flat:
        number_axis(ax, "y")
    for place, title in enumerate(titles):
        letter = chr(ord("a") + place) if rows * columns > 1 else ""
        name_panel(grid.flat[place], title, letter=letter)
    return figure, grid


@styled
def name_panel(ax: Axes, title: str, *, letter: str = "") -> None:
    """A title at the left, after a letter in bold."""
    bold = f"$\\mathbf{{{letter}}}$   " if letter else ""
    ax.set_title(bold + typeset(title), color=current_theme().ink)


@styled
def time_axis(
    ax: Axes, run: xr.Dataset, *, scale: Scale = "linear", label: str | None = None
) -> None:
    """Names the time axis as the run does, and sets its scale and numbers.

    The axis spans the times that were recorded. The time 0 has no place on a
    logarithmic one, which begins at the first positive time.
    """
    times = np.asarray(run[TIME].values, float)
    if "recorded" in run:
        times = times[run["recorded"].any(SEED).values]
    ax.set_xlabel(label if label is not None else time_name(run))
    first = times[times > 0].min() if scale == "log" else times.min()
    ax.set_xscale(scale)
    ax.set_xlim(first, times.max())
    number_axis(ax, "x")


def time_name(run: xr.Dataset) -> str:
    """What the time of a run is called beside an axis: by its units."""
    units = str(run[TIME].attrs.get("units", "time"))
    return "time $t$" if units.startswith("time") else units


@styled
def number_axis(ax: Axes, which: Literal["x", "y"], *, ticks: int = 5) -> None:
    """Few ticks, with numbers such as 500, 20 000, 3×10⁶; powers of ten if log."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    if axis.get_scale() != "log":
        axis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(FuncFormatter(_plain))
        return
    low, high = sorted(axis.get_view_interval())
    # One power of ten alone gives no scale.
    narrow = np.floor(np.log10(high)) - np.ceil(np.log10(low)) < 1
    subs = (1.0, 2.0, 5.0) if narrow else (1.0,)
    axis.set_major_locator(LogLocator(subs=subs, numticks=ticks + 1))
    axis.set_major_formatter(FuncFormatter(_plain if narrow else _power))
    axis.set_minor_formatter(NullFormatter())


def _plain(value: float, _position: int | None = None) -> str:
    return number(value)


def _power(value: float, _position: int | None = None) -> str:
    exponent = round(np.log10(value))
    return {0: "1", 1: "10"}.get(exponent, f"$10^{{{exponent}}}$")


def number(value: float, digits: int = 4) -> str:
    r"""A number as it is printed: grouped by thin spaces, or with a power of ten.

    !!! example
        ```python
        number(2000)       # 2000
        number(20000)      # 20 000
        number(3.5e6)      # $3.5\times 10^{6}$
        number(-0.25)      # −0.25
        ```
    """
    if not np.isfinite(value):
        return "—"
    size = abs(value)
    if size >= 1e6 or 0 < size < 1e-3:
        exponent = int(np.floor(np.log10(size)))
        factor = f"{value / 10.0**exponent:.{digits}g}"
        return f"${factor}\\times 10^{{{exponent}}}$"
    if size >= 10_000:
        return f"{value:,.0f}".replace(",", THIN_SPACE).replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")
