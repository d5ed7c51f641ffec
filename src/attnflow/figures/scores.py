"""Tables between keys and queries: scores over time, and attention as heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from attnflow.figures.axes import number_axis, time_axis, time_name, typeset
from attnflow.figures.curves import series
from attnflow.figures.maps import field_bar
from attnflow.figures.style import FULL_WIDTH, current_theme, styled
from attnflow.schema.dims import KEY_POSITION, QUERY_POSITION, SAMPLE, SEED, TIME
from attnflow.schema.installation import xr

Pair = tuple[str, str]


@dataclass(frozen=True)
class ScoreTable:
    """A recorded table with two dims beside seed and time, such as key and query.

    `dims` are these two, and `names` the labels along each of them.
    """

    values: xr.DataArray
    dims: list[str]
    names: tuple[list[str], list[str]]

    def entry(self, pair: Pair) -> xr.DataArray:
        """The series of one pair."""
        return self.values.sel(dict(zip(self.dims, pair, strict=True)))


def score_table(run: xr.Dataset, fixed: Mapping[str, str]) -> ScoreTable:
    """The table of the scores of a run, with their other dims fixed."""
    values = run["score"].sel(dict(fixed))
    dims = [str(dim) for dim in values.dims if dim not in (SEED, TIME)]
    if len(dims) != 2:
        raise ValueError(
            f"The scores have dims {dims} beside seed and time; a table of them "
            f"has two. Fix the others, such as fixed={{'head': '+'}}."
        )
    rows, columns = ([str(name) for name in values[dim].values] for dim in dims)
    return ScoreTable(values, dims, (rows, columns))


@styled
def score_grid(
    run: xr.Dataset, *, fixed: Mapping[str, str], kinds: Mapping[Pair, str]
) -> Figure:
    """All scores as small multiples: keys downwards, queries across, one scale.

    `kinds` maps (key, query) to a kind of quantity; pairs that it leaves out are
    `other`.
    """
    table = score_table(run, fixed)
    keys, queries = table.names
    down, across = len(keys), len(queries)
    width = min(FULL_WIDTH, 1.0 + 2.1 * across)
    figure = Figure(figsize=(width, 0.9 + 1.35 * down), layout="constrained")
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for (i, j), ax in np.ndenumerate(grid):
        pair = (keys[i], queries[j])
        kind = kinds.get(pair, "other")
        ax.axhline(0, color=current_theme().hairline, lw=0.8, zorder=0)
        series(ax, run, table.entry(pair), kind=kind, label="")
        time_axis(ax, run, label="")
    _name_margins(grid, table)
    figure.supxlabel(time_name(run), size=11.5, color=current_theme().muted)
    return figure


def _name_margins(grid: np.ndarray, table: ScoreTable) -> None:
    """Names of keys at the left of each row, of queries above each column."""
    ink = current_theme().ink
    (key_dim, query_dim), (keys, queries) = table.dims, table.names
    for ax, name in zip(grid[0], queries, strict=True):
        ax.set_title(f"{query_dim} {typeset(name)}", loc="center", size=11.5, color=ink)
    for ax, name in zip(grid[:, 0], keys, strict=True):
        beside = {"rotation": 0, "ha": "right", "va": "center", "labelpad": 8}
        ax.set_ylabel(f"{key_dim} {typeset(name)}", color=ink, **beside)
    for ax in grid.flat:
        number_axis(ax, "x", ticks=3)
        number_axis(ax, "y", ticks=4)


Colours = Literal["mass", "signed"]

POSITIONS = (KEY_POSITION, QUERY_POSITION)


@styled
def heatmap(
    ax: Axes,
    matrix: xr.DataArray,
    *,
    colours: Colours = "mass",
    limits: tuple[float, float] = (0.0, 1.0),
    digits: int = 2,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> QuadMesh:
    """Draws a matrix with its numbers in the cells and token names on both axes.

    **Arguments:**

    - `matrix`: two dims; the first runs downwards. A map `(query, key)` thus has rows
      that sum to one.
    - `colours`: `mass` from paper to full colour, `signed` around zero.
    - `rows`, `columns`: names; by default those of the coords, and for positions of
      a sample the tokens of its name (`c1 v1 -v2`).
    """
    values = np.asarray(matrix.values, float)
    if values.ndim != 2:
        raise ValueError(f"A heat map has two dims, not {matrix.dims}: select first.")
    theme = current_theme()
    mesh = ax.pcolormesh(
        values,
        edgecolors=theme.paper,
        lw=1.5,
        cmap=theme.mass if colours == "mass" else theme.signed,
        norm=Normalize(*limits),
    )
    ax.set_aspect("equal")
    ax.invert_yaxis()
    _write_numbers(ax, mesh, values, digits)
    _name_axis(ax, "x", matrix, 1, columns)
    _name_axis(ax, "y", matrix, 0, rows)
    ax.spines[:].set_visible(False)
    return mesh


def _write_numbers(ax: Axes, mesh: QuadMesh, values: np.ndarray, digits: int) -> None:
    # At a relative luminance of 0.18 black and white text have the same contrast.
    for (row, column), value in np.ndenumerate(values):
        shade = np.asarray(mesh.to_rgba(np.array([value])), float)[0, :3]
        light = float(shade**2.2 @ [0.2126, 0.7152, 0.0722]) > 0.18
        text = "—" if np.isnan(value) else f"{value:.{digits}f}".replace("-", "−")
        ink = "#1B1E23" if light else "#FFFFFF"
        ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=ink)


def _name_axis(
    ax: Axes,
    which: Literal["x", "y"],
    matrix: xr.DataArray,
    position: int,
    names: Sequence[str] | None,
) -> None:
    dim = str(matrix.dims[position])
    names = token_names(matrix, dim) if names is None else names
    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_ticks(np.arange(len(names)) + 0.5, [typeset(str(name)) for name in names])
    axis.set_tick_params(length=0, labelsize=11.5, labelcolor=current_theme().ink)
    axis.set_label_text(dim.removesuffix("_position").replace("_", " "))


def token_names(matrix: xr.DataArray, dim: str) -> list[str]:
    """Names along a dim: its coord's, or the tokens of the sample for positions."""
    size = matrix.sizes[dim]
    if dim in POSITIONS and SAMPLE in matrix.coords:
        tokens = str(matrix[SAMPLE].values).split()
        if len(tokens) == size:
            return tokens
    if dim in matrix.coords:
        return [str(name) for name in matrix[dim].values]
    return [str(number + 1) for number in range(size)]


@styled
def heatmap_grid(
    matrices: Mapping[str, xr.DataArray],
    *,
    across: int = 4,
    bar_label: str = "attention",
) -> Figure:
    """Small multiples of heat maps, title → matrix, on one colour scale."""
    across = min(across, len(matrices))
    down = -(-len(matrices) // across)
    side = min((FULL_WIDTH - 0.8) / across, 2.6)
    figure = Figure(
        figsize=(side * across + 0.8, (side + 0.35) * down + 0.1), layout="constrained"
    )
    grid = figure.subplots(down, across, squeeze=False)
    for ax in grid.flat[len(matrices) :]:
        ax.set_axis_off()
    mesh = None
    for number, (title, matrix) in enumerate(matrices.items()):
        mesh = heatmap(grid.flat[number], matrix)
        grid.flat[number].set_title(typeset(title), loc="center")
        # The words 'key' and 'query' once per row and column are enough.
        if number % across:
            grid.flat[number].set_ylabel("")
        if number + across < len(matrices):
            grid.flat[number].set_xlabel("")
    if mesh is not None:
        field_bar(figure, mesh, grid, bar_label, shrink=0.7)
    return figure
