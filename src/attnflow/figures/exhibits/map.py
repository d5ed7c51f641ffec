"""A map: a number over two settings in colour, under curves and its boundary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits.panels import AbstractPanel, tabulate
from attnflow.figures.swept import Curve, Level
from attnflow.schema import mean_over_seeds
from attnflow.schema.declarations import Evidence
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Limits = tuple[float, float]
SWITCH = 0.6
"""Share of the colour scale from which texts are written in the paper's colour."""


@dataclass(frozen=True, kw_only=True)
class Map(AbstractPanel):
    """A table over two settings, the first upwards, its mean where there are seeds.

    **Arguments:**

    - `of`: evidence → the table. Where it is no number, the cell stays empty.
    - `shown`: what is coloured, where that is not the mean: a function of the table.
    - `kind`: what sort of quantity it is, which gives the full colour; `limits`: the
      values of the palest and the fullest colour, or a function of what is coloured;
      the least and the largest without it.
    - `texts`: table → a text for each cell.
    - `bar`: what the scale of colours is called; none is drawn without it.
    - `level`: where the map is cut, and how its boundary is fitted; `curves`: that
      theory draws on it.
    - `at_cells`: axes whose numbers stand at cells alone: `x`, `y`, both or none.
    """

    of: Callable[[Evidence], xr.DataArray]
    shown: Callable[[xr.DataArray], xr.DataArray] = mean_over_seeds
    kind: str = "test"
    limits: Limits | Callable[[xr.DataArray], Limits] | None = None
    texts: Callable[[xr.DataArray], np.ndarray] | None = None
    bar: str = ""
    level: Level | None = None
    curves: tuple[Curve, ...] = ()
    at_cells: str = ""
    names: str | Mapping[str, Any] = ""

    def table(self, evidence: Evidence) -> xr.DataArray:
        """The numbers over both settings, and perhaps seeds."""
        return self.of(evidence)

    def draw(self, ax: Axes, table: xr.DataArray) -> None:
        """The cells in colour, with their texts, boundary and curves."""
        cells = self.shown(table)
        limits = self.limits or figures.limits_of(cells)
        limits = limits(cells) if callable(limits) else limits
        scales = self.scales[1], self.scales[0]
        mesh = figures.field(ax, cells, kind=self.kind, limits=limits, scales=scales)
        if self.texts is not None:
            self._write(ax, cells, self.texts(table), limits)
        if self.level is not None:
            self.level.draw(ax, table)
        for index, curve in enumerate(self.curves):
            figures.frontier(ax, curve.side, curve.label, index=index)
        if self.bar:
            figure = ax.get_figure(root=True)
            assert figure is not None
            figures.field_bar(figure, mesh, ax, self.bar)

    def _write(
        self, ax: Axes, cells: xr.DataArray, texts: np.ndarray, limits: Limits
    ) -> None:
        theme, (low, high) = figures.current_theme(), limits
        up, right = (cells[dim].values for dim in cells.dims)
        for (row, column), value in np.ndenumerate(cells.values):
            full = value > low + SWITCH * (high - low)
            colour = theme.paper if full else theme.ink
            place = float(right[column]), float(up[row])
            text = str(texts[row, column])
            ax.text(*place, text, ha="center", va="center", color=colour)

    def set_axes(self, ax: Axes, table: xr.DataArray) -> None:
        """As of any panel, with ticks at cells where asked for."""
        AbstractPanel.set_axes(self, ax, table)
        for dim, which in zip(self.shown(table).dims, "yx", strict=True):
            if which in self.at_cells:
                places = table[dim].values
                texts = [f"{place:g}" for place in places]
                getattr(ax, f"set_{which}ticks")(places, texts)
        ax.minorticks_off()
        ax.tick_params(length=0)

    def values(self, table: xr.DataArray) -> dict[str, dict[str, float]]:
        """What is coloured, by both settings."""
        return tabulate(self.shown(table))
