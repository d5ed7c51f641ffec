"""Figures 11 and 12: recall of distinct tokens above a threshold of attention."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from attnflow import figures
from attnflow.figures.exhibits import Curves, Panels, Tables, family
from attnflow.papers.scansnap.figures import runs
from attnflow.papers.scansnap.figures.figure6 import RATE, RATIO, cells, rises
from attnflow.papers.scansnap.figures.readings import named
from attnflow.schema.declarations import Evidence, Exhibit, Numbers
from attnflow.schema.dims import SEED
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HIGH = 2.0
"""The threshold, in 1/M, at which descents are compared."""
HIGHER = (1.5, 3.0)
"""Further ones, at which ends of a family are compared."""
LOW = 0.2
"""Upper bound on recall at the largest threshold."""
AXES = {
    RATIO: (r"\eta_Y/\eta_Z", runs.RATIOS, {RATE: 1.0}),
    RATE: (r"\eta_Z", runs.SCORE_RATES, {RATIO: 2.0}),
}
"""By what curves differ in: its symbol, its values, and where the other is held."""


def recalls(evidence: Evidence, queries: int, axis: str) -> xr.DataArray:
    """Recall by seed, by the axis that varies and by threshold."""
    return cells(evidence, queries, "recall").sel(AXES[axis][2], drop=True)


def _set_thresholds(ax: Axes, table: object) -> None:
    """Numbers at some thresholds, and a line at that of uniform attention."""
    ticks = (0.5, 1, 2, 5)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    figures.mark_place(ax, 1.0)


def _panel(queries: int, axis: str) -> Curves:
    symbol, settings, _ = AXES[axis]
    table = partial(recalls, queries=queries, axis=axis)
    style = {"symbol": symbol, "kind": "easy", "style": {"ms": 3.5}}
    return Curves(
        title=runs.panel_title(queries),
        name=runs.panel_name(queries),
        x=r"threshold of attention, in $1/M$",
        y="share of distinct tokens above threshold",
        scales=("log", "linear"),
        xlim=(0.47, 5.3),
        ylim=(0, 1.04),
        bars="none",
        curves=family(table, axis, settings, name=axis, **style),
        names="upper right" if queries == runs.WHOLE else "",
        finish=_set_thresholds,
    )


def _shows(axis: str) -> Panels:
    panels = tuple(_panel(queries, axis) for queries in runs.PANELS)
    return Panels(panels, size=(14.4, 4.1), share_values=True)


def _by_threshold(recall: xr.DataArray) -> dict[str, float]:
    levels = [f"above {level:g}/M" for level in recall["threshold"].values]
    return named(levels, recall.mean(SEED, skipna=False))


def values(t: Tables) -> Numbers:
    """Recall by curve and by threshold, panel by panel."""
    return {
        panel: {name: _by_threshold(curve) for name, curve in curves.items()}
        for panel, curves in t.items()
    }


def high(t: Tables, axis: str) -> dict[int, xr.DataArray]:
    """Recall at the high threshold by seed and along the axis, by panel."""
    tables = {queries: recalls(t.runs, queries, axis) for queries in runs.PANELS}
    return {queries: table.sel(threshold=HIGH) for queries, table in tables.items()}


def _ends(t: Tables, axis: str, queries: int) -> xr.DataArray:
    """Recall at the first of an axis less that at the last, at further thresholds."""
    recall = recalls(t.runs, queries, axis).sel(threshold=list(HIGHER))
    mean = recall.mean(SEED, skipna=False)
    return mean.isel({axis: 0}, drop=True) - mean.isel({axis: -1}, drop=True)


def _falls(t: Tables) -> list[bool]:
    """Whether recall never rises with the threshold and ends low, by curve."""
    curves = [
        c.mean(SEED, skipna=False) for panel in t.values() for c in panel.values()
    ]
    return [bool((c.diff("threshold") <= 0).all() and c[-1] < LOW) for c in curves]


def _is_larger(row: xr.DataArray, axis: str, at: float, than: Any) -> bool:
    """Whether mean recall is larger at a place of an axis than at some others."""
    mean = row.mean(SEED, skipna=False)
    return bool((mean.sel({axis: at}, drop=True) > mean.sel({axis: than})).all())


def _is_slowest(row: xr.DataArray, ratio: float) -> bool:
    """Whether recall is larger at a ratio than at all larger ones."""
    return _is_larger(row, RATIO, ratio, row[RATIO] > ratio)


_AT_HIGH = (
    "more slowly recall falls: at 2/M it is the larger, in every panel, but for noise "
    "of two standard errors"
)
SLOWER_RATIO = f"the smaller η_Y/η_Z is, the {_AT_HIGH}"
SLOWER_RATE = f"the larger η_Z is, the {_AT_HIGH}"
_CAPTION = (
    "Recall of distinct tokens against a threshold on attention, in the runs of "
    "Figure 6 (system J), one panel for each number of queries. Recall is the share "
    "of a class's distinct tokens whose entry in the softmax of their query's "
    "scores, over all M tokens, is above a threshold in units of 1/M; mean over "
    "classes and 10 seeds. "
)
_figure = partial(
    Exhibit,
    kind="figure",
    needs=runs.GRID,
    values=values,
    silent=(
        *runs.SYN_MEDIUM_SILENT,
        "What attention is compared with the threshold is not stated: the softmax of "
        "the scores over the vocabulary. Thresholds are ours.",
    ),
)

FIGURE11 = _figure(
    id="figure11",
    title="Figure 11: recall against threshold, by η_Y/η_Z",
    caption=_CAPTION
    + (
        "η_Z = 1. From ratio 2 on, recall falls more slowly for smaller ratios; as "
        "in Figure 6, ratio 1 is an exception with many queries."
    ),
    shows=_shows(RATIO),
    stated={
        "Caption of Figure 11": {
            SLOWER_RATIO: lambda t: [
                rises(-row, RATIO) for row in high(t, RATIO).values()
            ]
        }
    },
    checks={
        "recall falls with the threshold": _falls,
        "with a small ratio it falls more slowly: at 2/M it is larger at ratio 2 than "
        "at larger ones, in every panel": lambda t: [
            _is_slowest(row, 2.0) for row in high(t, RATIO).values()
        ],
        "with one query ratio 1 is the slowest": lambda t: _is_slowest(
            high(t, RATIO)[1], 1.0
        ),
        "with one query recall at 1.5/M and 3/M too is larger at ratio 1 than at 10": (
            lambda t: _ends(t, RATIO, 1) > 0
        ),
        "with ten queries ratio 1 is not the slowest: ratio 2 is slower, as in "
        "Figure 6": (lambda t: _is_larger(high(t, RATIO)[10], RATIO, 2.0, 1.0)),
    },
    differs={
        SLOWER_RATIO: "with ten queries recall falls more slowly at ratio 2 than at 1, "
        "as the threshold that Section 8 names for Figure 6 would have it"
    },
)
FIGURE12 = _figure(
    id="figure12",
    title="Figure 12: recall against threshold, by η_Z",
    caption=_CAPTION + "η_Y/η_Z = 2. Recall falls more slowly for larger η_Z.",
    shows=_shows(RATE),
    stated={
        "Caption of Figure 12": {
            SLOWER_RATE: lambda t: [rises(row, RATE) for row in high(t, RATE).values()]
        }
    },
    checks={
        "recall falls with the threshold": _falls,
        "with a large η_Z it falls more slowly: at 2/M it is larger at η_Z = 3 than "
        "at 1 and below, in every panel": lambda t: [
            _is_larger(row, RATE, 3.0, row[RATE] <= 1) for row in high(t, RATE).values()
        ],
        "recall at 1.5/M and 3/M too is larger at the largest η_Z than at the "
        "smallest, in every panel": lambda t: [
            _ends(t, RATE, queries) < 0 for queries in runs.PANELS
        ],
        "with several queries recall at 2/M grows with η_Z throughout": lambda t: [
            bool((row.mean(SEED).diff(RATE) > 0).all())
            for queries, row in high(t, RATE).items()
            if queries > 1
        ],
    },
)
