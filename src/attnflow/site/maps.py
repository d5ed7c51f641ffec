"""Maps of stored sweeps for explorers: phase diagrams, and validity maps of claims."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import xarray as xr

from attnflow.runs.store import StoreError
from attnflow.sweeps.batch_store import BatchStore
from attnflow.sweeps.dataset import assemble
from attnflow.sweeps.plan import Sweep, make_batches
from attnflow.sweeps.sweep import plan_sweep

Json = dict[str, Any]
HELD = "_held"
MOST = 6
"""Maps of an experiment, the newest first."""


def with_maps(document: Mapping[str, Any], store: BatchStore | None = None) -> Json:
    """A document with maps of the sweeps over its knobs that are stored.

    A sweep counts whose code is the present one, and that is over two knobs.
    """
    store = store or BatchStore()
    experiments = [_experiment(e, store) for e in document["experiments"]]
    return {**document, "experiments": experiments}


def _experiment(experiment: Json, store: BatchStore) -> Json:
    maps: list[Json] = []
    by_claim: dict[str, Json] = {}
    for request in store.sweeps():
        arguments = request.get("request")
        if not arguments or arguments["experiment"] != experiment["name"]:
            continue
        with suppress(ValueError, StoreError):
            sweep = plan_sweep(**arguments)
            for name, map_ in _maps(sweep, experiment, store):
                if name.endswith(HELD):
                    by_claim.setdefault(name.removesuffix(HELD), map_)
                else:
                    maps.append(map_)
    claims = [
        {**claim, "map": by_claim.get(claim["id"], claim["map"])}
        for claim in experiment["claims"]
    ]
    return {**experiment, "maps": [*experiment["maps"], *maps[:MOST]], "claims": claims}


def _maps(sweep: Sweep, experiment: Json, store: BatchStore) -> list[tuple[str, Json]]:
    """The maps of a sweep by the names of its statistics; none if it has no cells."""
    knobs = {knob["name"]: knob for knob in experiment["knobs"]}
    if [len(axis.keys) for axis in sweep.axes] != [1, 1]:
        return []
    x, y = (axis.keys[0] for axis in sweep.axes)
    fixed = {n: v for n, v in sweep.fixed if experiment["setting"].get(n) != v}
    if not {x, y, *fixed} <= set(knobs):
        return []
    known = store.known()
    batches = [batch for batch in make_batches(sweep) if batch.key in known]
    if not batches:
        return []
    result = assemble(sweep, batches, store.read)
    xs, ys = ([_plain(row[0]) for row in axis.rows] for axis in sweep.axes)
    shared = {"x": x, "y": y, "xs": xs, "ys": ys, "setting": fixed, "threshold": None}
    found = []
    for name, table in result.data_vars.items():
        if str(name).endswith("_margin") or table.dtype.kind != "f":
            continue
        words = _words(str(name), sweep)
        map_ = {"id": f"map-{name}-{x}-{y}", "title": words, "label": words, **shared}
        found.append((str(name), {**map_, "values": _values(table, x, y)}))
    return found


def _words(name: str, sweep: Sweep) -> str:
    if name.endswith(HELD):
        return f"Share of seeds in which {name.removesuffix(HELD)} held"
    count = len(sweep.seeds)
    return f"{name}, mean of {count} seeds" if count > 1 else name


def _values(table: xr.DataArray, x: str, y: str) -> list[list[float | None]]:
    """Rows along y; `None` where a cell has no value."""
    mean = table.mean("seed", skipna=False) if "seed" in table.dims else table
    numbers = mean.transpose(y, x).values
    return [[float(v) if np.isfinite(v) else None for v in row] for row in numbers]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
