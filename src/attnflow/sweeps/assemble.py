"""Batches as one Dataset, with the swept keys as dims."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
import xarray as xr

from attnflow.schema.settings import canonical_json
from attnflow.sweeps.compute import Job
from attnflow.sweeps.plan import Batch, Sweep, sweep_id

PENDING = "pending"
"""The outcome of a cell that is not computed yet."""


def assemble(
    sweep: Sweep, batches: Iterable[Batch], read: Callable[[str], xr.Dataset | None]
) -> xr.Dataset:
    """One Dataset of all batches that `read` gives, one of them in memory at a time.

    **Returns:** the measured variables with the swept keys as dims, and `seed` where
    they are measured for each; `outcome` of each cell and seed, and `error` of each
    cell, empty where it has a result. Cells that are not there are NaN or empty, with
    the outcome `pending`.
    """
    total = int(np.prod(sweep.shape, dtype=np.int64))
    flat = _empty(sweep, total)
    for batch in batches:
        found = read(batch.key)
        if found is None:
            continue
        places = found["cell"].values
        for name, values in flat.items():
            values[places] = found[name].values
    seeds = {"seed": list(sweep.seeds)}
    dims = tuple(axis.name for axis in sweep.axes)
    variables = {}
    for name, values in flat.items():
        shaped = values.reshape(*sweep.shape, *values.shape[1:])
        variables[name] = ((*dims, *(["seed"] if values.ndim > 1 else [])), shaped)
    return xr.Dataset(variables, {**_coords(sweep), **seeds}, _attrs(sweep))


def _empty(sweep: Sweep, total: int) -> dict[str, np.ndarray]:
    seeds = len(sweep.seeds)
    empty: dict[str, np.ndarray] = {}
    for name, column in Job.of(sweep, "").columns.items():
        shape = (total, seeds) if column.by_seed else (total,)
        fill, kind = ("", object) if column.text else (np.nan, np.float64)
        empty[name] = np.full(shape, fill, dtype=kind)
    # Objects: equal texts are one in memory, and one long message costs no other.
    empty["outcome"] = np.full((total, seeds), PENDING, dtype=object)
    empty["error"] = np.full(total, "", dtype=object)
    return empty


def _coords(sweep: Sweep) -> dict[str, Any]:
    coords = {}
    for axis in sweep.axes:
        for key, column in zip(axis.keys, zip(*axis.rows, strict=True), strict=True):
            coords[key] = (axis.name, _labels(column))
    return coords


def _labels(values: tuple[Any, ...]) -> np.ndarray:
    """Values as a coordinate: numbers as numbers, a mixture of kinds as texts."""
    kinds = {type(value) for value in values}
    if kinds <= {int, float} or kinds == {bool}:
        return np.array(values)
    return np.array([_text(value) for value in values])


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_text, value))
    return "none" if value is None else str(value)


def _attrs(sweep: Sweep) -> dict[str, Any]:
    return {
        "sweep": sweep_id(sweep),
        "recipe": sweep.recipe.id,
        "setting": canonical_json(asdict(sweep.setting)),
        "measures": json.dumps([measure.text for measure in sweep.measures]),
        "code": sweep.code,
    }
