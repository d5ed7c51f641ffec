"""Sweeps over two keys as pictures: phase diagrams and validity maps."""

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from attnflow.figures.axes import Scale, number_axis, panels
from attnflow.figures.fields import field, field_bar
from attnflow.figures.palette import mix
from attnflow.figures.style import current_theme, styled
from attnflow.schema import mean_over_seeds

# Pale enough for a curve to be seen on them, and apart in lightness too.
_VERDICTS = {
    "holds": ("easy", 0.45),
    "holds-corrected": ("common", 0.45),
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
    """Draws what was swept over two keys, its mean where there are seeds.

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
    _name_axes(ax, table)
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
    on_top: Callable[[Axes, Any], None] | None = None,
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
    for place, (ax, value) in enumerate(zip(grid.flat, values, strict=True)):
        one = table if over is None else table.isel({over: place})
        mesh = phase_panel(ax, one, kind=kind, limits=limits)
        if place:
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
    spreads = (np.ptp(x) / np.abs(x).max() for x in (steps, factors))
    by_step, by_factor = spreads
    return "log" if by_factor < by_step else "linear"


def limits_of(*tables: xr.DataArray) -> tuple[float, float]:
    """The least and the largest value of some tables, or a range of 1 where all agree.

    They are the values of the palest and the fullest colour.
    """
    low = min(float(table.min()) for table in tables)
    high = max(float(table.max()) for table in tables)
    return (low, high) if high > low else (low, low + 1.0)


def _name_axes(ax: Axes, table: xr.DataArray) -> None:
    down, right = (str(dim).replace("_", " ") for dim in table.dims)
    ax.set(xlabel=right, ylabel=down)
    ax.tick_params(which="both", length=0)
    for which in ("x", "y"):
        number_axis(ax, which)
