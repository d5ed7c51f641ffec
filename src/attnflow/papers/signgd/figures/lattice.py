"""Our figure on the lattice: disjoint supports of 10^6 coordinates, times 1 : 2 : 4."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.runs import ATTENTION, LATTICE, SEEDS_SILENT
from attnflow.papers.signgd.figures.statistics import three_numbers
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLES = (
    "One neuron",
    "What follows the query signal",
    "Attention",
    "Times of every seed",
)
EVENTS = {
    "keys turn": (stages.keys_turn, 1.0),
    "queries turn": (stages.queries_turn, 2.0),
    "all signs agree": (stages.all_follow, 4.0),
}
"""Detectors of events, and their expected times in units of T4⁻."""
CLOCK = r"time in units of $T_4^-$"
WITHIN = 0.05
LAST = 5.5


def on_clock(run: xr.Dataset) -> xr.Dataset:
    """The run with its time axis in units of our formula for T4⁻."""
    unit = stages.stage_formulas(run)["T4-"].time
    assert unit is not None
    growth = sizes(schema.setting_of(run)).growth
    return run.assign_coords({TIME: stages.clock_of(run[TIME].values, growth) / unit})


def times(run: xr.Dataset) -> dict[str, np.ndarray]:
    """Times of the events in units of T4⁻, by seed."""
    unit = stages.stage_formulas(run)["T4-"].time
    assert unit is not None
    return {
        name: stages.clock_times(run, detect(run)) / unit
        for name, (detect, _) in EVENTS.items()
    }


def quiet(run: xr.Dataset) -> np.ndarray:
    """A mask of the seeds without a pair in a two-cycle."""
    return (stages.two_cycles(run) == 0).values


def draw(evidence: Evidence) -> Figure:
    """Draw one neuron, fractions that turned, attention, and the times of all seeds."""
    figure, grid = figures.panels(2, 2, titles=TITLES, size=(11.8, 7.8))
    run = evidence["run"]
    scaled = on_clock(run)
    panels.one_neuron(grid[0, 0], scaled)
    grid[0, 0].set_ylabel(r"$\langle w_s,\,\cdot\,\rangle$, neuron 0")
    _shares(grid[0, 1], run, scaled)
    panels.attention(grid[1, 0], scaled)
    for ax in (grid[0, 0], grid[0, 1], grid[1, 0]):
        ax.set(xlim=(0, LAST), xlabel=CLOCK, xticks=range(6))
        for _, when in EVENTS.values():
            _mark(ax, when)
        figures.label_ends(ax)
    _dots(grid[1, 1], run)
    return figure


def _mark(ax: Axes, when: float) -> None:
    theme = figures.current_theme()
    ax.axvline(when, color=theme.muted, lw=0.8, ls=(0, (1, 2)), zorder=1)


def _shares(ax: Axes, run: xr.Dataset, scaled: xr.Dataset) -> None:
    """Fractions of outvoted noise that turned, and of query signs that agree."""
    middle = _middles(scaled)
    curves = {
        "keys turned": (
            stages.turned_share(run, "key_neuron"),
            middle,
            "hard",
            panels.DASHES,
        ),
        "queries turned": (
            stages.turned_share(run, "query_neuron"),
            middle,
            "hard",
            "-",
        ),
        "query signs agree": (
            series.following(scaled, "query_neuron"),
            scaled[TIME].values,
            "easy",
            "-",
        ),
    }
    for name, (table, clock, kind, line) in curves.items():
        shares = table.transpose(SEED, TIME)
        median = shares.median(SEED)
        colour = figures.current_theme().colour(kind)
        ax.plot(clock, median, color=colour, ls=line, label=name)
    ax.set(ylim=(-0.03, 1.04), ylabel="share: outvoted that turned, signs that agree")


def _middles(scaled: xr.Dataset) -> np.ndarray:
    """Midpoints between records, the times of `turned_share`."""
    clock = scaled[TIME].values
    return (clock[1:] + clock[:-1]) / 2


def _dots(ax: Axes, run: xr.Dataset) -> None:
    """The times of each seed as dots, with the expected levels."""
    theme = figures.current_theme()
    times_by_event, steady = times(run), quiet(run)
    for column, (name, (_, level)) in enumerate(EVENTS.items()):
        figures.reference(ax, level, f"{level:g}")
        spots = np.linspace(-0.25, 0.25, len(steady)) + column
        for usable, colour in ((True, "signal"), (False, "other")):
            is_shown = steady == usable
            ax.plot(
                spots[is_shown],
                times_by_event[name][is_shown],
                color=theme.colour(colour),
                marker="o",
                ls="",
                ms=5.5,
                mec=theme.paper,
            )
    ax.set_xticks(range(len(EVENTS)), list(EVENTS))
    ax.set(xlim=(-0.6, len(EVENTS) - 0.4), ylim=(0, 4.6), ylabel=CLOCK)


def values(evidence: Evidence) -> dict[str, dict[str, float]]:
    """Times in units of T4⁻ and ratios of times, on seeds without two-cycles."""
    run = evidence["run"]
    steady = quiet(run)
    steady_times = {name: when[steady] for name, when in times(run).items()}
    keys = steady_times["keys turn"]
    formulas = stages.stage_formulas(run)
    printed = formulas["T4-_hi"].time, formulas["T4-"].time
    assert printed[0] is not None and printed[1] is not None
    return {
        "keys turn, over T4⁻ (ours)": three_numbers(keys),
        "keys turn, over T4⁻ (upper, printed)": three_numbers(
            keys * printed[1] / printed[0]
        ),
        "queries turn, over keys": three_numbers(steady_times["queries turn"] / keys),
        "all signs agree, over keys": three_numbers(
            steady_times["all signs agree"] / keys
        ),
        "seeds": {
            "all": len(steady),
            "with pairs that swing": int((~steady).sum()),
            "pairs that swing": int(stages.two_cycles(run).sum()),
        },
    }


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether times are as 1 : 2 : 4, and attention stays at 1/2 until then."""
    run = evidence["run"]
    steady, times_by_event = quiet(run), times(run)
    keys = times_by_event["keys turn"]
    early = series.signal_to_signal(on_clock(run)).sel(time=slice(0, 1))
    return {
        "half of the seeds or more have no pair that swings": bool(
            steady.mean() >= 0.5
        ),
        "on these keys turn at T4⁻ (ours) within 5%": bool(
            (abs(keys[steady] - 1) < WITHIN).all()
        ),
        "queries turn at twice that time within 5%": bool(
            (abs(times_by_event["queries turn"] / keys / 2 - 1)[steady] < WITHIN).all()
        ),
        "all signs agree at four times that time within 5%": bool(
            (
                abs(times_by_event["all signs agree"] / keys / 4 - 1)[steady] < WITHIN
            ).all()
        ),
        "until then signals attend as they began: s11 within 0.02 of 1/2": bool(
            (abs(early - 0.5) < 0.02).all()
        ),
    }


LATTICE_FIGURE = Exhibit(
    id="lattice",
    kind="figure",
    title="Disjoint supports of a million coordinates",
    caption=(
        "SignGD where the theory applies: supports are disjoint, so that only the "
        "norms of the noise matter, s = 10⁶, n = 9, m_k = 20, σ_0 = 1e-8, and the "
        "formulas' times are in the printed order. Ten seeds; neuron 0 of seed 0, "
        "medians, and each seed as a dot (grey: with a pair that oscillates for ever). "
        "Time is in units of T4⁻ with the constant of its proof. Keys turn at 1, "
        "queries at 2, when the keys are back at zero, and all signs agree at 4, when "
        "the queries are back at zero: all lines have the same slope. Steps grow with "
        "time; the run takes ten thousand of them for any s. " + ATTENTION
    ),
    needs={"run": LATTICE},
    draw=draw,
    values=values,
    checks=checks,
    silent=(
        SEEDS_SILENT,
        "The paper has no experiment with disjoint supports.",
    ),
)
