"""Tables as pictures: attention maps p(key|query), scores, with their numbers."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import Colormap, Normalize
from matplotlib.figure import Figure

from attnflow.figures.fields import field_bar
from attnflow.figures.names import typeset
from attnflow.figures.style import FULL_WIDTH, current_theme, styled
from attnflow.schema.dims import KEY_POSITION, QUERY_POSITION, SAMPLE

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
    look = {"cmap": _scheme(colours), "norm": Normalize(*limits)}
    mesh = ax.pcolormesh(values, edgecolors=theme.paper, lw=1.5, **look)
    ax.set_aspect("equal")
    ax.invert_yaxis()
    _write_numbers(ax, mesh, values, digits)
    _name_axis(ax, "x", matrix, 1, columns)
    _name_axis(ax, "y", matrix, 0, rows)
    ax.spines[:].set_visible(False)
    return mesh


def _scheme(colours: Colours) -> Colormap:
    theme = current_theme()
    return theme.mass if colours == "mass" else theme.signed


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
    """Names along a dim: its coord's, or the tokens of the one sample that it is of."""
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
    colours: Colours = "mass",
    limits: tuple[float, float] = (0.0, 1.0),
    digits: int = 2,
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
    style = {"colours": colours, "limits": limits, "digits": digits}
    mesh = None
    for number, (title, matrix) in enumerate(matrices.items()):
        mesh = heatmap(grid.flat[number], matrix, **style)
        grid.flat[number].set_title(typeset(title), loc="center")
        _only_outer(grid.flat[number], number, across, len(matrices))
    if mesh is not None:
        field_bar(figure, mesh, grid, bar_label, shrink=0.7)
    return figure


def _only_outer(ax: Axes, number: int, across: int, count: int) -> None:
    """The words 'key' and 'query' once per row and column are enough."""
    if number % across:
        ax.set_ylabel("")
    if number + across < count:
        ax.set_xlabel("")
