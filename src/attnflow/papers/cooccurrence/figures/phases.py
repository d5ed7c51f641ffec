"""Ends of phases over widths: detected on the clock b0·t, and by formula."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.cooccurrence.claims.evidence import WIDTHS
from attnflow.papers.cooccurrence.figures import panels
from attnflow.papers.cooccurrence.figures.runs import (
    SILENT_THEORY,
    Numbers,
    noise_free,
    power,
    theory,
    three_numbers,
)
from attnflow.papers.cooccurrence.stages import (
    all_correct,
    clock_times,
    common_overtakes,
    formulas,
    loss_level,
    loss_reaches,
    signal_correct,
)
from attnflow.papers.cooccurrence.stages.formulas import END_OF_PHASE_ONE
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EVENTS = {
    "T_half": (common_overtakes, "common", r"$T_{1/2}$"),
    "T1": (all_correct, "easy", r"$T_1$"),
    "T_sig": (signal_correct, "signal", r"$T_{\mathrm{sig}}$"),
    "T_star": (loss_reaches, "hard", r"$T^*$"),
}
"""By name: detector, kind (which gives the colour), and symbol."""
LIMIT = "without noise"
BAR = 0.3
"""Half the height of a row's bar."""


def events_of(run: xr.Dataset) -> dict[str, np.ndarray]:
    """Times b0·t of all events, per seed."""
    return {
        name: clock_times(run, detect(run)) for name, (detect, _, _) in EVENTS.items()
    }


def star_formula(run: xr.Dataset) -> float:
    """b0·T_star = |w*|² / Loss."""
    machine = formulas.counts_machine(schema.setting_of(run))
    return machine.norm_squared / loss_level(schema.setting_of(run))


def draw(evidence: Evidence) -> Figure:
    """Figure with a row of event times for each width."""
    title = "Ends of phases on the clock $b_0 t$: each seed a dot, formulas dashed"
    figure, grid = figures.panels(titles=[title], size=(9.6, 4.9))
    ax = grid[0, 0]
    ax.set_xscale("log")
    ax.set_xlim(1.5, 4 * max(star_formula(run) for run in evidence.values()))
    for row, run in enumerate(evidence.values()):
        _row(ax, -row, run)
    _names(ax, evidence)
    _constant(ax, len(evidence))
    figures.number_axis(ax, "x")
    ax.set_xlabel(panels.CLOCK)
    return figure


def _row(ax: Axes, height: int, run: xr.Dataset) -> None:
    theme, events = figures.current_theme(), events_of(run)
    left = ax.get_xlim()[0]
    first, last = (float(np.median(events[name])) for name in ("T1", "T_star"))
    bar = partial(ax.barh, height, height=2 * BAR, lw=0, zorder=0)
    bar(first - left, left=left, color=theme.hairline)
    bar(last - first, left=first, color=theme.stages[0])
    for name, (_, kind, _) in EVENTS.items():
        times = events[name]
        heights = height + 0.16 * np.linspace(-1, 1, len(times)) * (len(times) > 1)
        style = {"ms": 5.5, "ls": "", "marker": "o", "mec": theme.paper, "mew": 0.6}
        ax.plot(times, heights, color=theme.colour(kind), zorder=4, **style)
    formula = star_formula(run)
    ax.vlines(
        formula, height - BAR, height + BAR, color=theme.ink, lw=1.1, ls=(0, (3, 2))
    )
    text = f"{last / formula:.3f}"
    if height == 0:
        text += r" of $b_0 t = |w^*|^2 m$"
    offset = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
    right = max(formula, last)
    ax.annotate(text, (right, height), size="small", color=theme.muted, **offset)


def _names(ax: Axes, evidence: Evidence) -> None:
    """Label rows with widths, and events above the first row."""
    ax.set_yticks(-np.arange(len(evidence)), [_row_name(n) for n in evidence])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(-len(evidence) + 0.45, 1.05)
    theme = figures.current_theme()
    first = next(iter(evidence.values()))
    for name, times in events_of(first).items():
        _, kind, symbol = EVENTS[name]
        ax.text(
            float(np.median(times)),
            BAR + 0.08,
            symbol,
            size=12.5,
            ha="center",
            va="bottom",
            color=theme.colour(kind),
        )


