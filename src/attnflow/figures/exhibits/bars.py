"""Bars: numbers of named things side by side, such as attention by token."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits.panels import AbstractPanel
from attnflow.schema.declarations import Evidence
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class Bars(AbstractPanel):
    """Bars side by side in groups, and a line of other numbers to compare them with.

    **Arguments:**

    - `of`: evidence → a table of one dim, whose coord `group` names the group of each
      bar. Where it is no number, its place stays empty.
    - `line`: evidence → the numbers to compare with.
    - `kinds`: by group, what sort of quantity it is, which gives the colour.
    """

    of: Callable[[Evidence], xr.DataArray]
    kinds: Mapping[str, str]
    line: Callable[[Evidence], xr.DataArray] | None = None
    ticks: Mapping[Literal["x", "y"], int] = field(default_factory=lambda: {"y": 5})
    names: str | Mapping[str, Any] = ""

    def table(self, evidence: Evidence) -> dict[str, xr.DataArray]:
        """The heights of `bars`, and of the `line` where there is one."""
        lines = {} if self.line is None else {"line": self.line(evidence)}
        return {"bars": self.of(evidence)} | lines

    def draw(self, ax: Axes, table: Mapping[str, xr.DataArray]) -> None:
        """Bars in the colours of their groups, and the line as steps."""
        theme = figures.current_theme()
        for group, places in _places(table["bars"]).items():
            bars = table["bars"].values[places]
            ax.bar(places, bars, 0.84, color=theme.colour(self.kinds[group]), lw=0)
            if "line" in table:
                line = table["line"].values[places]
                ax.step(places, line, where="mid", color=theme.ink, lw=0.9)

    def set_axes(self, ax: Axes, table: Mapping[str, xr.DataArray]) -> None:
        """As of any panel, with the names of groups below their bars."""
        AbstractPanel.set_axes(self, ax, table)
        groups = _places(table["bars"])
        ax.set_xlim(-1.2, len(table["bars"]) + 0.2)
        ax.set_xticks([places.mean() for places in groups.values()], list(groups))
        ax.tick_params(axis="x", length=0, labelsize=9)

    def values(self, table: Mapping[str, xr.DataArray]) -> dict[str, float]:
        """The height of each bar, by its name."""
        bars = table["bars"]
        pairs = zip(bars[bars.dims[0]].values, bars.values, strict=True)
        return {str(name): float(height) for name, height in pairs}


def _places(bars: xr.DataArray) -> dict[str, np.ndarray]:
    """By group, where its bars stand."""
    groups = bars["group"].values
    return {
        str(group): np.flatnonzero(groups == group) for group in dict.fromkeys(groups)
    }
