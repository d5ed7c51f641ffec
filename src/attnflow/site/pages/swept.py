"""What a page says about a sweep."""

import json
from collections import Counter

import numpy as np
import xarray as xr

from attnflow.schema.dims import SEED
from attnflow.site.pages.runs import RunRecord


def record_sweep(name: str, found: xr.Dataset) -> RunRecord:
    """The record of a sweep: its axes are among its settings, its time is CPU time.

    **Arguments:**

    - `found`: as `attnflow.site.reproduce` gives it.
    """
    attrs = found.attrs
    cells = Counter(found["outcome"].isel(seed=0).values.ravel().astype(str).tolist())
    setting = json.loads(attrs["setting"]) | _axes(found)
    return RunRecord(
        name=name,
        id=str(attrs["id"]),
        experiment=str(attrs["experiment"]),
        setting=setting,
        seeds=tuple(int(seed) for seed in found[SEED].values),
        form="sweep",
        form_reason=f"{attrs['cells_computed']} of {attrs['cells_full']} cells",
        rule="as in each cell",
        outcomes=tuple(f"{label} ({count})" for label, count in cells.items()),
        wall_seconds=float(attrs["wall_seconds"]),
        compile_seconds=0.0,
        versions=json.loads(attrs["versions"]),
        platform=str(attrs["platform"]),
        changed=tuple(json.loads(attrs["changed"])),
    )


def _axes(found: xr.Dataset) -> dict[str, str]:
    """The swept keys, each with its ends and how many values it has."""
    keys = [str(key) for key in found.coords if key != SEED]
    return {key: _span(found[key].values) for key in keys}


def _span(values: np.ndarray) -> str:
    first, last = values[0], values[-1]
    if values.dtype.kind == "f":
        return f"{first:g} … {last:g} ({len(values)} values)"
    return f"{first} … {last} ({len(values)} values)"
