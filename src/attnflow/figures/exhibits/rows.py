"""Rows of dots: numbers of several settings, one row each, such as one dot per seed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits.panels import AbstractPanel
from attnflow.schema.declarations import Evidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
APART = 0.18
"""How far the outermost dots of a row are from its middle, in rows."""


@dataclass(frozen=True, kw_only=True)
class Rows(AbstractPanel):
    """Numbers of several settings side by side, one row each, the first at the top.

    **Arguments:**

    - `rows`: what each row is called, by its name in the table; empty texts beside a
      panel that has the names.
    - `of`: evidence → the numbers of each row.
    - `marks`: each number as a dot, or their quantiles of 5, 25, 50, 75, 95% as bars.
    - `lines`: by name, numbers to compare with.
    - `kind`: what sort of quantity it is, which gives the colour.
    """

    rows: Mapping[str, str]
    of: Callable[[Evidence], Mapping[str, np.ndarray]]
    marks: Literal["dots", "quantiles"] = "dots"
    lines: Mapping[str, float] = field(default_factory=dict[str, float])
    kind: str = "test"
    ticks: "Mapping[Literal['x', 'y'], int]" = field(default_factory=lambda: {"x": 5})
    names: str | Mapping[str, Any] = ""

    def table(self, evidence: Evidence) -> dict[str, np.ndarray]:
        """The numbers of each row."""
        return {name: np.asarray(row) for name, row in self.of(evidence).items()}

    def draw(self, ax: "Axes", table: Mapping[str, np.ndarray]) -> None:
        """Dots or bars, row by row, and the lines to compare with."""
        colour = figures.current_theme().colour(self.kind)
        for height, name in enumerate(self.rows):
            if self.marks == "dots":
                heights = height + np.linspace(-APART, APART, len(table[name]))
                _dots(ax, table[name], heights, colour)
            else:
                shares = np.quantile(table[name], QUANTILES)
                ax.plot(shares[[0, -1]], [height] * 2, color=colour, lw=1.2)
                ax.plot(shares[[1, -2]], [height] * 2, color=colour, lw=5, alpha=0.45)
                _dots(ax, shares[2:3], np.array([height]), colour)
        for name, place in self.lines.items():
            figures.mark_place(ax, place, name)
        ax.margins(x=0.06)
        figures.name_rows(ax, list(self.rows.values()))

    def values(self, table: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
        """Mean, least, median and largest of each row; NaN where one is."""
        statistics = {"mean": np.mean, "least": np.min, "median": np.median}
        statistics["largest"] = np.max
        return {
            name: {what: float(of(table[name])) for what, of in statistics.items()}
            for name in self.rows
        }


def _dots(ax: "Axes", x: np.ndarray, y: np.ndarray, colour: str) -> None:
    paper = figures.current_theme().paper
    ax.plot(x, y, color=colour, zorder=4, marker="o", ms=6, ls="", mec=paper)
