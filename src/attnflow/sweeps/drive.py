"""A sweep from its plan to its Dataset: what is stored is read, the rest computed."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import xarray as xr

from attnflow.runs.plan import time_left
from attnflow.runs.run_files import StoreError, StoreWarning
from attnflow.sweeps.assemble import assemble
from attnflow.sweeps.compute import Job
from attnflow.sweeps.executors import Executor
from attnflow.sweeps.plan import Batch, Sweep, make_batches, sweep_id
from attnflow.sweeps.shelf import Shelf
from attnflow.sweeps.work import Report

Progress = Callable[[float, str], None]


def run_sweep(
    sweep: Sweep,
    executor: Executor,
    *,
    shelf: Shelf | None = None,
    name: str = "",
    retry: bool = False,
    limit: float | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Compute what is not stored of a sweep, and give all of it as one Dataset.

    **Arguments:**

    - `shelf`: where batches are kept; the user's own without it.
    - `name`: what the sweep is called in the list of sweeps.
    - `retry`: compute those cells again that failed.
    - `limit`: seconds that a cell may take.
    - `progress`: called with the fraction done and how long the rest may take.

    **Returns:** see `attnflow.sweeps.assemble`.
    """
    shelf = shelf or Shelf()
    batches = make_batches(sweep)
    register(sweep, batches, shelf, name)
    options = {"retry": retry, "limit": limit, "progress": progress}
    read = complete(sweep, batches, executor, shelf=shelf, **options)
    return assemble(sweep, batches, read)


def register(sweep: Sweep, batches: list[Batch], shelf: Shelf, name: str) -> None:
    """Remember what is asked for, before anything is computed."""
    shelf.tidy()
    about = {
        "name": name or sweep.recipe.id,
        "axes": {axis.name: len(axis) for axis in sweep.axes},
        "seeds": list(sweep.seeds),
        "measures": [measure.text for measure in sweep.measures],
        "cells": len(sweep.cells),
    }
    shelf.register(sweep_id(sweep), about, [batch.key for batch in batches])


def complete(
    sweep: Sweep,
    batches: list[Batch],
    executor: Executor,
    *,
    shelf: Shelf,
    retry: bool = False,
    limit: float | None = None,
    progress: Progress | None = None,
) -> Callable[[str], xr.Dataset | None]:
    """Compute those batches that are not stored, and return what reads any of them."""
    if limit is not None and not limit > 0:
        raise ValueError(f"limit={limit}: give a positive number of seconds.")
    waiting = _waiting(batches, shelf, retry=retry)
    log = _Log(sum(map(len, batches)), sum(map(len, waiting)), progress)
    job = Job.of(sweep, shelf.root.parent, limit)
    if waiting:
        log.tell()
        try:
            for report in executor.run(job, waiting, retry=retry):
                log.add(report)
        except KeyboardInterrupt:
            shelf.forgive(batch.key for batch in waiting)
            raise
    _keep_again(log, shelf)
    return partial(_found, log=log, shelf=shelf)


def _waiting(batches: list[Batch], shelf: Shelf, *, retry: bool) -> list[Batch]:
    known = shelf.known()
    return [
        batch
        for batch in batches
        if batch.key not in known or (retry and _lacks_cells(batch.key, shelf))
    ]


def _lacks_cells(key: str, shelf: Shelf) -> bool:
    try:
        return shelf.failed(key) > 0
    except StoreError:
        return True


def _found(key: str, log: "_Log", shelf: Shelf) -> xr.Dataset | None:
    if key in log.unwritten:
        return log.unwritten[key]
    if not shelf.has(key):
        return None
    try:
        return shelf.read(key)
    except StoreError as error:
        shelf.remove(key)
        warnings.warn(
            f"{error} It is removed: start the sweep again to compute it anew.",
            StoreWarning,
            stacklevel=5,
        )
        return None


def _keep_again(log: "_Log", shelf: Shelf) -> None:
    """Try once more to store what could not be; say what is in memory alone."""
    for key in list(log.unwritten):
        try:
            shelf.write(key, log.unwritten[key])
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
        if report.trouble:
            self.trouble[report.key] = report.trouble
        if report.unwritten is not None:
            self.unwritten[report.key] = report.unwritten
        self.tell()

    def tell(self) -> None:
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
