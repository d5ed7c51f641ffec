"""Figures 3 and 4: scores, attention and values during training, in both regimes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.vit._types import Regime, Values
from attnflow.papers.vit.figures.runs import APPENDIX_SILENT, appendix
from attnflow.papers.vit.stages import STAGES, values_at
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.dims import HEAD, KEY_POSITION, QUERY_POSITION, SAMPLE, SEED, TIME
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = ("Scores", "Attention", "Values")
LABELS = (
    r"score $x_l^{\top}W_QW_K^{\top}x_j$, mean over $l$",
    r"attention to $x_j$, mean over $l$",
    r"value $y\,x_j^{\top}W_Vw_O$",
)
TOKENS = {
    "signal": (slice(0, 1), r"$\mu$"),
    "noise": (slice(1, 2), r"$\xi_2$"),
    "other": (slice(2, None), r"$\xi_{3..}$"),
}
"""Positions and symbol of each kind of token; the kind gives the colour."""
SYMBOLS = {"T1": "$T_1$", "T2": "$T_2$", "T_att": r"$T_{\mathrm{att}}$", "T3": "$T_3$"}


def tables(run: xr.Dataset) -> tuple[xr.DataArray, ...]:
    """Scores, attention and values: dims seed, time, sample, key_position."""
    queries = (HEAD, QUERY_POSITION)
    pairs = run["pair_score"].mean(queries), run["attention"].mean(queries)
    dims = (SEED, TIME, SAMPLE, KEY_POSITION)
    return tuple(table.transpose(*dims) for table in (*pairs, values_at(run)))


def of_token(table: xr.DataArray, kind: str) -> xr.DataArray:
    """Series of one kind of token, for every sample and position, along `seed`."""
    part = table.isel({KEY_POSITION: TOKENS[kind][0]})
    rows = part.transpose(TIME, ...).values
    return xr.DataArray(
        rows.reshape(len(rows), -1).T,
        dims=(SEED, TIME),
        coords={TIME: table[TIME]},
    )


def draw_regime(evidence: Evidence, regime: Regime) -> Figure:
    """Scores, attention and values of three kinds of tokens, with ends of stages."""
    figure, grid = figures.panels(1, 3, titles=TITLES, size=(12.6, 4.3))
    run = evidence["run"]
    marks = {name: stage(run).median for name, stage in STAGES[regime].items()}
    for ax, table, label in zip(grid[0], tables(run), LABELS, strict=True):
        for kind, (_, name) in TOKENS.items():
            _band(ax, of_token(table, kind), kind, name)
        figures.time_axis(ax, run, scale="log", label="step of gradient descent")
        ax.set_ylabel(label)
        _mark(ax, marks)
        figures.label_ends(ax)
    return figure


def _band(ax: Axes, rows: xr.DataArray, kind: str, name: str) -> None:
    """Mean and range over samples and seeds."""
    series = rows.isel(time=rows.notnull().all(SEED).values)
    times, colour = series[TIME].values, figures.current_theme().colour(kind)
    ends = series.min(SEED), series.max(SEED)
    ax.fill_between(times, *ends, color=colour, alpha=0.18, lw=0, zorder=1)
    ax.plot(times, series.mean(SEED), color=colour, label=name, zorder=3)


def _mark(ax: Axes, marks: dict[str, float | None]) -> None:
    """The ends of stages as dotted lines, named above the panel."""
    theme = figures.current_theme()
    for name, when in marks.items():
        if when is None:
            continue
        ax.axvline(when, color=theme.muted, lw=0.8, ls=(0, (1, 2)), zorder=0.5)
        ax.annotate(
            SYMBOLS[name],
            (when, 1.0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            size="small",
            color=theme.muted,
        )
    ax.set_title(ax.get_title(loc="left"), pad=20.0)


def last_means(run: xr.Dataset) -> dict[str, dict[str, np.ndarray]]:
    """Final means over samples, by panel and token: one number per seed."""
    is_recorded = run["recorded"].transpose(SEED, TIME).values
    last = is_recorded.shape[1] - 1 - np.argmax(is_recorded[:, ::-1], axis=1)
    means = {}
    for title, table in zip(TITLES, tables(run), strict=True):
        ends = [table.isel(seed=s, time=t) for s, t in enumerate(last)]
        means[title] = {
            name: np.array(
                [float(end.isel({KEY_POSITION: positions}).mean()) for end in ends]
            )
            for positions, name in TOKENS.values()
        }
    return means


NAMES = {r"$\mu$": "μ", r"$\xi_2$": "ξ_2", r"$\xi_{3..}$": "ξ_3 and further"}


def values_of(evidence: Evidence, regime: Regime) -> Values:
    """Final means, and detected ends of stages."""
    run = evidence["run"]
    ends = {
        title.lower(): {NAMES[n]: float(v.mean()) for n, v in tokens.items()}
        for title, tokens in last_means(run).items()
    }
    times = {name: stage(run).median for name, stage in STAGES[regime].items()}
    stages = {name: time for name, time in times.items() if time is not None}
    return {"at the end": ends, "stages, in steps": stages}


def _places(regime: Regime) -> tuple[str, str, str]:
    """The winning, the losing and the weak token of a regime."""
    signal, strong, weak = (name for _, name in TOKENS.values())
    return (signal, strong, weak) if regime == "benign" else (strong, signal, weak)


def stated_of(evidence: Evidence, regime: Regime) -> dict[str, Sentences]:
    """Whether the winner grows faster, in every seed."""
    run, (winner, loser, _) = evidence["run"], _places(regime)
    ends, begin = last_means(run), run["attention"].isel(time=0).mean()
    grows = {
        f"{title.lower()} of {NAMES[winner]} grow faster than those of {NAMES[loser]}: "
        "they end above": bool((ends[title][winner] > ends[title][loser]).all())
        for title in ("Scores", "Values")
    }
    more = (
        f"more and more attention is paid to {NAMES[winner]}: it ends above the start"
    )
    rises = bool((ends["Attention"][winner] > float(begin)).all())
    return {"Appendix A, Experiments results": grows | {more: rises}}


def checks_of(evidence: Evidence, regime: Regime) -> dict[str, bool]:
    """Whether weak noise is left behind, and nearly all attention is on the winner."""
    run, (winner, _, weak) = evidence["run"], _places(regime)
    ends = last_means(run)
    begin = float(run["attention"].isel(time=0, key_position=0).mean())
    share, length = ends["Attention"][winner], run.sizes[KEY_POSITION]
    ahead = {
        f"{title.lower()}: {NAMES[winner]} ends above weak noise, in every seed": bool(
            (tokens[winner] > tokens[weak]).all()
        )
        for title, tokens in ends.items()
    }
    uniform = f"attention begins even and ends on {NAMES[winner]} (0.95 or more)"
    return ahead | {
        uniform: bool(abs(begin - 1 / length) < 0.01 and (share > 0.95).all())
    }


def _figure(number: int, regime: Regime, caption: str) -> Exhibit:
    return Exhibit(
        id=f"figure{number}",
        kind="figure",
        title=f"Figure {number}: scores, attention and values, {regime} overfitting",
        caption=(
            f"{caption} M = 4, d = 2048, d_h = 1024, d_v = 256, σ_p = 0.05, σ̃_p = 1. "
            "Means over samples, queries and three seeds; bands: from the least to the "
            "largest of them (means over queries). Values times the label. Dotted: "
            "ends of stages as detected (median over seeds), T2 where the largest "
            "value is 0.1, T_att where mean attention to the winner is 0.9, T1 where "
            "its value is 3M times all others of its sample, T3 where training ends."
        ),
        needs={"run": appendix(regime)},
        draw=lambda evidence: draw_regime(evidence, regime),
        values=lambda evidence: values_of(evidence, regime),
        stated=lambda evidence: stated_of(evidence, regime),
        checks=lambda evidence: checks_of(evidence, regime),
        silent=APPENDIX_SILENT,
    )


FIGURE3 = _figure(
    3,
    "benign",
    "N = 16 and ‖μ‖ = 25: the signal wins. T1 is not reached: noise that is not "
    "projected off the signals shares part of their value.",
)
FIGURE4 = _figure(
    4, "harmful", "N = 10 and ‖μ‖ = 15: the strong noise token wins, and is memorised."
)
