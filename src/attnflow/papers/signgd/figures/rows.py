"""Figures 3 to 6: training dynamics in each setting of Table 3."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.signgd import stages
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.figure1 import LATE, start_of_keys, turning_points
from attnflow.papers.signgd.figures.marks import MARKS, marks, on_paper
from attnflow.papers.signgd.figures.overview import slow
from attnflow.papers.signgd.figures.runs import (
    ATTENTION,
    PRECISION_SILENT,
    ROWS,
    SEEDS_SILENT,
    signgd,
    slow_start,
)
from attnflow.papers.signgd.figures.statistics import leaves_first, three_numbers
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = (
    "Key noise, first two steps",
    "Mean values, first two steps",
    "Attention",
    "One neuron",
)
ABOUT = {
    "a": "sparse noise, s = 0.04 d, orthogonal to the signal",
    "b": "sparse noise, s = 0.04 d, not orthogonal to the signal",
    "c": "dense noise, s = 0.4 d, orthogonal to the signal",
    "d": "dense noise, s = 0.4 d, not orthogonal to the signal",
}
TURNS = ("keys turn", "queries turn")
QUARTER = 0.25


def draw(evidence: Evidence) -> Figure:
    """Draw the start of keys and values; attention and one neuron up to t = 900."""
    figure, grid = figures.panels(2, 2, titles=TITLES, size=(11.6, 7.8))
    run, early = evidence["run"], slow(evidence)
    start_of_keys(grid[0, 0], early)
    panels.values(grid[0, 1], early)
    panels.attention(grid[1, 0], run.sel(time=slice(0, LATE)))
    panels.one_neuron(grid[1, 1], run, between=(0, LATE))
    turning_points(grid[1, 1], run)
    for ax in grid.flat:
        figures.label_ends(ax)
    return figure


def relative_moves(early: xr.Dataset) -> dict[str, np.ndarray]:
    """The move of value noise and key noise in two steps, relative to initial sizes.

    Medians over tokens, and for keys over neurons, by seed.
    """
    tables = {
        "value noise": series.value_noise(early),
        "key noise": series.noise(early, "key_neuron"),
    }
    moves = {}
    for name, table in tables.items():
        over = [dim for dim in table.dims if dim not in (SEED, TIME)]
        first, last = table.isel(time=0), table.isel(time=-1)
        moves[name] = (abs(last - first).median(over) / abs(first).median(over)).values
    return moves


def values(evidence: Evidence) -> Values:
    """Detected times, moves in two steps, and losses at the end."""
    run = evidence["run"]
    steps = relative_moves(evidence["slow start"])
    return {
        **marks(run),
        "move in two steps, over the size at the start": {
            name: three_numbers(share) for name, share in steps.items()
        },
        "training loss at the end": three_numbers(schema.last(run, "loss").values),
        "test loss at the end": three_numbers(schema.last(run, "test_loss").values),
    }


def stated(evidence: Evidence, place: str) -> dict[str, Sentences]:
    """Statements of the caption of Figure 3, which are to hold in all settings."""
    run = evidence["run"]
    steps = relative_moves(evidence["slow start"])
    keys, queries = (MARKS[name][1](run).times for name in TURNS)
    sentences = {
        "in two steps the mean values of noise move further than they were from 0, and "
        "key noise does not": bool(
            steps["value noise"].min() > 1 > steps["key noise"].max()
        ),
        "as noise leaves the signal, s21 < 0.2, signals do not, s11 > 0.4": (
            leaves_first(run)
        ),
        "outvoted queries turn 1.6 to 2.1 times as late as keys, in every seed": bool(
            ((queries > 1.6 * keys) & (queries < 2.1 * keys)).all()
        ),
    }
    return {place: sentences}


def checks(evidence: Evidence) -> dict[str, bool]:
    """When Stage I is over."""
    return {
        "all mean values of noise are positive from t = 3 at the latest": bool(
            (stages.values_positive(evidence["run"]).times <= 3).all()
        )
    }


def _of_row(row: str, number: int) -> Exhibit:
    place = "Caption of Figure 3" if row == "a" else "Appendix B.2"
    printed_marks = {name: MARKS[name] for name in TURNS} if row == "a" else {}
    return Exhibit(
        id=f"figure{number}",
        kind="figure",
        title=f"Figure {number}: data setting ({row})",
        caption=(
            f"Setting ({row}) of Table 3, d = 2000: {ABOUT[row]}. Neuron 0 of seed 0; "
            "attention over all samples and seeds (bands: their range); turning points "
            "are medians over seeds. Claimed: mean value noise is linear in t from the "
            "first two steps on, while key noise stays near its initial value; "
            "attention of noise leaves the signal while that of signals stays at 1/2; "
            "outvoted keys turn then, and queries at about twice that time. In dense "
            "settings the noise of different samples overlaps everywhere, and times "
            "are earlier. " + ATTENTION
        ),
        needs={"run": signgd(row), "slow start": slow_start(row)},
        draw=draw,
        values=values,
        stated=partial(stated, place=place),
        checks=checks,
        printed=on_paper(printed_marks),
        tolerance=QUARTER,
        silent=(SEEDS_SILENT, PRECISION_SILENT),
    )


FIGURES3TO6 = tuple(map(partial(_of_row), ROWS, (3, 4, 5, 6)))
