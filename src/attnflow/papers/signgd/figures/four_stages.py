"""Figures 1 and 3 to 6: the four stages in each setting of Table 3."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits import Course, Line, Panels, Series, Tables
from attnflow.papers.signgd import stages
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels, runs, statistics
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Exhibit
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LATE = 900.0
TURNS = ("keys turn", "queries turn")
QUARTER = 0.25
STARTS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "$K_+Q_+$": ("easy", lambda key, query: (key > 0) & (query > 0)),
    "$K_-Q_-$": ("hard", lambda key, query: (key < 0) & (query < 0)),
    "unlike": ("other", lambda key, query: key * query < 0),
}
"""Classes of pairs by the signs of key and query noise at the start."""
ABOUT = {
    "a": "sparse noise, s = 0.04 d, orthogonal to the signal",
    "b": "sparse noise, s = 0.04 d, not orthogonal to the signal",
    "c": "dense noise, s = 0.4 d, orthogonal to the signal",
    "d": "dense noise, s = 0.4 d, not orthogonal to the signal",
}


def _keys(title: str) -> Course:
    """Key noise of the neuron in its first steps, coloured by signs at the start."""
    return Course(
        title=title,
        x=panels.STEP,
        y=r"key noise $\langle w_s,\, y_i\xi_i\rangle$, neuron 0",
        lines=tuple(
            Line(
                name,
                partial(_by_start, members=members),
                run="slow start",
                kind=kind,
                middle="mean",
                band="seeds",
            )
            for name, (kind, members) in STARTS.items()
        ),
    )


def _by_start(run: xr.Dataset, members: Callable[[Any, Any], Any]) -> xr.DataArray:
    slow = panels.in_papers_steps(run)
    tables = (series.noise(slow, f"{side}_neuron") for side in ("key", "query"))
    keys, queries = (table.isel(panels.FIRST) for table in tables)
    return keys.where(members(keys.isel(time=0), queries.isel(time=0)))


def _values(title: str) -> Course:
    return panels.mean_values(title, "slow start", look=panels.in_papers_steps)


def _attention(title: str) -> Course:
    return panels.attention(title, look=lambda run: run.sel(time=slice(0, LATE)))


def _turning(title: str, first: float, **options: Any) -> Course:
    """One neuron up to t = 900, with the steps at which outvoted noise turns."""
    return panels.neuron(
        title,
        span=(first, LATE),
        marks={name: statistics.ENDS[name] for name in TURNS},
        symbols=dict.fromkeys(TURNS, ""),
        finish=_name_turns,
        **options,
    )


def _name_turns(ax: Axes, table: Series) -> None:
    """Writes the steps of turns beside their dotted lines."""
    for (name, event), at_left in zip(table.marks.items(), (True, False), strict=True):
        if event.median is not None:
            ax.annotate(
                "\n".join(name.split()) + f": {event.median:.0f}",
                (event.median, 0.99),
                xycoords=ax.get_xaxis_transform(),
                xytext=(-3 if at_left else 3, 0),
                textcoords="offset points",
                va="top",
                ha="right" if at_left else "left",
                size="small",
                color=figures.current_theme().muted,
            )


def _legend(figure: Figure, grid: np.ndarray, table: Tables) -> None:
    """Names of colours and lines, in place of a sixth panel."""
    lines = {line.get_label(): line for line in grid[1, 0].get_lines()}
    names = table["III and IV: the outvoted turn"]
    handles = [lines[name] for name in names]
    grid[1, 2].legend(
        handles, names, loc="center", fontsize=12.5, title="panels c and d"
    )


def _grows_linearly(table: Tables) -> bool:
    """Whether value noise ends positive, its last steps within 20% of their mean."""
    early = table.runs["slow start"]
    noise = series.value_noise(early)
    last = noise.diff(TIME).sel(time=slice(float(early[TIME][-1]) / 2, None))
    is_steady = abs(last / last.mean(TIME) - 1) < 0.2
    return bool((noise.isel(time=-1) > 0).all() and is_steady.mean() > 0.95)


def _are_opposite(run: xr.Dataset) -> xr.DataArray:
    """The fraction of neurons with opposite query and key signals at t = 40."""
    query, key = (
        statistics.at_step(series.signal(run, name), 40) for name in panels.SIDES
    )
    return (query * key < 0).mean()


FIGURE1 = Exhibit(
    id="figure1",
    kind="figure",
    title="Figure 1: the four stages of training with SignGD",
    caption=(
        "Values, keys, queries and attention over training by SignGD: setting (a), d "
        "= 2000, neuron 0 of seed 0. Panels a and b have a learning rate a thousand "
        "times smaller, so that the first two steps become 2000. a: mean value noise "
        "turns positive and grows linearly, the mean value signal stays. b: key "
        "noise, by the initial signs of key and query noise. c: key and query noise "
        "align in sign; the query signal follows their majority, the key signal has "
        "the opposite sign. d: the outvoted keys turn, and at about twice that time "
        "the outvoted queries (dotted: median over five seeds). e: attention of "
        "noise leaves the signal first (bands: range over samples and seeds). The "
        "paper's marks, 2, 10, 40, 150 and 300, are round numbers; ours are medians "
        "of detected times, and count as equal where they differ by at most a "
        "quarter. Signs in c and d are chosen so that the query signal ends "
        "positive. " + runs.ATTENTION
    ),
    needs={"run": runs.signgd(), "slow start": runs.slow_start()},
    shows=Panels(
        (
            _values("I: mean values"),
            _keys("I: key noise, by signs at the start"),
            panels.neuron("II and III: signs align, then vote", span=(2, 45), names=""),
            _turning("III and IV: the outvoted turn", 10, names=""),
            _attention("I to IV: attention"),
        ),
        columns=3,
        size=(14.6, 7.8),
        finish=_legend,
    ),
    values=lambda t: statistics.marks(t.runs["run"]),
    stated={
        "Section 3.1": {
            "a: by t = 2 every mean value noise is positive, and grows linearly: its "
            "steps are within 20% of their mean": _grows_linearly,
            "b: key and query noise are aligned in 96% of pairs by t = 10": lambda t: (
                statistics.at_step(series.aligned(t.runs["run"]), 10) > 0.96
            ),
            "c: at t = 40 query and key signals are opposite in 90% of neurons": (
                lambda t: _are_opposite(t.runs["run"]) > 0.9
            ),
            "e: as noise leaves the signal, s21 < 0.2, signals do not, s11 > 0.4": (
                lambda t: statistics.leaves_first(t.runs["run"])
            ),
        }
    },
    checks={
        "d: outvoted keys turn at 150, queries at 300, within a quarter in every "
        "seed": lambda t: [
            abs(
                statistics.ENDS[name](t.runs["run"]).times / statistics.PRINTED[name]
                - 1
            )
            < QUARTER
            for name in TURNS
        ]
    },
    printed={name: {"median": step} for name, step in statistics.PRINTED.items()},
    tolerance=QUARTER,
    silent=runs.SILENT,
)


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


def row_values(table: Tables) -> Values:
    """Detected times, moves in two steps, and losses at the end."""
    moves = relative_moves(table.runs["slow start"])
    return {
        **statistics.marks(table.runs["run"]),
        "move in two steps, over the size at the start": statistics.over_seeds(moves),
        **statistics.losses_at_end(table.runs["run"]),
    }


def _values_move_further(table: Tables) -> bool:
    moves = relative_moves(table.runs["slow start"])
    return bool(moves["value noise"].min() > 1 > moves["key noise"].max())


def _of_row(row: str, number: int) -> Exhibit:
    place = "Caption of Figure 3" if row == "a" else "Appendix B.2"
    return Exhibit(
        id=f"figure{number}",
        kind="figure",
        title=f"Figure {number}: data setting ({row})",
        caption=(
            f"Values, keys, queries and attention over training in setting ({row}) of "
            f"Table 3, d = 2000: {ABOUT[row]}. Neuron 0 of seed 0; "
            "attention is over all samples and seeds (bands: range); turning points "
            "are medians over seeds. Claimed: mean value noise is linear in t from the "
            "first two steps on, while key noise stays near its initial value; "
            "attention of noise leaves the signal while that of signals stays at 1/2; "
            "outvoted keys turn then, and queries at about twice that time. In dense "
            "settings the noise of different samples overlaps everywhere, and all of "
            "this happens earlier. " + runs.ATTENTION
        ),
        needs={"run": runs.signgd(row), "slow start": runs.slow_start(row)},
        shows=Panels(
            (
                _keys("Key noise, first two steps"),
                _values("Mean values, first two steps"),
                _attention("Attention"),
                _turning("One neuron", 0),
            ),
            columns=2,
            size=(11.6, 7.8),
        ),
        values=row_values,
        stated={
            place: {
                "in two steps mean value noise moves by more than its initial size, "
                "and key noise does not": _values_move_further,
                "as noise leaves the signal, s21 < 0.2, signals do not, s11 > 0.4": (
                    lambda t: statistics.leaves_first(t.runs["run"])
                ),
                "outvoted queries turn 1.6 to 2.1 times as late as keys, in every "
                "seed": lambda t: statistics.turn_later(t.runs["run"], 1.6, 2.1),
            }
        },
        checks={
            "all mean values of noise are positive from t = 3 at the latest": (
                lambda t: stages.values_positive(t.runs["run"]).times <= 3
            )
        },
        printed={
            name: {"median": statistics.PRINTED[name]} for name in TURNS if row == "a"
        },
        tolerance=QUARTER,
        silent=runs.SILENT,
    )


FIGURES3TO6 = tuple(map(_of_row, runs.ROWS, (3, 4, 5, 6)))
