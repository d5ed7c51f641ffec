"""A map over settings as a paper declares it: its picture and its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from attnflow import figures
from attnflow.claims.statistics import Boundary, fill_rows, fit_partial
from attnflow.schema import mean_over_seeds
from attnflow.schema.declarations import (
    Evidence,
    Exhibit,
    Sentences,
    SweepRequest,
    nothing,
)
from attnflow.schema.dims import SEED
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

Entry = float | str | Sequence["Entry"] | Mapping[str, "Entry"] | None
Numbers = Mapping[str, Entry]
"""Nested tables of named numbers, as an exhibit shows them."""
Key = float | str | None
"""A value of the third key of a map; `None` where there is none."""

PANEL = (4.6, 4.4)
"""Inches of a panel; a single one is larger by half, and has its scale beside it."""
ROW = 3
"""Names that fit into one row above a single panel, and panels above which more do."""
GROUND = (0.08, 0.3)
"""How full the colour is where no cell was computed, below and above the level."""


@dataclass(frozen=True)
class Curve:
    """A curve that theory draws on a map: where `side(x, y)` changes its sign.

    **Arguments:**

    - `side`: a function of the keys' values along both axes. It is positive where
      theory has the map above its level, or a claim hold.
    - `judged`: whether to count the cells that are on their side of it.
    """

    label: str
    side: Callable[[np.ndarray, np.ndarray], np.ndarray]
    judged: bool = True


@dataclass(frozen=True)
class Level:
    """Where a map is cut, and how the boundary is fitted.

    **Arguments:**

    - `at`: cells whose mean over seeds is above it are on the one side.
    - `fitted`: fit x* = e^intercept · y^exponent to the boundary; `power` is that of x
      in the constant y · x*^power.
    - `scale`: interpolate between cells in the values or in their logarithms.
    - `seeds`: show the boundary of each seed too; `label`: what the boundary is called.
    """

    at: float
    fitted: bool = True
    power: float = 1.0
    scale: Literal["linear", "log"] = "linear"
    seeds: bool = False
    label: str = "boundary"

    def draw(self, ax: Axes, table: xr.DataArray) -> None:
        """The boundary of a table on the axes of its map."""
        figures.boundary_law(
            ax,
            table[axes_of(table)[0]].values.astype(float),
            boundary(self, table),
            fitted=self.fitted,
            seeds=self.seeds,
            label=self.label,
        )


@dataclass(frozen=True)
class Map:
    """A map over two settings, or one for each value of a third.

    **Arguments:**

    - `sweeps`: by name, the sweeps that the map needs.
    - `table`: evidence → what is drawn, with the dims (upwards, sideways), and perhaps
      that of `over` and `seed`; numbers, or verdicts on a claim.
    - `names`: what dims are called beside the axes; `label`: what is drawn.
    - `curves`: evidence and the value of the third key → the theory's curves.
    - `level`: where the map is cut.
    - `limits`: of the colours; those of the table without them.
    - `stated`, `checks`, `printed`, `tolerance`, `differs`, `silent`: as in `Exhibit`.
    - `more`: further numbers.
    """

    id: str
    title: str
    caption: str
    sweeps: Mapping[str, SweepRequest]
    table: Callable[[Evidence], xr.DataArray]
    label: str
    names: Mapping[str, str]
    checks: Callable[[Evidence], Sentences]
    curves: Callable[[Evidence, Any], tuple[Curve, ...]] = lambda evidence, key: ()
    level: Level | None = None
    over: str | None = None
    limits: tuple[float, float] | None = None
    kind: str = "test"
    more: Callable[[Evidence], Numbers] | None = None
    stated: Callable[[Evidence], Mapping[str, Sentences]] = nothing
    printed: Numbers = field(default_factory=dict)
    tolerance: float = 0.02
    differs: Mapping[str, str] = field(default_factory=dict)
    silent: tuple[str, ...] = ()

    def exhibit(self) -> Exhibit:
        """The figure as an exhibit, with its numbers."""
        return Exhibit(
            id=self.id,
            kind="figure",
            title=self.title,
            caption=self.caption,
            needs={},
            sweeps=self.sweeps,
            draw=partial(draw, self),
            values=partial(map_values, self),
            stated=self.stated,
            checks=self.checks,
            printed=self.printed,
            tolerance=self.tolerance,
            differs=self.differs,
            silent=self.silent,
        )


def draw(map: Map, evidence: Evidence) -> Figure:
    """The panels under one scale of colours, the theory's curves and the boundary."""
    parts = list(panels_of(map, evidence))
    titles = [name for name, _, _ in parts] if map.over else []
    wide, high = PANEL
    size = (1.0 + wide * len(parts), high) if titles else (1.6 * wide, 1.25 * high)
    figure, grid = figures.panels(
        1, len(parts), titles=titles, size=size, share_values=True
    )
    means = [mean_over_seeds(table) for _, _, table in parts]
    has_verdicts = is_verdict(means[0])
    limits = map.limits or ((0.0, 1.0) if has_verdicts else figures.limits_of(*means))
    mesh, patches = None, []
    for ax, (_, key, table) in zip(grid.flat, parts, strict=True):
        if has_verdicts:
            patches += figures.validity_panel(ax, table, legend=False)
        else:
            mesh = _draw_cells(ax, map, table, limits)
        up, right = axes_of(table)
        ax.set_xlabel(map.names.get(right, right))
        ax.set_ylabel(map.names.get(up, up) if ax is grid.flat[0] else "")
        for index, curve in enumerate(map.curves(evidence, key)):
            figures.frontier(ax, curve.side, curve.label, index=index)
        if map.level is not None:
            map.level.draw(ax, table)
    if mesh is not None:
        figures.field_bar(figure, mesh, grid, map.label)
    _draw_legend(figure, grid.flat[0], patches)
    return figure


