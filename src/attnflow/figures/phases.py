"""Sweeps over two keys as pictures: phase diagrams, validity maps, their boundaries."""

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.patheffects import Normal, Stroke

from attnflow import _dims
from attnflow.figures.axes import Scale, number, number_axis, panels
from attnflow.figures.fields import field, field_bar, outlined
from attnflow.figures.names import typeset
from attnflow.figures.palette import mix
from attnflow.figures.style import current_theme, styled
from attnflow.measures.boundary import Boundary

# Pale enough for a curve to be seen on them, and apart in lightness too.
_VERDICTS = {
    "holds": ("easy", 0.45),
    "holds-corrected": ("common", 0.45),
    "inconclusive": ("other", 0.7),
    "fails": ("hard", 0.3),
    "unchecked": ("other", 1.0),
}
_DASHES = (0, (4, 2.2))
_MANY_DASHES = (_DASHES, (0, (1, 1.6)), (0, (6, 2, 1, 2)))
_POINTS = 300


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
    table = _mean(table)
    scales = scale_of(table, 0), scale_of(table, 1)
    limits = _limits(table) if limits is None else limits
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
def condition(
    ax: Axes, curve: Callable[[np.ndarray], np.ndarray], label: str, **look: Any
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
    look = {"color": ink, "ls": _DASHES, "zorder": 6, **look}
    outlined(ax, x, curve(x), label=typeset(label), **look)
    ax.set(xlim=limits[0], ylim=limits[1])


@styled
def frontier(
    ax: Axes,
    side: Callable[[np.ndarray, np.ndarray], np.ndarray],
    label: str,
    *,
    place: int = 0,
) -> None:
    """Draws a condition on a map as the curve along which `side(x, y)` is 0.

    **Arguments:**

    - `place`: its number among several on one map; each has dashes of its own.
    """
    limits = ax.get_xlim(), ax.get_ylim()
    scales = ax.get_xscale(), ax.get_yscale()
    x, y = (
        (np.geomspace if scale == "log" else np.linspace)(*ends, _POINTS)
        for scale, ends in zip(scales, limits, strict=True)
    )
    ink = current_theme().colour("theory")
    dashes = _MANY_DASHES[place % len(_MANY_DASHES)]
    values = np.asarray(side(*np.meshgrid(x, y)), float)
    lines = ax.contour(x, y, values, levels=[0.0], colors=[ink], zorder=6)
    rim = Stroke(linewidth=3.6, foreground=current_theme().paper)
    lines.set(linestyle=[dashes], linewidth=1.6, path_effects=[rim, Normal()])
    ax.plot([], [], color=ink, ls=dashes, lw=1.6, label=typeset(label))
    ax.set(xlim=limits[0], ylim=limits[1])


@styled
def boundary_law(
    ax: Axes, sizes: np.ndarray, law: Boundary, *, fitted: bool = True
) -> None:
    """Draws where each row crosses its level, and the power law through these places.

    **Arguments:**

    - `sizes`: the values of the first key, to which the places of the law belong.
    - `fitted`: draw the law too, where there is one.
    """
    limits = ax.get_xlim(), ax.get_ylim()
    colour = current_theme().colour("signal")
    dots = {"ls": "", "marker": "o", "ms": 4, "mec": current_theme().paper}
    ax.plot(law.places, sizes, color=colour, label="boundary", zorder=7, **dots)
    if fitted and law.exists:
        count = np.geomspace(*limits[1], 200) if limits[1][0] > 0 else np.array(sizes)
        named = f"exponent {number(law.exponent, 3)}"
        if len(law.by_seed) > 1:
            low, high = (number(end, 3) for end in law.exponent_interval)
            named += f" ({low} … {high})"
        place = np.exp(law.intercept) * count**law.exponent
        outlined(ax, place, count, color=colour, label=named, zorder=5)
    ax.set(xlim=limits[0], ylim=limits[1])


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
    table = _mean(table)
    values = [None] if over is None else table[over].values.tolist()
    titles = [] if over is None else [f"{over} = {value}" for value in values]
    figure, grid = panels(1, len(values), titles=titles, share_values=True)
    limits = _limits(table) if limits is None else limits
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


def _mean(table: xr.DataArray) -> xr.DataArray:
    if _dims.SEED not in table.dims:
        return table
    return table.mean(_dims.SEED, skipna=False, keep_attrs=True)


def _limits(table: xr.DataArray) -> tuple[float, float]:
    low, high = float(table.min()), float(table.max())
    return (low, high) if high > low else (low, low + 1.0)


def _name_axes(ax: Axes, table: xr.DataArray) -> None:
    down, right = (str(dim).replace("_", " ") for dim in table.dims)
    ax.set(xlabel=right, ylabel=down)
    ax.tick_params(which="both", length=0)
    for which in ("x", "y"):
        number_axis(ax, which)
