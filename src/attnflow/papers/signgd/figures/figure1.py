"""Figure 1: the four stages in setting (a)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.marks import MARKS, marks, on_paper
from attnflow.papers.signgd.figures.overview import slow
from attnflow.papers.signgd.figures.runs import (
    ATTENTION,
    PRECISION_SILENT,
    SEEDS_SILENT,
    signgd,
    slow_start,
)
from attnflow.papers.signgd.figures.statistics import at_step, leaves_first
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.dims import TIME
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = (
    "I: mean values",
    "I: key noise, by signs at the start",
    "II and III: signs align, then vote",
    "III and IV: the outvoted turn",
    "I to IV: attention",
)
LATE = 900.0
KINDS = {
    "K+ Q+": ("easy", "$K_+Q_+$"),
    "K- Q-": ("hard", "$K_-Q_-$"),
    "mixed": ("other", "unlike"),
}
"""Classes of pairs by the signs of key and query noise at the start."""


def draw(evidence: Evidence) -> Figure:
    """Draw five panels and a legend."""
    figure, grid = figures.panels(2, 3, titles=TITLES, size=(14.6, 7.8))
    run, early = evidence["run"], slow(evidence)
    panels.values(grid[0, 0], early)
    start_of_keys(grid[0, 1], early)
    panels.one_neuron(grid[0, 2], run, between=(2, 45))
    panels.one_neuron(grid[1, 0], run, between=(10, LATE))
    panels.attention(grid[1, 1], run.sel(time=slice(0, LATE)))
    turning_points(grid[1, 0], run)
    _key(grid[1, 2])
    for ax in (grid[0, 0], grid[0, 1], grid[1, 1]):
        figures.label_ends(ax)
    return figure


def start_of_keys(ax: Axes, early: xr.Dataset, neuron: int = 0) -> None:
    """Plot key noise of one neuron in its first steps, coloured by initial signs."""
    tables = {
        name: series.noise(early, name).isel(seed=0, head=0, neuron=neuron)
        for name in panels.SIDES
    }
    keys = tables["key_neuron"]
    begun = {name: np.sign(table.isel(time=0).values) for name, table in tables.items()}
    key, query = begun["key_neuron"], begun["query_neuron"]
    groups = {
        "K+ Q+": (key > 0) & (query > 0),
        "K- Q-": (key < 0) & (query < 0),
        "mixed": key * query < 0,
    }
    for name, members in groups.items():
        kind, label = KINDS[name]
        colour = figures.current_theme().colour(kind)
        lines = ax.plot(keys[TIME], keys.isel(token=members), color=colour, lw=1.1)
        for line in lines[:1]:
            line.set_label(label)
    figures.time_axis(ax, early, label=panels.STEP)
    ax.set_ylabel(f"key noise {panels.NOISE}, neuron {neuron}")


def turning_points(ax: Axes, run: xr.Dataset) -> None:
    """Mark the steps at which outvoted keys and queries turn by dotted lines."""
    theme = figures.current_theme()
    for name, detect, side in (
        ("keys", stages.keys_turn, "right"),
        ("queries", stages.queries_turn, "left"),
    ):
        when = detect(run).median
        if when is None:
            continue
        ax.axvline(when, color=theme.muted, lw=0.8, ls=(0, (1, 2)), zorder=1)
        ax.annotate(
            f"{name}\nturn: {when:.0f}",
            (when, 0.99),
            xycoords=ax.get_xaxis_transform(),
            xytext=(3 if side == "left" else -3, 0),
            textcoords="offset points",
            va="top",
            ha=side,
            size="small",
            color=theme.muted,
        )


def _key(ax: Axes) -> None:
    """Draw a legend of colours and lines in place of a sixth panel."""
    theme = figures.current_theme()
    ax.set_axis_off()
    for observable, (_, line) in panels.SIDES.items():
        for kind in ("noise", "hard", "signal"):
            label = panels.curve_name(observable, kind)
            ax.plot([], [], lw=2.0, color=theme.colour(kind), ls=line, label=label)
    ax.legend(loc="center", fontsize=12.5, title="panels c and d")


def values(evidence: Evidence) -> dict[str, dict[str, float]]:
    """Detected times of the paper's marks, over seeds."""
    return marks(evidence["run"])


def stated(evidence: Evidence) -> dict[str, Sentences]:
    """Statements of the paper on each panel."""
    run, early = evidence["run"], evidence["slow start"]
    noise = series.value_noise(early)
    growth = noise.diff(TIME)
    last = growth.sel(time=slice(float(early[TIME][-1]) / 2, None))
    steady = last / last.mean(TIME)
    query, key = (
        at_step(series.signal(run, f"{n}_neuron"), 40) for n in ("query", "key")
    )
    sentences = {
        "a: by t = 2 every mean value noise is positive, and grows linearly: its steps "
        "are within 20% of their mean": bool(
            (noise.isel(time=-1) > 0).all() and (abs(steady - 1) < 0.2).mean() > 0.95
        ),
        "b: key and query noise are aligned in 96% of pairs by t = 10": bool(
            (at_step(series.aligned(run), 10) > 0.96).all()
        ),
        "c: at t = 40 query and key signals are opposite in 90% of neurons": bool(
            (query * key < 0).mean() > 0.9
        ),
        "e: as noise leaves the signal, s21 < 0.2, signals do not, s11 > 0.4": (
            leaves_first(run)
        ),
    }
    return {"Section 3.1": sentences}


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether the printed turns are those of every seed."""
    run = evidence["run"]
    return {
        "d: outvoted keys turn at 150, queries at 300, within a quarter in every "
        "seed": all(
            (abs(MARKS[name][1](run).times / MARKS[name][0] - 1) < 0.25).all()
            for name in ("keys turn", "queries turn")
        ),
    }


FIGURE1 = Exhibit(
    id="figure1",
    kind="figure",
    title="Figure 1: the four stages of training with SignGD",
    caption=(
        "Setting (a), d = 2000, neuron 0 of seed 0; panels a and b at a learning rate "
        "a thousand times smaller, so that the first two steps take 2000. a: mean "
        "value noise turns positive and grows linearly, the mean value signal stays. "
        "b: key noise, by the initial signs of key and query noise. c: key and query "
        "noise align in sign; the query signal follows their majority, the key signal "
        "has the opposite sign. d: the outvoted keys turn, and at about twice that "
        "time the outvoted queries (dotted: median over five seeds). e: attention of "
        "noise leaves the signal first (bands: range over samples and seeds). The "
        "paper's marks, 2, 10, 40, 150 and 300, are round numbers; ours are medians of "
        "detected times, and count as equal where they differ by at most a quarter. "
        "Signs in c and d are chosen so that the query signal ends positive. "
        + ATTENTION
    ),
    needs={"run": signgd(), "slow start": slow_start()},
    draw=draw,
    values=values,
    stated=stated,
    checks=checks,
    printed=on_paper(MARKS),
    tolerance=0.25,
    silent=(SEEDS_SILENT, PRECISION_SILENT),
)
