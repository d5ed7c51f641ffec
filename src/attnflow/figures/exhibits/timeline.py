"""A timeline: when stages end, by formula and as detected, one row each."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from attnflow import figures
from attnflow.claims.stages import StageRow
from attnflow.figures.exhibits.panels import AbstractPanel
from attnflow.schema.declarations import Evidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from attnflow.figures.axes import Scale

Which = Literal["formula", "detected"]
Times = Mapping[str, Mapping[str, float]]
"""By stage: its `formula`, the `detected` median, the `least` and `largest` time, those
of them that are known."""
SIZES: dict[Which, int] = {"detected": 6, "formula": 10}
"""A dot that lies on its formula is visible inside the diamond."""


@dataclass(frozen=True, kw_only=True)
class Timeline(AbstractPanel):
    """Ends of stages: the formula a diamond, the detected time a dot, seeds a bar.

    **Arguments:**

    - `rows`: what each stage is called, by its name in the table, the first at the top.
    - `of`: evidence → times of the stages (`stage_times`).
    - `absent`: what is said at the edge where a time is unknown, by which of the two;
      of the stages in `unsaid` nothing.
    """

    rows: Mapping[str, str]
    of: Callable[[Evidence], Times]
    absent: Mapping[Which, str] = field(default_factory=dict)
    unsaid: frozenset[tuple[str, Which]] = frozenset()
    scales: "tuple[Scale, Scale]" = ("log", "linear")
    ticks: "Mapping[Literal['x', 'y'], int]" = field(default_factory=lambda: {"x": 8})
    names: str | Mapping[str, Any] = ""

    def table(self, evidence: Evidence) -> dict[str, dict[str, float]]:
        """The times of each stage that are known."""
        times = self.of(evidence)
        return {name: dict(times[name]) for name in self.rows}

    def draw(self, ax: "Axes", table: Times) -> None:
        """A row per stage."""
        colour = figures.current_theme().colour("signal")
        ax.set_xscale(self.scales[0])
        # Markers at the ends are not cut.
        ax.margins(x=0.08)
        for row, times in enumerate(table.values()):
            if "largest" in times:
                ends = [times["least"], times["largest"]]
                ax.plot(ends, [row] * 2, color=colour, lw=4, alpha=0.45)
            for which in SIZES:
                if which in times:
                    point(ax, times[which], row, which)
        figures.name_rows(ax, list(self.rows.values()))

    def set_axes(self, ax: "Axes", table: Times) -> None:
        """As of any panel, with remarks where a time is unknown."""
        AbstractPanel.set_axes(self, ax, table)
        for row, (stage, times) in enumerate(table.items()):
            for which, text in self.absent.items():
                if which not in times and (stage, which) not in self.unsaid:
                    _remark(ax, row, which, text)

    def values(self, table: Times) -> Times:
        """The times themselves."""
        return table


def stage_times(rows: Iterable[StageRow]) -> dict[str, dict[str, float]]:
    """Formula, median and range of each stage, those of them that are known."""
    times_by_stage = {}
    for row in rows:
        least, largest = row.spread or (None, None)
        times = {"formula": row.formula, "detected": row.detected}
        times |= {"least": least, "largest": largest}
        known = {what: time for what, time in times.items() if time is not None}
        times_by_stage[row.name] = known
    return times_by_stage


def point(ax: "Axes", x: float, y: float, which: Which) -> None:
    """A dot for a detected time, a larger open diamond for a formula."""
    theme, dot = figures.current_theme(), which == "detected"
    colour = theme.colour("signal" if dot else "theory")
    ax.plot(
        [x],
        [y],
        ls="",
        marker="o" if dot else "D",
        ms=SIZES[which],
        mew=1.4,
        mec=colour,
        mfc=colour if dot else theme.paper,
        zorder=5 if dot else 4,
    )


def _remark(ax: "Axes", row: int, which: Which, text: str) -> None:
    """A remark at the edge of its row: formulas at the left, detected at the right."""
    theme, left = figures.current_theme(), which == "formula"
    ax.annotate(
        f"← {text}" if left else f"{text} →",
        (0.0 if left else 1.0, row),
        xycoords=ax.get_yaxis_transform(),
        color=theme.colour("theory" if left else "signal"),
        bbox={"facecolor": theme.paper, "edgecolor": "none", "pad": 1.5},
        ha="left" if left else "right",
        va="center",
        size="small",
    )


def timeline_legend(figure: "Figure", ax: "Axes", formula: str, detected: str) -> None:
    """Names of diamonds and dots, above the figure."""
    for which in ("formula", "detected"):
        point(ax, np.nan, np.nan, which)
    handles = ax.get_lines()[-2:]
    figure.legend(handles, [formula, detected], loc="outside upper right", ncols=2)
