"""Maps over two axes of numbers, such as phase diagrams, and curves drawn on them."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import AbstractPathEffect, Normal, Stroke

from attnflow.figures.axes import Scale
from attnflow.figures.names import typeset
from attnflow.figures.style import current_theme, styled


@styled
def field(
    ax: Axes,
    table: xr.DataArray,
    *,
    kind: str = "test",
    limits: tuple[float, float] = (0.0, 1.0),
    scales: tuple[Scale, Scale] = ("linear", "linear"),
) -> QuadMesh:
    """Draws a table over two coords that are numbers, a cell around each of them.

    **Arguments:**

    - `table`: two dims with coords that grow; the first runs upwards. Where a value is
      not finite, its cell stays empty.
    - `kind`: what sort of quantity it is, which gives the full colour (`palette`).
    - `limits`: the values of the palest and of the fullest colour.
    - `scales`: of the axes of both dims.
    """
    if table.ndim != 2:
        raise ValueError(f"A field has two dims, not {table.dims}: select first.")
    down, right = (np.asarray(table[dim].values, float) for dim in table.dims)
    values = np.ma.masked_invalid(np.asarray(table.values, float))
    theme = current_theme()
    mesh = ax.pcolormesh(
        edges(right, scales[1]),
        edges(down, scales[0]),
        values,
        cmap=theme.depth(kind),
        norm=Normalize(*limits),
        edgecolors=theme.paper,
        lw=0.6,
    )
    ax.set(xscale=scales[1], yscale=scales[0])
    ax.spines[:].set_visible(False)
    return mesh


def edges(centres: np.ndarray, scale: Scale = "linear") -> np.ndarray:
    """Halfway between neighbours; the outer cells are as wide as their inner halves.

    Halfway as it is seen on an axis of this scale.

    !!! example
        ```python
        edges(np.array([2.0, 4.0, 8.0]))  # [1, 3, 6, 10]
        ```
    """
    centres = np.asarray(centres, float)
    if centres.ndim != 1 or len(centres) < 2 or not (np.diff(centres) > 0).all():
        raise ValueError(
            f"Cells around {centres.tolist()} are not known: give two or more numbers "
            "that grow."
        )
    if scale == "log":
        return np.exp(edges(np.log(centres)))
    inner = (centres[1:] + centres[:-1]) / 2
    ends = 2 * centres[0] - inner[0], 2 * centres[-1] - inner[-1]
    return np.array([ends[0], *inner, ends[1]])


@styled
def field_bar(
    figure: Figure, mesh: QuadMesh, axes: Any, label: str, *, shrink: float = 1.0
) -> Colorbar:
    """The scale of colours beside a field, or beside several that share it."""
    bar = figure.colorbar(mesh, ax=axes, aspect=26, pad=0.02, shrink=shrink)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    bar.set_label(typeset(label))
    return bar


@styled
def outlined(
    ax: Axes, x: object, y: object, *, width: float = 1.6, **look: Any
) -> Line2D:
    """A curve with a rim of the paper's colour, to be seen on any ground."""
    (line,) = ax.plot(np.asarray(x), np.asarray(y), lw=width, **look)
    line.set_path_effects(rim(width))
    return line


def rim(width: float) -> list[AbstractPathEffect]:
    """The path effects of a curve of this width with a rim of the paper's colour."""
    stroke = Stroke(linewidth=width + 2.0, foreground=current_theme().paper)
    return [stroke, Normal()]
