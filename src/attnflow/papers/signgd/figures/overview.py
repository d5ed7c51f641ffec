"""Headline figure: the four stages of SignGD in one neuron, attention and losses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.signgd import stages
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.runs import (
    ATTENTION,
    PRECISION_SILENT,
    SEEDS_SILENT,
    signgd,
    slow_start,
)
from attnflow.papers.signgd.figures.statistics import at_step, three_numbers
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.dims import HEAD, SAMPLE, TIME
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIRST = 0.02
"""Where the logarithmic axis begins, in steps."""
JOINT = 2.0
"""Up to this step the run with small steps is shown, as in the paper."""
TITLES = (
    "I: values of noise grow",
    "II–IV in one neuron: align, vote, turn",
    "IV: attention leaves the signal",
    "Memorised, not learned",
)
TURNS = {
    "keys turn": stages.keys_turn,
    "queries turn": stages.queries_turn,
    "all signs agree": stages.all_follow,
}


def slow(evidence: Evidence) -> xr.Dataset:
    """The first two steps of the first seed, in thousandths of a step."""
    run = evidence["slow start"].isel(seed=[0])
    rates = [
        sizes(schema.setting_of(evidence[name])).learning_rate
        for name in ("slow start", "run")
    ]
    return run.assign_coords(time=run[TIME] * rates[0] / rates[1])


def joined(evidence: Evidence) -> xr.Dataset:
    """Values of the first seed, with the first two steps in thousandths."""
    early, run = slow(evidence), evidence["run"].isel(seed=[0])
    names = ["value", "recorded"]
    early = early[names].sel(time=early[TIME] < JOINT)
    late = run[names].sel(time=run[TIME] >= JOINT)
    return xr.concat([early, late], TIME).assign_attrs(run.attrs)


def draw(evidence: Evidence) -> Figure:
    """Draw values, one neuron, attention and losses."""
    figure, grid = figures.panels(2, 2, titles=TITLES, size=(11.6, 7.8))
    run, whole = evidence["run"], joined(evidence)
    panels.values(grid[0, 0], whole)
    figures.time_axis(grid[0, 0], whole, scale="log", label=panels.STEP)
    grid[0, 0].set_xlim(left=FIRST)
    figures.number_axis(grid[0, 0], "x")
    _neuron(grid[0, 1], run)
    panels.attention(grid[1, 0], run, scale="log")
    panels.losses(grid[1, 1], run)
    for ax in grid[0]:
        panels.signed_axis(ax)
    figures.time_axis(grid[0, 1], run, scale="log", label=panels.STEP)
    for ax, first in zip(grid.flat, (0, 1, 1, len(panels.STAGES)), strict=True):
        panels.shade(ax, run, named=first)
    _turns(grid[0, 1], run)
    for ax in grid.flat:
        figures.label_ends(ax)
    return figure


def _neuron(ax: Axes, run: xr.Dataset) -> None:
    """Plot a sample that the neuron outvotes and one that it does not."""
    against = panels.outvoted(run)
    samples = {"hard": int(np.argmax(against)), "noise": int(np.argmin(against))}
    theme = figures.current_theme()
    for observable, (_, line) in panels.SIDES.items():
        noise = panels.noise_of(run, observable)
        signal = series.signal(run, observable).isel(seed=0, head=0, neuron=0)
        curves = {kind: noise.isel(token=sample) for kind, sample in samples.items()}
        curves["signal"] = panels.direction(run) * signal
        for kind, curve in curves.items():
            label, colour = panels.curve_name(observable, kind), theme.colour(kind)
            ax.plot(curve[TIME], curve, label=label, color=colour, ls=line)
    ax.axhline(0, color=theme.hairline, lw=0.8, zorder=1)
    ax.set_ylabel(r"$\langle w_s,\,\cdot\,\rangle$, neuron 0")


def _turns(ax: Axes, run: xr.Dataset) -> None:
    """Mark the times at which outvoted noise turns, and list them in a corner."""
    theme = figures.current_theme()
    medians = {name: detect(run).median for name, detect in TURNS.items()}
    reached = {name: when for name, when in medians.items() if when is not None}
    for when in reached.values():
        ax.axvline(when, color=theme.muted, lw=0.9, ls=(0, (1, 2)), zorder=1)
    text = "\n".join(f"{name} at {when:.0f}" for name, when in reached.items())
    ax.text(
        0.03,
        0.97,
        f"dotted:\n{text}",
        color=theme.muted,
        transform=ax.transAxes,
        va="top",
        ha="left",
    )


def values(evidence: Evidence) -> Values:
    """Times of stages and turns, losses at the end, and attention at t = 150."""
    run = evidence["run"]
    detectors = {
        "T1": stages.values_positive,
        "T2_SGN": stages.noise_aligned,
        "T3": stages.signals_voted,
        **TURNS,
    }
    ends = {
        "training loss": schema.last(run, "loss"),
        "test loss": schema.last(run, "test_loss"),
        "0–1 test loss": panels.zero_one(schema.last(run, "test_accuracy")),
    }
    return {
        "step": {
            name: three_numbers(detect(run).times) for name, detect in detectors.items()
        },
        "at the end": {name: three_numbers(x.values) for name, x in ends.items()},
        "attention to the signal at t = 150": {
            name: three_numbers(middle.values) for name, middle in at_150(run).items()
        },
    }


def at_150(run: xr.Dataset) -> dict[str, xr.DataArray]:
    """The median s11 and s21 of each seed at the paper's mark."""
    attentions = {
        "s11": series.signal_to_signal(run),
        "s21": series.noise_to_signal(run),
    }
    over = (SAMPLE, HEAD)
    return {
        name: at_step(table, 150).median(over) for name, table in attentions.items()
    }


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether stages are in order, turns are as 1 : 2, and noise is memorised."""
    run = evidence["run"]
    times = [
        detect(run).times
        for detect in (
            stages.values_positive,
            stages.noise_aligned,
            stages.signals_voted,
            *TURNS.values(),
        )
    ]
    keys, queries = times[3], times[4]
    end = {n: schema.last(run, n) for n in ("loss", "test_loss")}
    middle = at_150(run)
    return {
        "stages and turns come in their order in every seed": bool(
            (np.diff(times, axis=0) > 0).all()
        ),
        "queries turn 1.6 to 2.2 times as late as keys": bool(
            ((queries > 1.6 * keys) & (queries < 2.2 * keys)).all()
        ),
        "at t = 150 noise has left the signal and signals have not: s21 < 0.1 and "
        "s11 > 0.4 in the median of every seed": bool(
            (middle["s21"] < 0.1).all() and (middle["s11"] > 0.4).all()
        ),
        "training loss ends below 0.02, test loss above 0.5": bool(
            (end["loss"] < 0.02).all() and (end["test_loss"] > 0.5).all()
        ),
    }


OVERVIEW = Exhibit(
    id="overview",
    kind="figure",
    title="Four stages of sign gradient descent",
    caption=(
        "SignGD in setting (a), d = 2000. One neuron of seed 0 with two samples, one "
        "of which it outvotes; shading, dotted lines and their steps are medians over "
        "five seeds. I: the mean value of every noise token turns positive and grows. "
        "II: key and query noise of a sample align in sign. III: noise votes; the "
        "query signal follows the majority, the key signal takes the opposite sign. "
        "IV: noise stops attending to the signal; then the outvoted keys turn, and at "
        "about twice that time their queries, until all signs agree. The training loss "
        "falls exponentially, the test loss stays of order 1. The first two steps are "
        "from a run with steps a thousand times smaller, as in the paper; bands are "
        "the range over samples and seeds. " + ATTENTION
    ),
    needs={"run": signgd(), "slow start": slow_start()},
    draw=draw,
    values=values,
    checks=checks,
    silent=(SEEDS_SILENT, PRECISION_SILENT),
)
