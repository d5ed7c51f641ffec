"""Figures 11 and 12: recall of distinct tokens above a threshold of attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.scansnap._types import Numbers
from attnflow.papers.scansnap.figures.figure6 import NOISE
from attnflow.papers.scansnap.figures.panels import named, queries_title
from attnflow.papers.scansnap.figures.runs import (
    GRID,
    PANELS,
    RATIOS,
    SCORE_RATES,
    SYN_MEDIUM_SILENT,
    WHOLE,
    panel_name,
)
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.dims import SEED
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HIGH = 2.0
"""The threshold, in 1/M, at which descents are compared."""
LOW = 0.2
"""Upper bound on recall at the largest threshold."""
FULL = {"ratio": RATIOS, "score_rate": SCORE_RATES}
"""All values along each axis, which give the colours."""


def by_seed(evidence: Evidence, queries: int, axis: str, fixed: float) -> xr.DataArray:
    """Recall by seed, by the axis that varies and by threshold."""
    other = {"ratio": "score_rate", "score_rate": "ratio"}[axis]
    table = evidence[panel_name(queries)]["recall"].isel(queries=0)
    return table.sel({other: fixed}, drop=True).transpose(SEED, axis, "threshold")


def recalls(evidence: Evidence, queries: int, axis: str, fixed: float) -> xr.DataArray:
    """Mean recall over seeds, by the axis that varies and by threshold."""
    return by_seed(evidence, queries, axis, fixed).mean(SEED)


def _drawing(axis: str, fixed: float, symbol: str) -> Callable[[Evidence], Figure]:
    def draw(evidence: Evidence) -> Figure:
        """A panel for each number of queries."""
        titles = list(map(queries_title, PANELS))
        figure, grid = figures.panels(
            1, len(PANELS), titles=titles, size=(14.4, 4.1), share_values=True
        )
        for ax, queries in zip(grid[0], PANELS, strict=True):
            _panel(ax, recalls(evidence, queries, axis, fixed), symbol)
        grid[0, 0].set_ylabel("share of distinct tokens above threshold")
        grid[0, PANELS.index(WHOLE)].legend(loc="upper right")
        return figure

    return draw


def _panel(ax: Axes, table: xr.DataArray, symbol: str) -> None:
    theme, axis = figures.current_theme(), str(table.dims[0])
    ramp = dict(zip(FULL[axis], theme.ramp("easy", len(FULL[axis])), strict=True))
    for setting, row in zip(table[axis].values, table.values, strict=True):
        label = f"${symbol} = {setting:g}$"
        colour = ramp[setting]
        ax.plot(table["threshold"], row, marker="o", ms=3.5, color=colour, label=label)
    ax.axvline(1.0, color=theme.muted, lw=0.8, ls=(0, (1, 2)), zorder=1)
    ticks = (0.5, 1, 2, 5)
    ax.set(xscale="log", xlabel=r"threshold of attention, in $1/M$", ylim=(0, 1.04))
    ax.set_xlim(0.47, 5.3)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()


def _values(axis: str, fixed: float, name: str) -> Callable[[Evidence], Numbers]:
    def values(evidence: Evidence) -> Numbers:
        """Recall by the axis and by threshold, panel by panel."""
        numbers: dict[str, float | Numbers] = {}
        for queries in PANELS:
            table = recalls(evidence, queries, axis, fixed)
            levels = [f"above {level:g}/M" for level in table["threshold"].values]
            rows = zip(table[axis].values, table.values, strict=True)
            numbers[panel_name(queries)] = {
                f"{name} = {at:g}": named(levels, row) for at, row in rows
            }
        return numbers

    return values


def high(evidence: Evidence, axis: str, fixed: float) -> dict[int, xr.DataArray]:
    """Recall at the high threshold along the axis, by panel."""
    tables = {queries: recalls(evidence, queries, axis, fixed) for queries in PANELS}
    return {queries: table.sel(threshold=HIGH) for queries, table in tables.items()}


def falling(evidence: Evidence, axis: str, fixed: float) -> bool:
    """Whether recall never rises with the threshold, and ends low."""
    tables = [recalls(evidence, queries, axis, fixed) for queries in PANELS]
    return all(
        bool((table.diff("threshold") <= 0).all() and (table[:, -1] < LOW).all())
        for table in tables
    )


def rises(
    evidence: Evidence, queries: int, axis: str, fixed: float, *, sign: int
) -> bool:
    """Whether recall at the high threshold rises, or falls, all along the axis.

    But for noise of two standard errors, as for Figure 6.
    """
    table = by_seed(evidence, queries, axis, fixed).sel(threshold=HIGH).values
    errors = table.std(axis=0, ddof=1) / np.sqrt(len(table))
    steps = sign * np.diff(table.mean(axis=0))
    return bool((steps > -NOISE * errors[1:]).all() and steps.sum() > 0)


SLOWER_RATIO = (
    "the smaller η_Y/η_Z is, the more slowly recall falls: at 2/M it is the larger, in "
    "every panel, but for noise of two standard errors"
)


def stated_ratio(evidence: Evidence) -> dict[str, Sentences]:
    """The paper's sentence on Figure 11."""
    slower = all(rises(evidence, q, "ratio", 1.0, sign=-1) for q in PANELS)
    return {"Caption of Figure 11": {SLOWER_RATIO: slower}}


