"""Panels of deeper models: one row per statistic, one line per reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnflow import figures
from attnflow.papers.signgd import stages
from attnflow.papers.signgd.deep_runs import NEAREST, PLAIN, Blocks, name_of
from attnflow.papers.signgd.deep_settings import READINGS
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.stages import series
from attnflow.schema.declarations import Evidence
from attnflow.schema.dims import HEAD, SAMPLE, SEED, TIME
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "full": "signal",
    "damped": "common",
    "mean": "easy",
    "factored": "noise",
    "large": "hard",
}
LEAST = {"float32": -45.0, "float64": -308.0}
"""log10 of the smallest positive numbers."""


def turning(run: xr.Dataset) -> xr.DataArray:
    """The fraction of outvoted query noise that moves with the query signal."""
    return stages.turned_share(run, "query_neuron")


def signal_attention(run: xr.Dataset) -> xr.DataArray:
    """The attention of signals to signals, median over samples."""
    return series.signal_to_signal(run).median((SAMPLE, HEAD))


def gradient(run: xr.Dataset) -> xr.DataArray:
    """log10 of the mean |gradient| of W_Q, while some of it is not zero."""
    size = run["log_mean_query_gradient"]
    return size.where(run["zero_signs"] < 1)


def moving(run: xr.Dataset) -> xr.DataArray:
    """Mean |update| over the learning rate: the fraction of weights with a sign."""
    return 1 - stages.lost_signs(run)


@dataclass(frozen=True)
class Row:
    """A row of panels: a series of the first layer, dims `seed` and `time`."""

    title: str
    ylabel: str
    of: Callable[[xr.Dataset], xr.DataArray]
    limits: tuple[float, float] = (-0.04, 1.04)


ROWS = (
    Row("Stage II: noise aligned", "pairs of one sign", series.aligned),
    Row("Stage III: signals by vote", "neurons", series.voted),
    Row("Stage IV: outvoted queries", "turn to the signal", turning),
    Row("Signals' attention", "paid to signals", signal_attention),
    Row("Query gradients", r"$\log_{10}$ mean |gradient|", gradient, (-320.0, 10.0)),
    Row("Updates", "mean |update| / η", moving),
)


def draw(models: tuple[Blocks, ...], evidence: Evidence) -> Figure:
    """Draw one neuron by the closest reading, and each series by all readings."""
    size = (4.0 * len(models), 2.6 * (1 + len(ROWS)))
    figure, grid = figures.panels(1 + len(ROWS), len(models), size=size)
    for letter, ax, model in zip("abcd", grid[0], models, strict=True):
        figures.name_panel(ax, f"{model.short}: one neuron", letter=letter)
    for ax, row in zip(grid[1:, 0], ROWS, strict=True):
        figures.name_panel(ax, row.title)
    for column, model in enumerate(models):
        nearest = evidence[name_of(model, NEAREST[model.residual])]
        panels.one_neuron(grid[0, column], stages.first_layer(nearest))
        for ax, row in zip(grid[1:, column], ROWS, strict=True):
            _by_reading(ax, row, model, evidence)
    for ax in grid[:, 1:].flat:
        ax.set_ylabel("")
    for ax in grid[:-1].flat:
        ax.set_xlabel("")
    # Only the last column has labels, in rows where curves end apart.
    for row in (0, 1 + [row.of for row in ROWS].index(gradient)):
        figures.label_ends(grid[row, -1])
    return figure


def _by_reading(ax: Axes, row: Row, model: Blocks, evidence: Evidence) -> None:
    theme = figures.current_theme()
    for reading in (*READINGS, PLAIN):
        run = stages.first_layer(evidence[name_of(model, reading)])
        curve = row.of(run).median(SEED)
        (line,) = ax.plot(curve[TIME], curve, label=reading)
        if reading == PLAIN:
            line.set(color=theme.ink, ls=(0, (1.5, 1.5)), lw=1.6)
        else:
            line.set_color(theme.colour(COLOURS[reading]))
        figures.time_axis(ax, run, label=panels.STEP)
    ax.set(ylim=row.limits, ylabel=row.ylabel)
    if row.of is gradient:
        for precision, least in LEAST.items():
            figures.reference(ax, least, f"least {precision}")
