"""Order of the stages at Appendix A's sizes and inside Condition 4.1 (ours)."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from attnflow import figures
from attnflow.claims.stages import StageRow, stage_table
from attnflow.papers.vit._types import Regime
from attnflow.papers.vit.figures.dynamics import SYMBOLS
from attnflow.papers.vit.figures.runs import APPENDIX_SILENT, appendix, theory
from attnflow.papers.vit.stages import STAGES
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
Side = Literal["left", "right"]


def rows(evidence: Evidence, name: str) -> list[StageRow]:
    """Stages of a run, in the regime of its panel."""
    return stage_table(evidence[name], STAGES[PANELS[name][1]].values())


def draw(evidence: Evidence) -> "Figure":
    """A row per stage: the formula as a diamond, the detected time as a dot."""
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
    for line, row in enumerate(table):
        ax.axhline(line, color=theme.hairline, lw=0.7, zorder=0)
        if row.spread:
            colour = theme.colour("signal")
            ax.plot(row.spread, [line] * 2, alpha=0.45, color=colour, lw=4)
        if row.detected is not None:
            point(ax, (row.detected, line), "signal", "o", filled=True)
        else:
            _say(ax, line, "not reached in this run", LIMITS[1], "right", "signal")
        if row.formula is not None:
            point(ax, (row.formula, line), "theory", "D", filled=False)
        elif row.name != "T_att":
            _say(ax, line, "formula is negative", LIMITS[0], "left", "theory")
    ax.set(xscale="log", xlim=LIMITS, ylim=(len(table) - 0.5, -0.7))
    figures.number_axis(ax, "x", ticks=8)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0, labelcolor=theme.ink)


def point(
    ax: "Axes", at: tuple[float, float], kind: str, marker: str, *, filled: bool
) -> None:
    """A dot for a detected time, a larger open diamond for a formula."""
    theme = figures.current_theme()
    colour = theme.colour(kind)
    ax.plot(
        *at,
        zorder=5 if filled else 4,
        marker=marker,
        mec=colour,
        ls="",
        mew=1.4,
        mfc=colour if filled else theme.paper,
        ms=6 if filled else 10,
    )


def _say(
    ax: "Axes", line: float, text: str, edge: float, side: Side, kind: str
) -> None:
    """A remark in place of a time, at the edge of its row."""
    theme = figures.current_theme()
    ground = {"facecolor": theme.paper, "edgecolor": "none", "pad": 1.5}
    arrow = {"left": "← {}", "right": "{} →"}[side]
    ax.text(
        edge,
        line,
        arrow.format(text),
        color=theme.colour(kind),
        bbox=ground,
        ha=side,
        va="center",
        size="small",
    )


def _legend(figure: "Figure", ax: "Axes") -> None:
    point(ax, (np.nan, np.nan), "theory", "D", filled=False)
    point(ax, (np.nan, np.nan), "signal", "o", filled=True)
    handles = ax.get_lines()[-2:]
    names = ["the paper's formula, Θ read as 1", "detected (bar: range of seeds)"]
    figure.legend(handles, names, loc="outside upper right", ncols=2)


def values(evidence: Evidence) -> dict[str, dict[str, float]]:
    """Times by stage: formula, and median and range of detected ones, where known."""
    times_by_stage: dict[str, dict[str, float]] = {}
    for name in PANELS:
        for row in rows(evidence, name):
            spread = row.spread or (None, None)
            times = {"formula": row.formula, "detected": row.detected}
            times |= {"least": spread[0], "largest": spread[1]}
            known = {what: time for what, time in times.items() if time is not None}
            times_by_stage[f"{name}: {row.name}"] = known
    return times_by_stage


def in_order(table: list[StageRow]) -> bool:
    """Whether all stages were reached, in the printed order."""
    times = [np.inf if row.detected is None else row.detected for row in table]
    return bool(np.all(np.diff(times) > 0) and np.isfinite(times[-1]))


def checks(evidence: Evidence) -> dict[str, bool]:
    """Where stages end in the printed order."""
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
        "values leave zero and attention is won before the winner's value leads by 3M, "
        "or it never leads: the printed order T1 < T2 < T3 does not hold. Below: sizes "
        "that meet Condition 4.1 except for η, drawn from the distribution of their "
        "Gram matrices (d = 4·10¹⁸, d_h = 10¹², N = 16, M = 4, ε = 0.05; N·SNR² = 2000 "
        "and 1/4): the printed order holds. The benign T1 is negative by its formula "
        "in both. Harmful formulas have σ_p where the memorised token has σ̃_p, and "
        "C_p² is 400 and 100. Nothing is printed for T_att."
    ),
    needs={
        f"{where} {regime}": {"appendix": appendix, "theory": theory}[where](regime)
        for where in ("appendix", "theory")
        for regime in ("benign", "harmful")
    },
    draw=draw,
    values=values,
    checks=checks,
    silent=(
        *APPENDIX_SILENT,
        "Θ of T2 and T3 has no constant: read as 1. Values are small below 0.1, and "
        "attention is won at 0.9.",
    ),
)