def checks_ratio(evidence: Evidence) -> dict[str, bool]:
    """Sentences of our own on Figure 11."""
    late = high(evidence, "ratio", 1.0)
    one_query, ten_queries = late[PANELS[0]], late[PANELS[-1]]
    return {
        "recall falls with the threshold": falling(evidence, "ratio", 1.0),
        "with a small ratio it falls more slowly: at 2/M it is larger at ratio 2 than "
        "at larger ones, in every panel": all(
            bool(
                (row.sel(ratio=2.0, drop=True) > row.sel(ratio=row["ratio"] > 2)).all()
            )
            for row in late.values()
        ),
        "with one query ratio 1 is the slowest": bool(
            (
                one_query.sel(ratio=1.0, drop=True)
                > one_query.sel(ratio=one_query["ratio"] > 1)
            ).all()
        ),
        "with ten queries ratio 1 is not: ratio 2 is slower, as in Figure 6": bool(
            ten_queries.sel(ratio=1.0, drop=True)
            < ten_queries.sel(ratio=2.0, drop=True)
        ),
    }


SLOWER_RATE = (
    "the larger η_Z is, the more slowly recall falls: at 2/M it is the larger, in "
    "every panel, but for noise of two standard errors"
)


def stated_rate(evidence: Evidence) -> dict[str, Sentences]:
    """The paper's sentence on Figure 12."""
    slower = all(rises(evidence, q, "score_rate", 2.0, sign=1) for q in PANELS)
    return {"Caption of Figure 12": {SLOWER_RATE: slower}}


def checks_rate(evidence: Evidence) -> dict[str, bool]:
    """Sentences of our own on Figure 12."""
    late = high(evidence, "score_rate", 2.0)
    return {
        "recall falls with the threshold": falling(evidence, "score_rate", 2.0),
        "with a large η_Z it falls more slowly: at 2/M it is larger at η_Z = 3 than "
        "at 1 and below, in every panel": all(
            bool(
                (
                    row.isel(score_rate=-1, drop=True)
                    > row.sel(score_rate=row["score_rate"] <= 1)
                ).all()
            )
            for row in late.values()
        ),
        "with several queries recall at 2/M grows with η_Z throughout": all(
            bool((row.diff("score_rate") > 0).all())
            for queries, row in late.items()
            if queries > 1
        ),
    }


_CAPTION = (
    "System J: the runs of Figure 6, one panel for each number of queries. Recall is "
    "the share of a class's distinct tokens whose entry in the softmax of their "
    "query's scores, over all M tokens, is above a threshold in units of 1/M; mean "
    "over classes and 10 seeds. "
)
_SILENT = (
    *SYN_MEDIUM_SILENT,
    "What attention is compared with the threshold is not stated: the softmax of the "
    "scores over the vocabulary. Thresholds are ours.",
)

FIGURE11 = Exhibit(
    id="figure11",
    kind="figure",
    title="Figure 11: recall against threshold, by η_Y/η_Z",
    caption=_CAPTION
    + (
        "η_Z = 1. A smaller ratio descends more slowly from ratio 2 on; as in Figure "
        "6, ratio 1 is beyond a turning point with many queries."
    ),
    needs=GRID,
    draw=_drawing("ratio", 1.0, r"\eta_Y/\eta_Z"),
    values=_values("ratio", 1.0, "η_Y/η_Z"),
    stated=stated_ratio,
    checks=checks_ratio,
    differs={
        SLOWER_RATIO: "with ten queries recall falls more slowly at ratio 2 than at 1, "
        "as the threshold that Section 8 names for Figure 6 would have it"
    },
    silent=_SILENT,
)
FIGURE12 = Exhibit(
    id="figure12",
    kind="figure",
    title="Figure 12: recall against threshold, by η_Z",
    caption=_CAPTION + "η_Y/η_Z = 2. A larger η_Z descends more slowly.",
    needs=GRID,
    draw=_drawing("score_rate", 2.0, r"\eta_Z"),
    values=_values("score_rate", 2.0, "η_Z"),
    stated=stated_rate,
    checks=checks_rate,
    silent=_SILENT,
)
