"""Ends of phases over widths: detected on the clock b0·t, and by formula."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from attnflow import figures, schema
from attnflow.figures.exhibits import Free, Panels, Tables
from attnflow.figures.exhibits.ladder import slope
from attnflow.papers.cooccurrence.claims.evidence import WIDTHS
from attnflow.papers.cooccurrence.figures import lines, runs
from attnflow.papers.cooccurrence.stages import all_correct, formulas, loss_level
from attnflow.papers.cooccurrence.stages.formulas import END_OF_PHASE_ONE
from attnflow.schema.declarations import Exhibit
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EVENTS = {
    "T_half": ("common", r"$T_{1/2}$"),
    "T1": ("easy", r"$T_1$"),
    "T_sig": ("signal", r"$T_{\mathrm{sig}}$"),
    "T_star": ("hard", r"$T^*$"),
}
"""By name: kind (which gives the colour), and symbol."""
LIMIT = "without noise"
BAR = 0.3
"""Half the height of a row's bar."""
DASHES = {"lw": 1.1, "ls": (0, (3, 2))}


class Ends(NamedTuple):
    """Times b0·t of a width's events, and the formula |w*|² / Loss of the last one."""

    times: dict[str, np.ndarray]
    formula: float

    @property
    def medians(self) -> dict[str, float]:
        """The median time of each event over seeds."""
        return {name: float(np.median(times)) for name, times in self.times.items()}

    @property
    def ratio(self) -> float:
        """T_star over its formula."""
        return self.medians["T_star"] / self.formula


def _ends(run: xr.Dataset) -> Ends:
    setting = schema.setting_of(run)
    norm = formulas.counts_machine(setting).norm_squared
    return Ends(runs.clock_events(run), norm / loss_level(setting))


def _draw(ax: Axes, rows: dict[str, Ends]) -> None:
    """A row of event times for each width."""
    ax.set_xscale("log")
    ax.set_xlim(1.5, 4 * max(ends.formula for ends in rows.values()))
    for row, ends in enumerate(rows.values()):
        _row(ax, -row, ends)
    _names(ax, rows)
    _constant(ax, len(rows))


def _row(ax: Axes, height: int, ends: Ends) -> None:
    theme, left = figures.current_theme(), ax.get_xlim()[0]
    first, last = (ends.medians[name] for name in ("T1", "T_star"))
    bar = partial(ax.barh, height, height=2 * BAR, lw=0, zorder=0)
    bar(first - left, left=left, color=theme.hairline)
    bar(last - first, left=first, color=theme.stages[0])
    for name, times in ends.times.items():
        heights = height + 0.16 * np.linspace(-1, 1, len(times)) * (len(times) > 1)
        style = {"ms": 5.5, "ls": "", "marker": "o", "mec": theme.paper, "mew": 0.6}
        ax.plot(times, heights, color=theme.colour(EVENTS[name][0]), zorder=4, **style)
    ax.vlines(ends.formula, height - BAR, height + BAR, color=theme.ink, **DASHES)
    text = f"{ends.ratio:.3f}" + (r" of $b_0 t = |w^*|^2 m$" if height == 0 else "")
    offset = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
    right = max(ends.formula, last)
    ax.annotate(text, (right, height), size="small", color=theme.muted, **offset)


def _names(ax: Axes, rows: dict[str, Ends]) -> None:
    """Label rows with widths, and events above the first row."""
    names = [lines.size_name("m", width) for width in WIDTHS]
    ax.set_yticks(-np.arange(len(rows)), [*names, "no noise,\n$m = 10^6$"])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(-len(rows) + 0.45, 1.05)
    for name, time in next(iter(rows.values())).medians.items():
        kind, symbol = EVENTS[name]
        style = {"ha": "center", "va": "bottom", "size": 12.5}
        colour = figures.current_theme().colour(kind)
        ax.text(time, BAR + 0.08, symbol, color=colour, **style)


def _constant(ax: Axes, rows: int) -> None:
    theme, time = figures.current_theme(), END_OF_PHASE_ONE
    ax.vlines(time, 0.6 - rows, BAR + 0.1, zorder=1, color=theme.ink, **DASHES)
    text = f"$C_{{T_1}} = {time:g}$"
    ax.text(1.15 * time, BAR + 0.42, text, size="small", color=theme.muted)


PANEL = Free(
    title="Ends of phases on the clock $b_0 t$: each seed a dot, formulas dashed",
    name="ends",
    x=lines.CLOCK,
    scales=("log", "linear"),
    ticks={"x": 5},
    names="",
    of=lambda evidence: {name: _ends(run) for name, run in evidence.items()},
    picture=_draw,
)


def values(table: Tables) -> dict[str, Any]:
    """Times on the clock, and by formula."""
    return {
        name: {
            **{event: runs.three_numbers(times) for event, times in ends.times.items()},
            "formula for T_star": ends.formula,
            "T_star over its formula": ends.ratio,
        }
        for name, ends in table["ends"].items()
    } | {"log-log slope of T1 over m, in time": _slope(table)}


def _finite(table: Tables) -> list[Ends]:
    return [table["ends"][f"m = {width}"] for width in WIDTHS]


def _gaps(table: Tables) -> list[float]:
    """Distance of T_star over its formula from 1, by width."""
    return [abs(ends.ratio - 1) for ends in _finite(table)]


def _slope(table: Tables) -> float:
    return slope(runs.by_width(table.runs, lambda run: all_correct(run).times, WIDTHS))


CHECKS = {
    "T_half, T1, T_sig, T_star come in this order in every seed": lambda t: [
        np.diff(list(ends.times.values()), axis=0) > 0 for ends in _finite(t)
    ],
    "over a factor 256 of m, T_half and T1 change by less than a quarter": lambda t: [
        max(times) < 1.25 * min(times)
        for name in ("T_half", "T1")
        for times in [[ends.medians[name] for ends in _finite(t)]]
    ],
    "measured in time t, T1 falls as 1/m: log-log slope −1 ± 0.05": (
        lambda t: abs(_slope(t) + 1) < 0.05
    ),
    "phase 1 is over before b0·t = 20 in every seed": lambda t: [
        ends.times["T1"] < END_OF_PHASE_ONE for ends in _finite(t)
    ],
    "T_star approaches |w*|² m as the width grows, to 1% at the largest": (
        lambda t: [*(np.diff(_gaps(t)) < 0), _gaps(t)[-1] < 0.01]
    ),
}

PHASES = Exhibit(
    id="phases",
    kind="figure",
    title="When the phases end, over widths from 512 to 131 072",
    caption=(
        "End times of the phases against width, for gradient flow under the theory's "
        "assumptions, three seeds for each width. T_{1/2}: from then on the readout "
        "of the common token moves faster than those of the targets. T1: all samples "
        "are correct for good, and Phase 1 (dark) ends. T_sig: they would be correct "
        "even without their fillers, which are memorised first. T*: the loss is 1/m, "
        "and Phase 2 (pale) ends. T1 is Θ(1/m), constant on this clock; it is later "
        "with noise than without, since initial readouts do not vanish with the "
        "width. The formula for T* is b·t·Loss = |w*|² with b = b(0), which b "
        "exceeds at small widths."
    ),
    needs={
        **{f"m = {width}": runs.theory(width) for width in WIDTHS},
        LIMIT: runs.noise_free(60.0, samples=24.0),
    },
    shows=Panels((PANEL,), size=(9.6, 4.9)),
    values=values,
    checks=CHECKS,
    silent=runs.SILENT_THEORY,
)
