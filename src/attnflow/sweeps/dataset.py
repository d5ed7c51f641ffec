"""The Dataset of a sweep: stored batches are read, the others computed."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np

from attnflow.runs.plan import time_left
from attnflow.runs.progress import Progress
from attnflow.runs.store import StoreError, StoreWarning
from attnflow.schema.installation import xr
from attnflow.schema.settings import canonical_json
from attnflow.sweeps.batch_store import PENDING, BatchStore
from attnflow.sweeps.executors import Executor
from attnflow.sweeps.grid import Value
from attnflow.sweeps.job import Job
from attnflow.sweeps.plan import Batch, Sweep, make_batches, sweep_id
from attnflow.sweeps.worker import Report


class Options(TypedDict, total=False):
    """How the cells of a sweep are computed.

    - `retry`: compute those cells again that failed.
    - `limit`: seconds that a cell may take.
    - `progress`: called with the fraction done and how long the rest may take.
    """

    retry: bool
    limit: float | None
    progress: Progress | None


def run_sweep(
    sweep: Sweep,
    executor: Executor,
    *,
    store: BatchStore | None = None,
    **options: Unpack[Options],
) -> xr.Dataset:
    """Compute what is not stored of a sweep, and return all of it; see `assemble`.

    `store` is that of the batches, the user's without it.
    """
    store = store or BatchStore()
    batches = make_batches(sweep)
    register(sweep, batches, store)
    read = complete(sweep, batches, executor, store, **options)
    return assemble(sweep, batches, read)


def register(sweep: Sweep, batches: list[Batch], store: BatchStore) -> None:
    """Store what a sweep requests, before anything is computed."""
    store.tidy()
    about = {
        "name": sweep.name or sweep.recipe.id,
        "axes": {axis.name: len(axis) for axis in sweep.axes},
        "seeds": list(sweep.seeds),
        "measures": [each.outline.text for each in sweep.statistics],
        "cells": len(sweep.cells),
        "request": request_of(sweep),
    }
    store.register(sweep_id(sweep), about, [batch.key for batch in batches])


def request_of(sweep: Sweep) -> dict[str, Any] | None:
    """The arguments of `plan_sweep` for a sweep over a whole grid of a paper's recipe.

    They are kept with the sweep, so that a batch that is damaged can be computed anew.
    """
    if sweep.subset is not None or "/" not in sweep.name:
        return None
    columns = {
        key: list(column)
        for axis in sweep.axes
        for key, column in zip(axis.keys, zip(*axis.rows, strict=True), strict=True)
    }
    return {
        "experiment": sweep.name,
        "overrides": {**dict(sweep.fixed), **columns},
        "zip": [axis.keys for axis in sweep.axes if len(axis.keys) > 1],
        "seeds": list(sweep.seeds),
        "measure": [each.outline.text for each in sweep.statistics],
        "batch": sweep.size,
    }


def complete(
    sweep: Sweep,
    batches: list[Batch],
    executor: Executor,
    store: BatchStore,
    **options: Unpack[Options],
) -> Callable[[str], xr.Dataset | None]:
    """Compute those batches that are not stored, and return what reads any of them."""
    limit, retry = options.get("limit"), options.get("retry", False)
    if limit is not None and not limit > 0:
        raise ValueError(f"limit={limit}: give a positive number of seconds.")
    known = store.known()
    waiting = [
        batch
        for batch in batches
        if batch.key not in known or (retry and _lacks_cells(batch.key, store))
    ]
    cells, todo = (sum(map(len, part)) for part in (batches, waiting))
    log = _Log(cells, todo, options.get("progress"))
    job = Job(sweep, str(store.root.parent), limit)
    if waiting:
        log.report()
        # An earlier driver retried every death that it saw. Only the last attempt may
        # have ended together with the driver, and does not count against the batch.
        store.forgive(batch.key for batch in waiting)
        try:
            for report in executor.run(job, waiting, retry=retry):
                log.add(report)
        except KeyboardInterrupt:
            store.forgive(batch.key for batch in waiting)
            raise
    _write_again(log, store)

    def compute(key: str) -> None:
        again = [batch for batch in batches if batch.key == key]
        for report in executor.run(job, again):
            log.keep(report)
        _write_again(log, store)

    return partial(_read, log=log, store=store, compute=compute)


def assemble(
    sweep: Sweep, batches: Iterable[Batch], read: Callable[[str], xr.Dataset | None]
) -> xr.Dataset:
    """One Dataset of all batches that `read` gives, one of them in memory at a time.

    **Returns:** the statistics with the swept keys as dims, and `seed` where they have
    a value for each; `outcome` of each cell and seed, and `error` of each cell, empty
    where it has a result. Cells that are not there are NaN or empty, with the outcome
    `pending`.
    """
    flat = sweep.blank(int(np.prod(sweep.shape, dtype=np.int64)))
    flat["outcome"][:] = PENDING
    for batch in batches:
        stored = read(batch.key)
        if stored is not None:
            for name, values in flat.items():
                values[stored["cell"].values] = stored[name].values
    dims = (*(axis.name for axis in sweep.axes), "seed")
    variables = {}
    for name, values in flat.items():
        shaped = values.reshape(*sweep.shape, *values.shape[1:])
        variables[name] = (dims[: shaped.ndim], shaped)
    coords: dict[str, list[int] | tuple] = {"seed": list(sweep.seeds)}
    for axis in sweep.axes:
        for key, column in zip(axis.keys, zip(*axis.rows, strict=True), strict=True):
            coords[key] = (axis.name, _labels(column))
    attrs = {
        "sweep": sweep_id(sweep),
        "recipe": sweep.recipe.id,
        "setting": canonical_json(asdict(sweep.setting)),
        "measures": json.dumps([each.outline.text for each in sweep.statistics]),
        "code": sweep.code,
    }
    return xr.Dataset(variables, coords, attrs)


def _labels(values: tuple[Value, ...]) -> np.ndarray:
    """Values as a coordinate: numbers as numbers, a mixture of kinds as texts."""
    kinds = {type(value) for value in values}
    if kinds <= {int, float} or kinds == {bool}:
        return np.array(values)
    return np.array([_text(value) for value in values])


def _text(value: Value) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_text, value))
    return "none" if value is None else str(value)


def _lacks_cells(key: str, store: BatchStore) -> bool:
    try:
        return store.failed(key) > 0
    except StoreError:
        return True


def _read(
    key: str, log: _Log, store: BatchStore, compute: Callable[[str], None]
) -> xr.Dataset | None:
    """A batch; one that is damaged is computed anew."""
    if key not in log.unwritten and store.has(key):
        try:
            return store.read(key)
        except StoreError as error:
            warnings.warn(f"{error} It is computed anew.", StoreWarning, stacklevel=5)
        store.remove(key)
        compute(key)
    if key in log.unwritten:
        return log.unwritten[key]
    return store.read(key) if store.has(key) else None


def _write_again(log: _Log, store: BatchStore) -> None:
    """Try once more to store what could not be; warn of what is in memory alone."""
    for key in list(log.unwritten):
        try:
            store.write(key, log.unwritten[key])
        except StoreError as error:
            log.trouble[key] = str(error)
        else:
            del log.unwritten[key]
            log.trouble.pop(key, None)
    if log.trouble:
        first = next(iter(log.trouble.values()))
        warnings.warn(
            f"{len(log.trouble)} batches are not stored. {first} Start the sweep again "
            "to compute these, and nothing else.",
            StoreWarning,
            stacklevel=4,
        )


@dataclass
class _Log:
    """What has come in so far, and the estimate of what is left."""

    cells: int
    todo: int
    progress: Progress | None
    begun: float = field(default_factory=time.monotonic)
    done: int = 0
    failed: int = 0
    unwritten: dict[str, xr.Dataset] = field(default_factory=dict)
    trouble: dict[str, str] = field(default_factory=dict)

    def add(self, report: Report) -> None:
        """Count a batch in."""
        self.done += report.cells
        self.failed += report.failed
        self.keep(report)
        self.report()

    def keep(self, report: Report) -> None:
        """Remember what of a batch is not stored, and why."""
        if report.trouble:
            self.trouble[report.key] = report.trouble
        if report.unwritten is not None:
            self.unwritten[report.key] = report.unwritten

    def report(self) -> None:
        """Show how far the sweep is."""
        if self.progress is None:
            return
        stored = self.cells - self.todo
        text = f"{stored + self.done} of {self.cells} cells"
        if self.failed:
            text += f", {self.failed} failed"
        if 0 < self.done < self.todo:
            spent = time.monotonic() - self.begun
            text += f", {time_left(spent, self.done / self.todo)}"
        self.progress((stored + self.done) / max(self.cells, 1), text)
