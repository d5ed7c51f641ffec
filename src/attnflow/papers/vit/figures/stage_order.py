"""Ours: the order of stages at the paper's sizes and inside Condition 4.1."""

from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures
from attnflow.claims.stages import StageRow
from attnflow.papers.vit.figures.dynamics import SYMBOLS
from attnflow.papers.vit.figures.runs import APPENDIX_SILENT, appendix, theory
from attnflow.papers.vit.stages import Regime, stage_rows
from attnflow.schema.declarations import Evidence, Exhibit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS: dict[str, tuple[str, Regime]] = {
    "appendix benign": ("Appendix A, benign", "benign"),
    "appendix harmful": ("Appendix A, harmful", "harmful"),
    "theory benign": (r"Inside Condition 4.1 but for $\eta$, benign", "benign"),
    "theory harmful": (r"Inside Condition 4.1 but for $\eta$, harmful", "harmful"),
}
ROWS = {
    "T1": "the winner's value leads",
    "T2": "values leave zero",
    "T_att": "attention is won",
    "T3": "training ends",
}
LIMITS = (0.5, 4e6)


def rows(evidence: Evidence, name: str) -> list[StageRow]:
    """The stages of a run, told as those of its panel's regime."""
    return stage_rows(evidence[name], PANELS[name][1])


def draw(evidence: Evidence) -> "Figure":
    """A line for each stage: the formula as a diamond, what is detected as a dot."""
    titles = [title for title, _ in PANELS.values()]
    figure, grid = figures.panels(2, 2, titles=titles, size=(12.4, 6.4))
    for ax, name in zip(grid.flat, PANELS, strict=True):
        _timeline(ax, rows(evidence, name))
    for ax in grid[:, 0]:
        names = [f"{SYMBOLS[n]}: {text}" for n, text in ROWS.items()]
        ax.set_yticks(range(len(ROWS)), names)
    for ax in grid[:, 1]:
        ax.set_yticks(range(len(ROWS)), [""] * len(ROWS))
    for ax in grid[1]:
        ax.set_xlabel("step of gradient descent")
    _legend(figure, grid[0, 0])
    return figure


def _timeline(ax: "Axes", table: list[StageRow]) -> None:
    theme = figures.current_theme()
    for place, row in enumerate(table):
        ax.axhline(place, color=theme.hairline, lw=0.7, zorder=0)
        if row.spread:
            look: dict[str, Any] = {"color": theme.colour("signal"), "lw": 4}
            ax.plot(row.spread, [place] * 2, alpha=0.45, **look)
        if row.detected is not None:
            point(ax, (row.detected, place), "signal", "o", filled=True)
        else:
            _say(ax, place, "not reached in this run", LIMITS[1], "right", "signal")
        if row.formula is not None:
            point(ax, (row.formula, place), "theory", "D", filled=False)
        elif row.name != "T_att":
            _say(ax, place, "formula is negative", LIMITS[0], "left", "theory")
    ax.set(xscale="log", xlim=LIMITS, ylim=(len(table) - 0.5, -0.7))
    figures.number_axis(ax, "x", ticks=8)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0, labelcolor=theme.ink)


def point(
    ax: "Axes", at: tuple[float, float], kind: str, marker: str, *, filled: bool
) -> None:
    """A dot for what was detected, a larger open diamond for a formula."""
    theme = figures.current_theme()
    colour = theme.colour(kind)
    look: dict[str, Any] = {"marker": marker, "mec": colour, "ls": "", "mew": 1.4}
    look |= {"mfc": colour if filled else theme.paper, "ms": 6 if filled else 10}
    ax.plot(*at, zorder=5 if filled else 4, **look)


def _say(
    ax: "Axes", place: float, text: str, edge: float, side: str, kind: str
) -> None:
    """An answer that is no time, at the edge of its line, on the paper's colour."""
    theme = figures.current_theme()
    ground = {"facecolor": theme.paper, "edgecolor": "none", "pad": 1.5}
    arrow = {"left": "← {}", "right": "{} →"}[side]
    look: dict[str, Any] = {"ha": side, "va": "center", "size": "small"}
    colour = theme.colour(kind)
    ax.text(edge, place, arrow.format(text), color=colour, bbox=ground, **look)