def _row_name(name: str) -> str:
    if name == LIMIT:
        return "no noise,\n$m = 10^6$"
    return panels.size_name("m", float(name.removeprefix("m = ")))


def _constant(ax: Axes, rows: int) -> None:
    theme = figures.current_theme()
    ax.vlines(
        END_OF_PHASE_ONE,
        -rows + 0.6,
        BAR + 0.1,
        zorder=1,
        color=theme.ink,
        lw=1.1,
        ls=(0, (3, 2)),
    )
    text = f"$C_{{T_1}} = {END_OF_PHASE_ONE:g}$"
    ax.text(1.15 * END_OF_PHASE_ONE, BAR + 0.42, text, size="small", color=theme.muted)


def values(evidence: Evidence) -> dict[str, Numbers]:
    """Times on the clock, and by formula."""
    numbers: dict[str, Numbers] = {
        name: {
            **{event: three_numbers(t) for event, t in events_of(run).items()},
            "formula for T_star": star_formula(run),
            "T_star over its formula": _ratio(run),
        }
        for name, run in evidence.items()
    }
    numbers["log-log slope of T1 over m, in time"] = _slope(evidence)
    return numbers


def _ratio(run: xr.Dataset) -> float:
    return float(np.median(events_of(run)["T_star"])) / star_formula(run)


def _finite(evidence: Evidence) -> dict[int, xr.Dataset]:
    return {width: evidence[f"m = {width}"] for width in WIDTHS}


def _slope(evidence: Evidence) -> float:
    times = [np.median(all_correct(run).times) for run in _finite(evidence).values()]
    return power(np.array(WIDTHS), np.array(times))


def checks(evidence: Evidence) -> dict[str, bool]:
    """Order of events, and their dependence on the width."""
    times_by_width = [events_of(run) for run in _finite(evidence).values()]
    ordered = [
        np.diff([times[name] for name in EVENTS], axis=0).min() > 0
        for times in times_by_width
    ]
    first = np.array([np.median(times["T1"]) for times in times_by_width])
    half = np.array([np.median(times["T_half"]) for times in times_by_width])
    ratios = np.array([_ratio(run) for run in _finite(evidence).values()])
    return {
        "T_half, T1, T_sig, T_star come in this order in every seed": all(ordered),
        "over a factor 256 of m, T_half and T1 change by less than a quarter": bool(
            first.max() < 1.25 * first.min() and half.max() < 1.25 * half.min()
        ),
        "in time T1 falls as 1/m: log-log slope −1 ± 0.05": (
            abs(_slope(evidence) + 1) < 0.05
        ),
        "phase 1 is over before b0·t = 20 in every seed": all(
            times["T1"].max() < END_OF_PHASE_ONE for times in times_by_width
        ),
        "T_star comes nearer to |w*|² m with every width, to 1% at the largest": bool(
            (np.diff(np.abs(ratios - 1)) < 0).all() and abs(ratios[-1] - 1) < 0.01
        ),
    }


PHASES = Exhibit(
    id="phases",
    kind="figure",
    title="When the phases end, over widths from 512 to 131 072",
    caption=(
        "Gradient flow under the theory's assumptions, three seeds for each width. "
        "T_{1/2}: from then on the readout of the common token moves faster than those "
        "of the targets. T1: all samples are correct for good, and Phase 1 (dark) "
        "ends. T_sig: they would be correct without their fillers, which are memorised "
        "first. T*: the loss is 1/m, and Phase 2 (pale) ends. T1 is Θ(1/m), constant "
        "on this clock; it is later with noise than without, since initial readouts do "
        "not vanish with the width. The formula for T* is b·t·Loss = |w*|² with b = "
        "b(0), which b exceeds at small widths."
    ),
    needs={
        **{f"m = {width}": theory(width) for width in WIDTHS},
        LIMIT: noise_free(60.0, samples=24.0),
    },
    draw=draw,
    values=values,
    checks=checks,
    silent=SILENT_THEORY,
)