def _draw_cells(
    ax: Axes, map: Map, table: xr.DataArray, limits: tuple[float, float]
) -> QuadMesh:
    mean = mean_over_seeds(table)
    if map.level is not None and not bool(mean.notnull().all()):
        filled = mean.copy(data=fill_rows(mean.values[None])[0]) > map.level.at
        low, high = (limits[0] + share * (limits[1] - limits[0]) for share in GROUND)
        ground = filled.astype(float) * (high - low) + low
        figures.phase_panel(ax, ground, kind=map.kind, limits=limits)
    return figures.phase_panel(ax, mean, kind=map.kind, limits=limits)


def _draw_legend(figure: Figure, ax: Axes, patches: list[Patch]) -> None:
    """Colours and lines above all panels; each once."""
    handles: dict[object, Patch | Line2D] = {p.get_label(): p for p in patches}
    for line in ax.get_lines():
        if not str(line.get_label()).startswith("_"):
            handles.setdefault(line.get_label(), line)
    if handles:
        columns = len(handles) if len(handles) <= ROW or len(figure.axes) > ROW else 2
        figure.legend(
            handles=list(handles.values()), loc="outside upper left", ncols=columns
        )


def map_values(map: Map, evidence: Evidence) -> dict[str, Entry]:
    """Cost, boundary and agreement of every panel, and the map's further numbers."""
    values: dict[str, Entry] = {"cost": _cost(evidence)}
    for name, key, table in panels_of(map, evidence):
        panel: dict[str, Entry] = {}
        if map.level is not None and map.level.fitted:
            panel["boundary"] = law(boundary(map.level, table))
        for curve in map.curves(evidence, key):
            if curve.judged:
                share = share_on_side(map.level, table, curve)
                panel[f"cells on their side of {curve.label}"] = share
        values |= {name: panel} if name else panel
    return values | dict(map.more(evidence) if map.more else {})


def panels_of(map: Map, evidence: Evidence) -> Iterator[tuple[str, Key, xr.DataArray]]:
    """For each value of the third key its text, itself and its table."""
    table = map.table(evidence)
    if map.over is None:
        yield "", None, table
        return
    name = map.names.get(map.over, map.over)
    for index, key in enumerate(table[map.over].values.tolist()):
        text = f"{key:.4g}" if isinstance(key, float) else str(key)
        yield f"{name} = {text}", key, table.isel({map.over: index})


def boundary(level: Level, table: xr.DataArray) -> Boundary:
    """Where the mean over seeds crosses the level, with its power law."""
    up, right = axes_of(table)
    seeded = table if SEED in table.dims else table.expand_dims(SEED)
    return fit_partial(
        table[up].values.astype(float),
        table[right].values.astype(float),
        seeded.transpose(SEED, up, right).values,
        level.at,
        generator=np.random.default_rng(0),
        power=level.power,
        scale=level.scale,
    )


def law(fit: Boundary) -> dict[str, Entry]:
    """The numbers of a boundary's law, with 95% intervals over resampled seeds.

    A map of one seed, or of verdicts over all of them, has no intervals; one that few
    rows cross has no law.
    """
    numbers: dict[str, Entry] = {"rows that cross": int(np.isfinite(fit.places).sum())}
    if not fit.exists:
        return numbers
    numbers |= {"exponent": fit.exponent, "constant": fit.constant}
    if len(fit.by_seed) > 1:
        for name in ("exponent", "constant"):
            low, high = getattr(fit, f"{name}_interval")
            numbers[f"{name}, 95% over seeds"] = {"low": low, "high": high}
    return numbers


def share_on_side(level: Level | None, table: xr.DataArray, curve: Curve) -> float:
    """The share of computed cells that are on their side of a curve.

    Cells of numbers are above the level, or without one above 1/2; verdicts hold.
    """
    up, right = axes_of(table)
    mean = mean_over_seeds(table).transpose(up, right)
    if is_verdict(mean):
        verdicts = mean.values.astype(str)
        known, above = verdicts != "", verdicts == "holds"
    else:
        cut = 0.5 if level is None else level.at
        known, above = np.isfinite(mean.values), mean.values > cut
    x, y = np.meshgrid(mean[right].values, mean[up].values)
    agrees = (np.asarray(curve.side(x, y)) > 0) == above
    return float(agrees[known].mean())


def axes_of(table: xr.DataArray) -> tuple[str, str]:
    """The dims upwards and sideways."""
    up, right = (str(dim) for dim in table.dims if dim != SEED)
    return up, right


def is_verdict(table: xr.DataArray) -> bool:
    """Whether a table has texts, as validity maps have."""
    return table.dtype.kind in "OUS"


def _cost(evidence: Evidence) -> dict[str, float]:
    attrs = [sweep.attrs for sweep in evidence.values()]
    return {
        "cells computed": sum(int(a["cells_computed"]) for a in attrs),
        "cells of the whole grid": sum(int(a["cells_full"]) for a in attrs),
        "seeds": max(sweep.sizes[SEED] for sweep in evidence.values()),
        "CPU seconds": sum(float(a["wall_seconds"]) for a in attrs),
    }
