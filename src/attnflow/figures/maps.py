"""Maps over two settings: phase diagrams, validity maps, conditions and boundaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colorbar import Colorbar
from matplotlib.colors import BoundaryNorm, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import AbstractPathEffect, Normal, Stroke

from attnflow.claims.statistics.boundary import Boundary
from attnflow.figures.axes import Scale, number, number_axis, panels, typeset
from attnflow.figures.curves import DASHES
from attnflow.figures.style import current_theme, mix, styled
from attnflow.schema import mean_over_seeds
from attnflow.schema.installation import xr

# Pale enough for a curve to be seen on them, and apart in lightness too.
_VERDICTS = {
    "holds": ("easy", 0.45),
    "inconclusive": ("other", 0.7),
    "fails": ("hard", 0.3),
    "unchecked": ("other", 1.0),
}


@styled
def phase_panel(
    ax: Axes,
    table: xr.DataArray,
    *,
    kind: str = "test",
    limits: tuple[float, float] | None = None,
) -> QuadMesh:
    """Draws a table over two settings, its mean where there are seeds.

    The first key runs upwards. Values that grow by a factor have a logarithmic axis;
    cells that were not computed stay empty.

    **Arguments:**

    - `kind`: what sort of quantity it is, which gives the full colour (`palette`).
    - `limits`: values of the palest and the fullest colour; those of the table
      without it.
    """
    table = mean_over_seeds(table)
    scales = scale_of(table, 0), scale_of(table, 1)
    limits = limits_of(table) if limits is None else limits
    mesh = field(ax, table, kind=kind, limits=limits, scales=scales)
    down, right = (str(dim).replace("_", " ") for dim in table.dims)
    ax.set(xlabel=right, ylabel=down)
    ax.tick_params(which="both", length=0)
    number_axis(ax, "x")
    number_axis(ax, "y")
    return mesh


@styled
def validity_panel(
    ax: Axes, verdicts: xr.DataArray, *, legend: bool = True
) -> list[Patch]:
    """Draws the verdicts on a claim over two keys, in one colour each.

    **Returns:** a patch of each colour that is there, labelled, for a legend.
    """
    known = list(_VERDICTS)
    labels = verdicts.values.astype(str)
    codes = np.full(labels.shape, np.nan)
    for code, label in enumerate(known):
        codes[labels == label] = code
    theme = current_theme()
    colours = [mix(theme.colour(k), theme.paper, w) for k, w in _VERDICTS.values()]
    table = verdicts.copy(data=codes)
    mesh = phase_panel(ax, table, limits=(0.0, len(known) - 1.0))
    mesh.set_cmap(ListedColormap(colours))
    mesh.set_norm(BoundaryNorm(np.arange(len(known) + 1) - 0.5, len(known)))
    shown = [n for n, label in enumerate(known) if (labels == label).any()]
    patches = [Patch(color=colours[n], label=known[n]) for n in shown]
    if legend:
        ax.legend(handles=patches, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3)
    return patches


@styled
def phase_grid(
    table: xr.DataArray,
    *,
    over: str | None = None,
    kind: str = "test",
    limits: tuple[float, float] | None = None,
    on_top: Callable[[Axes, float | str | None], None] | None = None,
) -> Figure:
    """A phase diagram, or one for each value of a third key, on one colour scale.

    **Arguments:**

    - `over`: the third key.
    - `on_top`: draws on each panel, given its axes and its value of the third key.
    """
    table = mean_over_seeds(table)
    values = [None] if over is None else table[over].values.tolist()
    titles = [] if over is None else [f"{over} = {value}" for value in values]
    figure, grid = panels(1, len(values), titles=titles, share_values=True)
    limits = limits_of(table) if limits is None else limits
    mesh = None
    for index, (ax, value) in enumerate(zip(grid.flat, values, strict=True)):
        part = table if over is None else table.isel({over: index})
        mesh = phase_panel(ax, part, kind=kind, limits=limits)
        if index:
            ax.set_ylabel("")
        if on_top is not None:
            on_top(ax, value)
    assert mesh is not None
    field_bar(figure, mesh, grid, str(table.name or "").replace("_", " "))
    return figure


def scale_of(table: xr.DataArray, dim: int) -> Scale:
    """Whether the values along a dim grow by a factor rather than by a step."""
    values = np.asarray(table[table.dims[dim]].values, float)
    if len(values) < 3 or not (values > 0).all():
        return "linear"
    steps, factors = np.diff(values), np.diff(np.log(values))
    by_step, by_factor = (np.ptp(x) / np.abs(x).max() for x in (steps, factors))
    return "log" if by_factor < by_step else "linear"


def limits_of(*tables: xr.DataArray) -> tuple[float, float]:
    """The least and the largest value of some tables, or a range of 1 where all agree.

    They are the values of the palest and the fullest colour.
    """
    low = min(float(table.min()) for table in tables)
    high = max(float(table.max()) for table in tables)
    return (low, high) if high > low else (low, low + 1.0)


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
    figure: Figure,
    mesh: QuadMesh,
    axes: Axes | np.ndarray,
    label: str,
    *,
    shrink: float = 1.0,
) -> Colorbar:
    """The scale of colours beside a field, or beside several that share it."""
    bar = figure.colorbar(mesh, ax=axes, aspect=26, pad=0.02, shrink=shrink)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    bar.set_label(typeset(label))
    return bar


@styled
def outlined(
    ax: Axes, x: npt.ArrayLike, y: npt.ArrayLike, *, width: float = 1.6, **style: Any
) -> Line2D:
    """A curve outlined in the background colour, visible on any picture.

    `style` goes to `Axes.plot`.
    """
    (line,) = ax.plot(np.asarray(x), np.asarray(y), lw=width, **style)
    line.set_path_effects(rim(width))
    return line


def rim(width: float) -> list[AbstractPathEffect]:
    """The path effects of a curve of this width with a rim of the paper's colour."""
    stroke = Stroke(linewidth=width + 2.0, foreground=current_theme().paper)
    return [stroke, Normal()]


