"""Our figure: disjoint supports of 10^6 coordinates, where the theory's times hold."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import figures, schema
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.readings import three_numbers
from attnflow.papers.signgd.figures.runs import ATTENTION, LATTICE, SEEDS_SILENT
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.dims import SEED, TIME

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
"""What happens, and when in units of T4⁻."""
CLOCK = r"time in units of $T_4^-$"
WITHIN = 0.05
LAST = 5.5


def on_clock(run: xr.Dataset) -> xr.Dataset:
    """The run with its time in units of our formula for T4⁻."""
    unit = stages.stage_formulas(run)["T4-"].time
    assert unit is not None
    growth = sizes(schema.setting_of(run)).growth
    return run.assign_coords({TIME: stages.clock_of(run[TIME].values, growth) / unit})


def times(run: xr.Dataset) -> dict[str, np.ndarray]:
    """The times of events in units of T4⁻, of each seed."""
    unit = stages.stage_formulas(run)["T4-"].time
    assert unit is not None
    return {
        name: stages.clock_times(run, detect(run)) / unit
        for name, (detect, _) in EVENTS.items()
    }


def quiet(run: xr.Dataset) -> np.ndarray:
    """Which seeds have no pair that swings."""
    return (stages.two_cycles(run) == 0).values


def draw(evidence: Evidence) -> "Figure":
    """One neuron, shares, attention, and the times of all seeds."""
    figure, grid = figures.panels(2, 2, titles=TITLES, size=(11.8, 7.8))
    run = evidence["run"]
    moved = on_clock(run)
    panels.one_neuron(grid[0, 0], moved)
    grid[0, 0].set_ylabel(r"$\langle w_s,\,\cdot\,\rangle$, neuron 0")
    _shares(grid[0, 1], run, moved)
    panels.attention(grid[1, 0], moved)
    for ax in (grid[0, 0], grid[0, 1], grid[1, 0]):
        ax.set(xlim=(0, LAST), xlabel=CLOCK, xticks=range(6))
        for _, when in EVENTS.values():
            _mark(ax, when)
        figures.label_ends(ax)
    _dots(grid[1, 1], run)
    return figure


def _mark(ax: "Axes", when: float) -> None:
    theme = figures.current_theme()
    ax.axvline(when, color=theme.muted, lw=0.8, ls=(0, (1, 2)), zorder=1)


def _shares(ax: "Axes", run: xr.Dataset, moved: xr.Dataset) -> None:
    """Outvoted noise that moves, and query noise that is, as the query signal."""
    middle = _middles(moved)
    curves = {
        "keys turned": (
            stages.turned(run, "key_neuron"),
            middle,
            "hard",
            panels.DASHES,
        ),
        "queries turned": (stages.turned(run, "query_neuron"), middle, "hard", "-"),
        "query signs agree": (
            series.following(moved, "query_neuron"),
            moved[TIME].values,
            "easy",
            "-",
        ),
    }
    for name, (table, clock, kind, line) in curves.items():
        shown = table.transpose(SEED, TIME)
        median = shown.median(SEED)
        colour = figures.current_theme().colour(kind)
        ax.plot(clock, median, color=colour, ls=line, label=name)
    ax.set(ylim=(-0.03, 1.04), ylabel="share: outvoted that turned, signs that agree")


def _middles(moved: xr.Dataset) -> np.ndarray:
    """Times between records, as the shares of what turned have them."""
    clock = moved[TIME].values
    return (clock[1:] + clock[:-1]) / 2


def _dots(ax: "Axes", run: xr.Dataset) -> None:
    """Each seed as a dot, beside the level that it should be at."""
    theme = figures.current_theme()
    found, steady = times(run), quiet(run)
    for place, (name, (_, level)) in enumerate(EVENTS.items()):
        figures.reference(ax, level, f"{level:g}")
        spots = np.linspace(-0.25, 0.25, len(steady)) + place
        for usable, colour in ((True, "signal"), (False, "other")):
            chosen = steady == usable
            ax.plot(
                spots[chosen],
                found[name][chosen],
                color=theme.colour(colour),
                marker="o",
                ls="",
                ms=5.5,
                mec=theme.paper,
            )
    ax.set_xticks(range(len(EVENTS)), list(EVENTS))
    ax.set(xlim=(-0.6, len(EVENTS) - 0.4), ylim=(0, 4.6), ylabel=CLOCK)


def values(evidence: Evidence) -> dict[str, Any]:
    """Times in units of T4⁻ and of each other, on seeds without swinging pairs."""
    run = evidence["run"]
    steady = quiet(run)
    found = {name: when[steady] for name, when in times(run).items()}
    keys = found["keys turn"]
    known = stages.stage_formulas(run)
    printed = known["T4-_hi"].time, known["T4-"].time
    assert printed[0] is not None and printed[1] is not None
    return {
        "keys turn, over T4⁻ (ours)": three_numbers(keys),
        "keys turn, over T4⁻ (upper, printed)": three_numbers(
            keys * printed[1] / printed[0]
        ),
        "queries turn, over keys": three_numbers(found["queries turn"] / keys),
        "all signs agree, over keys": three_numbers(found["all signs agree"] / keys),
        "seeds": {
            "all": len(steady),
            "with pairs that swing": int((~steady).sum()),
            "pairs that swing": int(stages.two_cycles(run).sum()),
        },
    }


def seen(evidence: Evidence) -> dict[str, bool]:
    """Times at 1 : 2 : 4, and attention that stays until then."""
    run = evidence["run"]
    steady, found = quiet(run), times(run)
    keys = found["keys turn"]
    early = series.signal_to_signal(on_clock(run)).sel(time=slice(0, 1))
    return {
        "half of the seeds or more have no pair that swings": bool(
            steady.mean() >= 0.5
        ),
        "on these keys turn at T4⁻ (ours) within 5%": bool(
            (abs(keys[steady] - 1) < WITHIN).all()
        ),
        "queries turn at twice that time within 5%": bool(
            (abs(found["queries turn"] / keys / 2 - 1)[steady] < WITHIN).all()
        ),
        "all signs agree at four times that time within 5%": bool(
            (abs(found["all signs agree"] / keys / 4 - 1)[steady] < WITHIN).all()
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
        "SignGD where the theory applies: supports are disjoint, so that norms of the "
        "noise are all that matters, s = 10⁶, n = 9, m_k = 20, σ_0 = 1e-8, and the "
        "formulas' times have their printed order. Ten seeds; neuron 0 of seed 0, "
        "medians, and each seed as a dot (grey: with a pair that swings for ever). "
        "Time is in units of T4⁻ with the constant of its proof. Keys turn at 1, "
        "queries at 2, when the keys are back at zero, and all signs agree at 4, when "
        "the queries are: lines of one slope. Steps grow with time; the run takes ten "
        "thousand of them, whatever s is. " + ATTENTION
    ),
    needs={"run": LATTICE},
    draw=draw,
    values=values,
    seen=seen,
    printed={"queries turn, over keys": {"median": 2.0}},
    tolerance=WITHIN,
    silent=(
        SEEDS_SILENT,
        "The paper has no experiment with disjoint supports.",
    ),
)
