"""Curves: numbers against a parameter, as points with their spread over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits.panels import AbstractPanel, tabulate
from attnflow.schema.declarations import Evidence
from attnflow.schema.dims import SEED
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Bars = Literal["deviation", "range", "quartiles", "none"]


@dataclass(frozen=True)
class Curve:
    """Numbers against a parameter.

    **Arguments:**

    - `name`: of the curve in the panel's table, and on the picture unless `label`,
      which may be a function of its numbers.
    - `of`: evidence → a table of one dim, whose coord is the parameter, and perhaps
      `seed`; `None` where the evidence, as of smaller runs, has no such curve. A curve
      of which no point is known is not drawn.
    - `kind`, `shade`: what sort of quantity it is, which gives the colour; `ramp`: the
      number among how many of one kind, from pale to full.
    - `aside`: how far its points stand aside, so that bars do not overlap; on a
      logarithmic axis in its logarithm.
    - `style`: of points and their line, for `Axes.plot`.
    """

    name: str
    of: Callable[[Evidence], xr.DataArray | None]
    label: str | Callable[[xr.DataArray], str] | None = None
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
        """The numbers of each curve that there is, by its name."""
        tables = {curve.name: curve.of(evidence) for curve in self.curves}
        return {name: rows for name, rows in tables.items() if rows is not None}

    def draw(self, ax: Axes, table: Mapping[str, xr.DataArray]) -> None:
        """Points at the means, joined, and bars."""
        for curve in self.curves:
            if curve.name in table:
                self._draw_curve(ax, curve, table[curve.name])
        # Whole points at both ends.
        ax.margins(x=0.05)

    def _draw_curve(self, ax: Axes, curve: Curve, rows: xr.DataArray) -> None:
        theme = figures.current_theme()
        colour = theme.colour(curve.kind, curve.shade)
        if curve.ramp is not None:
            colour = theme.ramp(curve.kind, curve.ramp[1])[curve.ramp[0]]
        x = parameter(rows).values.astype(float)
        x = x * np.exp(curve.aside) if self.scales[0] == "log" else x + curve.aside
        heights = middle(rows, self.bars)
        if not (np.isfinite(x) & np.isfinite(heights)).any():
            return
        usual = {"color": colour, "marker": "o", "ms": 5, "zorder": 3}
        label = curve.name if curve.label is None else curve.label
        label = label(rows) if callable(label) else label
        style = {**usual, **curve.style}
        ax.plot(x, heights, label=figures.typeset(label), **style)
        if SEED in rows.dims and rows.sizes[SEED] > 1 and self.bars != "none":
            ax.vlines(x, *spread(rows, self.bars), color=colour, lw=1.4, zorder=2)

    def set_axes(self, ax: Axes, table: Mapping[str, xr.DataArray]) -> None:
        """As of any panel, with the parameter's values as ticks where asked for."""
        AbstractPanel.set_axes(self, ax, table)
        if self.at_points:
            places = np.unique([x for t in table.values() for x in parameter(t).values])
            ax.set_xticks(places, [figures.number(place) for place in places])
            ax.minorticks_off()

    def values(self, table: Mapping[str, xr.DataArray]) -> dict[str, dict[str, float]]:
        """What is drawn, by curve and parameter."""
        return {
            name: tabulate(xr.DataArray(middle(rows, self.bars), [parameter(rows)]))
            for name, rows in table.items()
        }


def family(
    of: Callable[[Evidence], xr.DataArray],
    along: str,
    values: Sequence[float],
    *,
    name: str,
    symbol: str = "",
    kind: str = "other",
    apart: float = 0.0,
    style: Mapping[str, Any] | None = None,
) -> tuple[Curve, ...]:
    """A curve for each value along a dim of a table, from pale to full.

    **Arguments:**

    - `values`: all of them; those that the evidence lacks have no curve.
    - `name`: of what varies, in the table; `symbol`: in mathematics, on the picture.
    - `apart`: how far the points of neighbours stand apart.
    """

    def curve(number: int, value: float) -> Curve:
        def member(evidence: Evidence) -> xr.DataArray | None:
            rows = of(evidence)
            there = value in rows[along].values
            return rows.sel({along: value}, drop=True) if there else None

        return Curve(
            f"{name} = {value:g}",
            member,
            label=f"${symbol} = {value:g}$" if symbol else "",
            kind=kind,
            ramp=(number, len(values)),
            aside=apart * (number - (len(values) - 1) / 2),
            style=style or {},
        )

    return tuple(curve(*item) for item in enumerate(values))


def over_runs(
    evidence: Evidence,
    setting: str,
    runs: Mapping[float, str],
    of: Callable[[xr.Dataset], float | xr.DataArray],
) -> xr.DataArray:
    """A number of each run, or one for each seed, by the setting in which they differ.

    `runs` are their names in the evidence, by the values of the setting.
    """
    rows = [xr.DataArray(of(evidence[name])) for name in runs.values()]
    rows = [row.reset_coords(drop=True) for row in rows]
    return xr.concat(rows, setting).assign_coords({setting: list(runs)})


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
