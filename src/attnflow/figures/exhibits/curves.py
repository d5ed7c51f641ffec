"""Curves: numbers against a parameter, as points with their spread over seeds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from attnflow import figures
from attnflow.figures.exhibits.panels import AbstractPanel
from attnflow.schema.declarations import Evidence
from attnflow.schema.dims import SEED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Bars = Literal["deviation", "range", "quartiles", "none"]


@dataclass(frozen=True)
class Curve:
    """Numbers against a parameter.

    **Arguments:**

    - `name`: of the curve in the panel's table, and on the picture unless `label`.
    - `of`: evidence → a table of one dim, whose coord is the parameter, and perhaps
      `seed`.
    - `kind`, `shade`: what sort of quantity it is, which gives the colour; `ramp`: the
      number among how many of one kind, from pale to full.
    - `aside`: how far its points stand aside, so that bars do not overlap.
    - `style`: of points and their line, for `Axes.plot`.
    """

    name: str
    of: Callable[[Evidence], xr.DataArray]
    label: str | None = None
    kind: str = "other"
    shade: int = 0
    ramp: tuple[int, int] | None = None
    aside: float = 0.0
    style: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True)
class Curves(AbstractPanel):
    """Curves of numbers against a parameter: means over seeds, joined, with bars.

    **Arguments:**

    - `bars`: one deviation to both sides, the range, quartiles, or none.
    - `at_points`: numbers at the parameter's own values alone.
    """

    curves: tuple[Curve, ...]
    bars: Bars = "deviation"
    at_points: bool = False

    def table(self, evidence: Evidence) -> dict[str, xr.DataArray]:
        """The numbers of each curve, by its name."""
        return {curve.name: curve.of(evidence) for curve in self.curves}

    def draw(self, ax: "Axes", table: Mapping[str, xr.DataArray]) -> None:
        """Points at the means, joined, and bars."""
        for curve in self.curves:
            self._draw_curve(ax, curve, table[curve.name])
        # Whole points at both ends.
        ax.margins(x=0.05)

    def _draw_curve(self, ax: "Axes", curve: Curve, rows: xr.DataArray) -> None:
        theme = figures.current_theme()
        colour = theme.colour(curve.kind, curve.shade)
        if curve.ramp is not None:
            colour = theme.ramp(curve.kind, curve.ramp[1])[curve.ramp[0]]
        x = parameter(rows).values.astype(float) + curve.aside
        usual = {"color": colour, "marker": "o", "ms": 5, "zorder": 3}
        label = curve.name if curve.label is None else curve.label
        style = {**usual, **curve.style}
        ax.plot(x, middle(rows, self.bars), label=figures.typeset(label), **style)
        if SEED in rows.dims and rows.sizes[SEED] > 1 and self.bars != "none":
            ax.vlines(x, *spread(rows, self.bars), color=colour, lw=1.4, zorder=2)

    def set_axes(self, ax: "Axes", table: Mapping[str, xr.DataArray]) -> None:
        """As of any panel, with the parameter's values as ticks where asked for."""
        AbstractPanel.set_axes(self, ax, table)
        if self.at_points:
            places = np.unique([x for t in table.values() for x in parameter(t).values])
            ax.set_xticks(places, [figures.number(place) for place in places])
            ax.minorticks_off()

    def values(self, table: Mapping[str, xr.DataArray]) -> dict[str, dict[str, float]]:
        """What is drawn, by curve and parameter."""
        return {
            name: {
                f"{parameter(rows).name} = {place:g}": float(number)
                for place, number in zip(
                    parameter(rows).values, middle(rows, self.bars), strict=True
                )
            }
            for name, rows in table.items()
        }


def parameter(rows: xr.DataArray) -> xr.DataArray:
    """The coord of a curve's one dim beside `seed`."""
    dims = [dim for dim in rows.dims if dim != SEED]
    if len(dims) != 1:
        raise ValueError(f"A curve has one dim beside 'seed', not {rows.dims}.")
    return rows[dims[0]]


def middle(rows: xr.DataArray, bars: Bars) -> np.ndarray:
    """Means over seeds, or medians where bars are of quantiles; NaN where one is."""
    if SEED not in rows.dims:
        return rows.values
    if bars in ("deviation", "none"):
        return rows.mean(SEED, skipna=False).values
    return rows.median(SEED, skipna=False).values


def spread(rows: xr.DataArray, bars: Bars) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the bars."""
    if bars == "deviation":
        mean = rows.mean(SEED, skipna=False)
        deviation = rows.std(SEED, skipna=False, ddof=1)
        return (mean - deviation).values, (mean + deviation).values
    ends = (0.0, 1.0) if bars == "range" else (0.25, 0.75)
    low, high = rows.quantile(ends, SEED, skipna=False).values
    return low, high
