"""All scores between keys and queries over time."""

import itertools
from collections.abc import Mapping

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from attnflow.figures.axes import Scale, number_axis, time_axis, time_name
from attnflow.figures.curves import Band, series
from attnflow.figures.names import typeset
from attnflow.figures.style import FULL_WIDTH, current_theme, styled
from attnflow.schema.dims import SEED, TIME

Pair = tuple[str, str]


def table_of(
    run: xr.Dataset, observable: str, fixed: Mapping[str, str]
) -> xr.DataArray:
    """A recorded table with two dims of its own, such as key and query."""
    table = run[observable].sel(dict(fixed))
    own = [dim for dim in table.dims if dim not in (SEED, TIME)]
    if len(own) != 2:
        raise ValueError(
            f"{observable!r} has dims {own} beside seed and time; a table of scores "
            f"has two. Fix the others, such as fixed={{'head': '+'}}."
        )
    return table


def entry_of(table: xr.DataArray, pair: Pair) -> xr.DataArray:
    """The series of one pair of a table."""
    return table.sel(dict(zip(_own_dims(table), pair, strict=True)))


def _own_dims(table: xr.DataArray) -> tuple[str, str]:
    own = [str(dim) for dim in table.dims if dim not in (SEED, TIME)]
    return own[0], own[1]


@styled
def score_panel(
    ax: Axes,
    run: xr.Dataset,
    observable: str = "score",
    *,
    fixed: Mapping[str, str],
    highlight: Mapping[Pair, str],
    band: Band = "range",
    rest: str = "others",
) -> list[Line2D]:
    """All scores in one panel: the highlighted pairs in colour, the rest pale.

    `highlight` maps (key, query) to a kind of quantity; equal kinds get shades, and
    `rest` is the one label of all other pairs. Returns the highlighted lines.
    """
    table = table_of(run, observable, fixed)
    shades: dict[str, int] = {}
    lines = []
    for pair in _pairs(table):
        kind = highlight.get(pair)
        if kind is None:
            _pale(ax, run, entry_of(table, pair), rest)
            rest = ""
            continue
        shade = shades[kind] = shades.get(kind, -1) + 1
        label = ", ".join(typeset(name) for name in pair)
        look = {"kind": kind, "shade": shade, "band": band, "label": label}
        lines.append(series(ax, run, entry_of(table, pair), **look))
    return lines


def _pairs(table: xr.DataArray) -> list[Pair]:
    rows, columns = (map(str, table[dim].values) for dim in _own_dims(table))
    return list(itertools.product(rows, columns))


def _pale(ax: Axes, run: xr.Dataset, entry: xr.DataArray, label: str) -> None:
    line = series(ax, run, entry, kind="other", label=label, band="none")
    line.set(linewidth=0.9, alpha=0.6, zorder=2)


@styled
def score_grid(
    run: xr.Dataset,
    observable: str = "score",
    *,
    fixed: Mapping[str, str],
    kinds: Mapping[Pair, str] | None = None,
    scale: Scale = "linear",
    band: Band = "range",
) -> Figure:
    """All scores as small multiples: keys downwards, queries across, one scale.

    `kinds` maps (key, query) to a kind of quantity; pairs that it leaves out are
    `other`.
    """
    table = table_of(run, observable, fixed)
    names = [[str(n) for n in table[dim].values] for dim in _own_dims(table)]
    down, across = len(names[0]), len(names[1])
    width = min(FULL_WIDTH, 1.0 + 2.1 * across)
    figure = Figure(figsize=(width, 0.9 + 1.35 * down), layout="constrained")
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for (i, j), ax in np.ndenumerate(grid):
        pair = (names[0][i], names[1][j])
        kind = (kinds or {}).get(pair, "other")
        _small(ax, run, table, pair, kind, band)
        time_axis(ax, run, scale=scale, label="")
    _margins(grid, names, _own_dims(table))
    figure.supxlabel(time_name(run), size=11.5, color=current_theme().muted)
    return figure


def _small(
    ax: Axes, run: xr.Dataset, table: xr.DataArray, pair: Pair, kind: str, band: Band
) -> None:
    ax.axhline(0, color=current_theme().hairline, lw=0.8, zorder=0)
    series(ax, run, entry_of(table, pair), kind=kind, label="", band=band)


def _margins(grid: np.ndarray, names: list[list[str]], dims: tuple[str, str]) -> None:
    """Names of keys at the left of each row, of queries above each column."""
    ink = current_theme().ink
    for ax, name in zip(grid[0], names[1], strict=True):
        ax.set_title(f"{dims[1]} {typeset(name)}", loc="center", size=11.5, color=ink)
    for ax, name in zip(grid[:, 0], names[0], strict=True):
        place = {"rotation": 0, "ha": "right", "va": "center", "labelpad": 8}
        ax.set_ylabel(f"{dims[0]} {typeset(name)}", color=ink, **place)
    for ax in grid.flat:
        number_axis(ax, "x", ticks=3)
        number_axis(ax, "y", ticks=4)