_MANY_DASHES = (DASHES, (0, (1, 1.6)), (0, (6, 2, 1, 2)))
_POINTS = 300
_WIDTH = 1.6


@styled
def condition(
    ax: Axes, curve: Callable[[np.ndarray], np.ndarray], label: str, **style: Any
) -> None:
    r"""Draws a paper's condition on a map: the first key by the second, dashed in ink.

    !!! example
        ```python
        condition(ax, lambda snr: 1000 / snr**2, "$N \cdot$ SNR$^2 = 1000$")
        ```
    """
    limits = ax.get_xlim(), ax.get_ylim()
    space = np.geomspace if ax.get_xscale() == "log" else np.linspace
    x = space(*limits[0], 400)
    ink = current_theme().colour("theory")
    style = {"color": ink, "ls": DASHES, "zorder": 6, **style}
    outlined(ax, x, curve(x), label=typeset(label), **style)
    ax.set(xlim=limits[0], ylim=limits[1])


@styled
def frontier(
    ax: Axes,
    side: Callable[[np.ndarray, np.ndarray], np.ndarray],
    label: str,
    *,
    index: int = 0,
) -> None:
    """Draws a condition on a map as the curve along which `side(x, y)` is 0.

    **Arguments:**

    - `index`: its number among several on one map; each has dashes of its own.
    """
    limits = ax.get_xlim(), ax.get_ylim()
    scales = ax.get_xscale(), ax.get_yscale()
    x, y = (
        (np.geomspace if scale == "log" else np.linspace)(*ends, _POINTS)
        for scale, ends in zip(scales, limits, strict=True)
    )
    ink = current_theme().colour("theory")
    dashes = _MANY_DASHES[index % len(_MANY_DASHES)]
    values = np.asarray(side(*np.meshgrid(x, y)), float)
    lines = ax.contour(x, y, values, levels=[0.0], colors=[ink], zorder=6)
    lines.set(linestyle=[dashes], linewidth=_WIDTH, path_effects=rim(_WIDTH))
    ax.plot([], [], color=ink, ls=dashes, lw=_WIDTH, label=typeset(label))
    ax.set(xlim=limits[0], ylim=limits[1])


@styled
def boundary_law(
    ax: Axes,
    sizes: np.ndarray,
    law: Boundary,
    *,
    fitted: bool = True,
    seeds: bool = False,
    label: str = "boundary",
) -> None:
    """Draws where each row crosses its level, and the power law through these points.

    **Arguments:**

    - `sizes`: the values of the first key, one for each of `law.places`.
    - `fitted`: draw the law too, where there is one.
    - `seeds`: draw the boundary of each seed too, thinly.
    - `label`: what the points are called.
    """
    limits = ax.get_xlim(), ax.get_ylim()
    colour = current_theme().colour("signal")
    dots = {"ls": "", "marker": "o", "ms": 4, "mec": current_theme().paper}
    ax.plot(law.places, sizes, color=colour, label=label, zorder=7, **dots)
    for index, places in enumerate(law.by_seed if seeds else ()):
        name = "_nolegend_" if index else "each seed"
        ax.plot(places, sizes, color=colour, lw=0.7, alpha=0.8, label=name)
    if fitted and law.exists:
        count = np.geomspace(*limits[1], 200) if limits[1][0] > 0 else np.array(sizes)
        name = f"exponent {number(law.exponent, 3)}"
        if len(law.by_seed) > 1:
            low, high = (number(end, 3) for end in law.exponent_interval)
            name += f" ({low} … {high})"
        x = np.exp(law.intercept) * count**law.exponent
        outlined(ax, x, count, color=colour, label=name, zorder=5)
    ax.set(xlim=limits[0], ylim=limits[1])
