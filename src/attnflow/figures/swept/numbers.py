"""The numbers of a map: what it cost, its boundary's law, and agreement with theory."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow.claims.statistics import Boundary, fit_partial
from attnflow.schema import mean_over_seeds
from attnflow.schema.declarations import Evidence
from attnflow.schema.dims import SEED

if TYPE_CHECKING:
    from attnflow.figures.swept.declare import Curve, Level, Map


def values(map: "Map", evidence: Evidence) -> dict[str, Any]:
    """Cost, boundary and agreement of every panel, and what the map adds."""
    found: dict[str, Any] = {"cost": _cost(evidence)}
    for name, value, table in panels(map, evidence):
        own: dict[str, Any] = {}
        if map.level is not None and map.level.fitted:
            own["boundary"] = law(boundary(map.level, table))
        for curve in map.curves(evidence, value):
            if curve.judged:
                share = share_on_side(map.level, table, curve)
                own[f"cells on their side of {curve.label}"] = share
        found |= {name: own} if name else own
    return found | dict(map.more(evidence) if map.more else {})


def panels(map: "Map", evidence: Evidence) -> Iterator[tuple[str, Any, xr.DataArray]]:
    """For each value of the third key its text, itself and its table."""
    table = map.table(evidence)
    if map.over is None:
        yield "", None, table
        return
    name = map.names.get(map.over, map.over)
    for place, value in enumerate(table[map.over].values.tolist()):
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        yield f"{name} = {text}", value, table.isel({map.over: place})


def boundary(level: "Level", table: xr.DataArray) -> Boundary:
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


def law(fit: Boundary) -> dict[str, Any]:
    """The numbers of a boundary's law, with 95% intervals over resampled seeds.

    A map of one seed, or of verdicts over all of them, has no intervals; one that few
    rows cross has no law.
    """
    found: dict[str, Any] = {"rows that cross": int(np.isfinite(fit.places).sum())}
    if not fit.exists:
        return found
    found |= {"exponent": fit.exponent, "constant": fit.constant}
    if len(fit.by_seed) > 1:
        intervals = (fit.exponent_interval, fit.constant_interval)
        for name, ends in zip(("exponent", "constant"), intervals, strict=True):
            named = dict(zip(("low", "high"), ends, strict=True))
            found[f"{name}, 95% over seeds"] = named
    return found


def share_on_side(level: "Level | None", table: xr.DataArray, curve: "Curve") -> float:
    """The share of computed cells that are on their side of a curve.

    Cells of numbers are above the level, or without one above 1/2; verdicts hold.
    """
    up, right = axes_of(table)
    mean = mean_over_seeds(table).transpose(up, right)
    if is_verdict(mean):
        known, above = mean.values.astype(str) != "", is_held(mean)
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


def is_held(table: xr.DataArray) -> np.ndarray:
    """Where the verdict is that the claim holds."""
    return np.isin(table.values.astype(str), ("holds", "holds-corrected"))


def _cost(evidence: Evidence) -> dict[str, Any]:
    attrs = [found.attrs for found in evidence.values()]
    return {
        "cells computed": sum(int(a["cells_computed"]) for a in attrs),
        "cells of the whole grid": sum(int(a["cells_full"]) for a in attrs),
        "seeds": max(found.sizes[SEED] for found in evidence.values()),
        "CPU seconds": sum(float(a["wall_seconds"]) for a in attrs),
    }