def _legend(figure: "Figure", ax: "Axes") -> None:
    point(ax, (np.nan, np.nan), "theory", "D", filled=False)
    point(ax, (np.nan, np.nan), "signal", "o", filled=True)
    handles = ax.get_lines()[-2:]
    names = ["the paper's formula, Θ read as 1", "detected (bar: range of seeds)"]
    figure.legend(handles, names, loc="outside upper right", ncols=2)


def values(evidence: Evidence) -> dict[str, Any]:
    """Times that there are: formulas, and medians and ranges of what is detected."""
    found: dict[str, Any] = {}
    for name in PANELS:
        for row in rows(evidence, name):
            spread = row.spread or (None, None)
            times = {"formula": row.formula, "detected": row.detected}
            times |= {"least": spread[0], "largest": spread[1]}
            known = {what: time for what, time in times.items() if time is not None}
            found[f"{name}: {row.name}"] = known
    return found


def in_order(table: list[StageRow]) -> bool:
    """Whether all stages were reached, in the printed order."""
    times = [np.inf if row.detected is None else row.detected for row in table]
    return bool(np.all(np.diff(times) > 0) and np.isfinite(times[-1]))


def seen(evidence: Evidence) -> dict[str, bool]:
    """Where the printed order is there."""
    tables = {name: rows(evidence, name) for name in PANELS}
    ends = {name: {row.name: row for row in table} for name, table in tables.items()}
    first = [ends[name]["T1"].formula for name in ("appendix benign", "theory benign")]
    late = [
        (ends[name]["T1"].detected or np.inf) > (ends[name]["T2"].detected or np.inf)
        for name in ("appendix benign", "appendix harmful")
    ]
    return {
        "inside Condition 4.1's sizes, T1 < T2 < T_att < T3 in both regimes": all(
            in_order(tables[name]) for name in ("theory benign", "theory harmful")
        ),
        "at Appendix A's sizes values leave zero before the winner's leads": all(late),
        "the printed T1 is negative in both benign settings": all(
            time is None for time in first
        ),
        "in the harmful settings T3 is reached before a fiftieth of its formula": all(
            (ends[name]["T3"].detected or np.inf)
            < (ends[name]["T3"].formula or 0.0) / 50
            for name in ("appendix harmful", "theory harmful")
        ),
    }


STAGE_ORDER = Exhibit(
    id="stage-order",
    kind="figure",
    title="The order of stages, at the paper's sizes and inside Condition 4.1",
    caption=(
        "When stages end, by the paper's formulas (diamonds) and as detected (dots: "
        "median over three seeds, bars: range). Above: Appendix A's sizes, where "
        "values leave zero and attention is won before the winner's value leads by "
        "3M, or it never leads: the printed order T1 < T2 < T3 is not there. Below: "
        "sizes that "
        "meet Condition 4.1 but for η, drawn by the law of their Gram matrices (d = "
        "4·10¹⁸, d_h = 10¹², N = 16, M = 4, ε = 0.05; N·SNR² = 2000 and 1/4): the "
        "printed order. The benign T1 "
        "is negative by its formula in both. Harmful formulas have σ_p where the "
        "memorised token has σ̃_p, and C_p² is 400 and 100. Nothing is printed for "
        "T_att."
    ),
    needs={
        f"{where} {regime}": {"appendix": appendix, "theory": theory}[where](regime)
        for where in ("appendix", "theory")
        for regime in ("benign", "harmful")
    },
    draw=draw,
    values=values,
    seen=seen,
    silent=(
        *APPENDIX_SILENT,
        "Θ of T2 and T3 has no constant: read as 1. Values are small below 0.1, and "
        "attention is won at 0.9.",
    ),
)
