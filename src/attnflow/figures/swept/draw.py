"""A declared map as a picture."""

from typing import TYPE_CHECKING, Any

import xarray as xr

from attnflow import figures
from attnflow.claims.statistics import fill_rows
from attnflow.figures.swept import numbers
from attnflow.schema import mean_over_seeds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from attnflow.figures.swept.declare import Map
    from attnflow.schema.declarations import Evidence

PANEL = (4.6, 4.4)
"""Inches of a panel; a single one is larger by half, and has its scale beside it."""
ROW = 3
"""Names that fit into one row above a single panel, and panels above which more do."""
GROUND = (0.08, 0.3)
"""How full the colour is where no cell was computed, below and above the level."""


def draw(map: "Map", evidence: "Evidence") -> "Figure":
    """The panels under one scale of colours, the theory's curves and the boundary."""
    parts = list(numbers.panels(map, evidence))
    titles = [name for name, _, _ in parts] if map.over else []
    wide, high = PANEL
    size = (1.0 + wide * len(parts), high) if titles else (1.6 * wide, 1.25 * high)
    figure, grid = figures.panels(
        1, len(parts), titles=titles, size=size, share_values=True
    )
    limits = map.limits or _limits([table for _, _, table in parts])
    mesh, patches = None, []
    for ax, (_, value, table) in zip(grid.flat, parts, strict=True):
        if numbers.is_verdict(table):
            patches += figures.validity_panel(ax, table, legend=False)
        else:
            mesh = _cells(ax, map, table, limits)
        _name(ax, map, table, first=ax is grid.flat[0])
        _curves(ax, map, evidence, value, table)
    if mesh is not None:
        figures.field_bar(figure, mesh, grid, map.label)
    _legend(figure, grid.flat[0], patches)
    return figure


def _cells(ax: "Axes", map: "Map", table: xr.DataArray, limits: Any) -> Any:
    mean = mean_over_seeds(table)
    if map.level is not None and not bool(mean.notnull().all()):
        filled = mean.copy(data=fill_rows(mean.values[None])[0]) > map.level.at
        low, high = (limits[0] + share * (limits[1] - limits[0]) for share in GROUND)
        ground = filled.astype(float) * (high - low) + low
        figures.phase_panel(ax, ground, kind=map.kind, limits=limits)
    return figures.phase_panel(ax, mean, kind=map.kind, limits=limits)


def _name(ax: "Axes", map: "Map", table: xr.DataArray, *, first: bool) -> None:
    up, right = numbers.axes_of(table)
    ax.set_xlabel(map.names.get(right, right))
    ax.set_ylabel(map.names.get(up, up) if first else "")


def _curves(
    ax: "Axes", map: "Map", evidence: "Evidence", value: Any, table: xr.DataArray
) -> None:
    for number, curve in enumerate(map.curves(evidence, value)):
        figures.frontier(ax, curve.side, curve.label, place=number)
    if map.level is not None:
        up, _ = numbers.axes_of(table)
        fit = numbers.boundary(map.level, table)
        sizes = table[up].values.astype(float)
        figures.boundary_law(ax, sizes, fit, fitted=map.level.fitted)


def _limits(tables: list[xr.DataArray]) -> tuple[float, float]:
    if numbers.is_verdict(tables[0]):
        return 0.0, 1.0
    return figures.limits_of(*map(mean_over_seeds, tables))


def _legend(figure: "Figure", ax: "Axes", patches: list[Any]) -> None:
    """What colours and lines are, above all panels; each once."""
    known = {patch.get_label(): patch for patch in patches}
    for line in ax.get_lines():
        if not str(line.get_label()).startswith("_"):
            known.setdefault(line.get_label(), line)
    if known:
        columns = len(known) if len(known) <= ROW or len(figure.axes) > ROW else 2
        figure.legend(
            handles=list(known.values()), loc="outside upper left", ncols=columns
        )
