"""Our figure on the lattice: disjoint supports of 10^6 coordinates, times 1 : 2 : 4."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.figures.exhibits import Course, Line, Panels, Rows, Series, Tables
from attnflow.figures.exhibits.rows import APART
from attnflow.papers.signgd import stages
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels, runs, statistics
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EXPECTED = dict(zip(statistics.TURNS, (1.0, 2.0, 4.0), strict=True))
"""Expected times of the events in units of T4⁻."""
CLOCK = r"time in units of $T_4^-$"
WITHIN = 0.05
LAST = 5.5


def unit(run: xr.Dataset, name: str = "T4-") -> float:
    """T4⁻ by our formula, or by another of the paper's."""
    time = stages.stage_formulas(run)[name].time
    assert time is not None
    return time


def on_clock(run: xr.Dataset) -> xr.Dataset:
    """The run with its time axis in units of our formula for T4⁻."""
    growth = sizes(schema.setting_of(run)).growth
    clock = stages.clock_of(run[TIME].values, growth) / unit(run)
    return run.assign_coords({TIME: clock})


def times(evidence: Evidence) -> dict[str, np.ndarray]:
    """Times of the events in units of T4⁻, by seed."""
    run = evidence["run"]
    return {
        name: stages.clock_times(run, detect(run)) / unit(run)
        for name, detect in statistics.TURNS.items()
    }


def quiet(table: Tables) -> np.ndarray:
    """A mask of the seeds without a pair in a two-cycle."""
    return (stages.two_cycles(table.runs["run"]) == 0).values


def _turned(run: xr.Dataset, observable: str) -> xr.DataArray:
    """The fraction of outvoted noise that turned, at midpoints between records."""
    clock = on_clock(run)[TIME].values
    share = stages.turned_share(run, observable)
    return share.assign_coords({TIME: (clock[1:] + clock[:-1]) / 2})


def _mark(ax: Axes, table: Series) -> None:
    for when in EXPECTED.values():
        figures.mark_place(ax, when)


def _mark_attention(ax: Axes, table: Series) -> None:
    panels.name_falls(ax, table)
    _mark(ax, table)


def _grey(figure: object, grid: np.ndarray, table: Tables) -> None:
    """Seeds with a pair that swings are grey."""
    colour, swings = figures.current_theme().colour("other"), ~quiet(table)
    places = np.linspace(-APART, APART, len(swings))[swings]
    for row, seconds in enumerate(table["Times of every seed"].values()):
        grid[1, 1].plot(seconds[swings], row + places, "o", color=colour, zorder=5)


SHARES = {
    "keys turned": (partial(_turned, observable="key_neuron"), "hard", panels.DASHES),
    "queries turned": (partial(_turned, observable="query_neuron"), "hard", "-"),
    "query signs agree": (
        lambda run: series.following(on_clock(run), "query_neuron"),
        "easy",
        "-",
    ),
}
"""By curve: its series, kind and dashes."""
AXIS = {"x": CLOCK, "xlim": (0, LAST), "ticks": {"x": 6, "y": 5}}
PANELS = (
    panels.neuron("One neuron", look=on_clock, finish=_mark, **AXIS),
    Course(
        title="What follows the query signal",
        y="share: outvoted that turned, signs that agree",
        ylim=(-0.03, 1.04),
        lines=tuple(
            Line(name, of, kind=kind, dashes=dashes, band="none")
            for name, (of, kind, dashes) in SHARES.items()
        ),
        finish=_mark,
        **AXIS,
    ),
    panels.attention("Attention", look=on_clock, finish=_mark_attention, **AXIS),
    Rows(
        title="Times of every seed",
        x=CLOCK,
        xlim=(0, 4.6),
        of=times,
        rows={name: name for name in statistics.TURNS},
        lines={f"{when:g}": when for when in EXPECTED.values()},
        kind="signal",
    ),
)


def _steady(table: Tables) -> Mapping[str, np.ndarray]:
    """Times of the seeds without two-cycles."""
    return {n: when[quiet(table)] for n, when in table["Times of every seed"].items()}


def _over_keys(table: Tables, name: str) -> np.ndarray:
    return _steady(table)[name] / _steady(table)["keys turn"]


def values(table: Tables) -> Values:
    """Times in units of T4⁻ and ratios of times, on seeds without two-cycles."""
    run, keys, is_quiet = table.runs["run"], _steady(table)["keys turn"], quiet(table)
    ratios = {
        "keys turn, over T4⁻ (ours)": keys,
        "keys turn, over T4⁻ (upper, printed)": keys * unit(run) / unit(run, "T4-_hi"),
        "queries turn, over keys": _over_keys(table, "queries turn"),
        "all signs agree, over keys": _over_keys(table, "all signs agree"),
    }
    seeds = {
        "all": len(is_quiet),
        "with pairs that swing": int((~is_quiet).sum()),
        "pairs that swing": int(stages.two_cycles(run).sum()),
    }
    return {**statistics.over_seeds(ratios), "seeds": seeds}


LATTICE_FIGURE = Exhibit(
    id="lattice",
    kind="figure",
    title="Disjoint supports of a million coordinates",
    caption=(
        "One neuron, attention and detected times under SignGD where the theory "
        "applies: supports are disjoint, so that only the norms of the noise matter, "
        "s = 10⁶, n = 9, m_k = 20, σ_0 = 1e-8, and the formulas' times are in the "
        "printed order. Ten seeds; neuron 0 of seed 0, medians, and each seed as a "
        "dot (grey: with a pair that oscillates for ever). Time is in units of T4⁻ "
        "with the constant of its proof. Outvoted keys turn at 1 and are back at "
        "zero at 2, when the queries turn; the queries are back at zero at 4, when "
        "all signs agree: all lines have the same slope. Steps grow with time; the "
        "run takes ten thousand of them for any s. " + runs.ATTENTION
    ),
    needs={"run": runs.LATTICE},
    shows=Panels(PANELS, columns=2, size=(11.8, 7.8), finish=_grey),
    values=values,
    checks={
        "in at least half of the seeds no pair oscillates for ever": lambda t: (
            quiet(t).mean() >= 0.5
        ),
        "in these seeds keys turn at T4⁻ (our formula) within 5%": lambda t: (
            abs(_steady(t)["keys turn"] - 1) < WITHIN
        ),
        "queries turn at twice that time within 5%": lambda t: (
            abs(_over_keys(t, "queries turn") / 2 - 1) < WITHIN
        ),
        "all signs agree at four times that time within 5%": lambda t: (
            abs(_over_keys(t, "all signs agree") / 4 - 1) < WITHIN
        ),
        "up to T4⁻ signals attend as at the start: s11 within 0.02 of 1/2": lambda t: (
            abs(t["Attention"]["s11"].sel(time=slice(0, 1)) - 0.5) < 0.02
        ),
    },
    silent=(runs.SEEDS_SILENT, "The paper has no experiment with disjoint supports."),
)
