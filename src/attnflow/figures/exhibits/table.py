"""A table: named cells with their numbers, in colour, such as ours beside printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits.panels import AbstractPanel
from attnflow.schema.declarations import Evidence
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from attnflow.figures.scores import Colours

Limits = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Table(AbstractPanel):
    """Cells with names on both axes and a text in each.

    **Arguments:**

    - `of`: evidence → a table of two dims, the first downwards; its attrs may hold
      further tables for `texts`.
    - `texts`: table → the text of each cell; its number with `digits` without it.
    - `colours`, `limits`: as in `figures.heatmap`; limits may depend on the table.
    - `rows`, `columns`: names; those of the coords without them.
    """

    of: Callable[[Evidence], xr.DataArray]
    texts: Callable[[xr.DataArray], np.ndarray] | None = None
    colours: Colours = "mass"
    limits: Limits | Callable[[xr.DataArray], Limits] = (0.0, 1.0)
    digits: int = 2
    rows: Sequence[str] | None = None
    columns: Sequence[str] | None = None
    names: str | Mapping[str, Any] = ""

    def table(self, evidence: Evidence) -> xr.DataArray:
        """The numbers of the cells."""
        return self.of(evidence)

    def draw(self, ax: Axes, table: xr.DataArray) -> None:
        """The cells in colour, with their texts."""
        figures.heatmap(
            ax,
            table,
            colours=self.colours,
            limits=self.limits(table) if callable(self.limits) else self.limits,
            digits=self.digits,
            rows=self.rows,
            columns=self.columns,
        )
        if self.texts is not None:
            for cell, text in zip(ax.texts, self.texts(table).flat, strict=True):
                cell.set_text(str(text).replace("-", "−"))

    def set_axes(self, ax: Axes, table: xr.DataArray) -> None:
        """The names of the axes alone: cells have names instead of numbers."""
        if self.x is not None:
            ax.set_xlabel(self.x)
        if self.y:
            ax.set_ylabel(self.y)
        if self.finish is not None:
            self.finish(ax, table)

    def values(self, table: xr.DataArray) -> dict[str, dict[str, float]]:
        """The number of each cell, by row and column."""
        down, right = (table[dim].values for dim in table.dims)
        return {
            str(row): {
                str(column): float(table.values[i, j]) for j, column in enumerate(right)
            }
            for i, row in enumerate(down)
        }
