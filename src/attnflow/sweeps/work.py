"""What a worker does with a batch: compute it, write it, and survive its own death.

A batch is computed as a whole. The journal of a batch counts how often that began and
did not end, other than by an interrupt of the sweep: where a batch has taken several
workers with it, or more time than its cells may take, its cells are computed one by
one, each stored apart until the batch is whole, and a cell that is deadly or late by
itself gets that for an outcome.
"""

import os
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import xarray as xr

from attnflow.runs.run_files import StoreError
from attnflow.sweeps.compute import FAILURES, Failure, Job, compute, table
from attnflow.sweeps.plan import Batch
from attnflow.sweeps.shelf import BEGUN, FAILED, SECONDS, Shelf

DEATHS = 6
"""Workers that a batch may lose before its cells are computed one by one."""
CELL_DEATHS = 2
"""Workers that a cell by itself may lose: by chance once, and not twice."""
LATE_EXIT = 75
_LATE = "late"


@dataclass(frozen=True)
class Report:
    """What became of a batch.

    - `failed`: how many of its cells have no result.
    - `unwritten`: the batch itself, where it could not be stored; `trouble`: why, or
      why there is none.
    """

    key: str
    cells: int
    failed: int = 0
    unwritten: xr.Dataset | None = None
    trouble: str = ""


def work(job: Job, batch: Batch, *, retry: bool = False) -> Report:
    """Compute a batch and store it, unless it is stored; `retry` its failed cells."""
    shelf = Shelf(job.root)
    old = None
    # What cannot be read is computed anew.
    with suppress(StoreError):
        old = shelf.read(batch.key) if shelf.has(batch.key) else None
    if old is not None and not (retry and old.attrs[FAILED]):
        return Report(batch.key, len(batch), int(old.attrs[FAILED]))
    with warnings.catch_warnings():
        # Maps go beyond stable rates on purpose, and nobody reads a worker's terminal.
        warnings.simplefilter("ignore")
        found = _retried(job, batch, old, shelf) if old else _made(job, batch, shelf)
    report = Report(batch.key, len(batch), int(found.attrs[FAILED]))
    try:
        shelf.write(batch.key, found)
    except StoreError as error:
        return replace(report, unwritten=found, trouble=str(error))
    _clear(shelf, batch)
    return report


def is_failed(batch: xr.Dataset) -> list[bool]:
    """Which cells of a stored batch have no result."""
    return [str(label) in FAILURES for label in batch["outcome"].values[:, 0]]


def _retried(job: Job, batch: Batch, old: xr.Dataset, shelf: Shelf) -> xr.Dataset:
    """The stored batch, with those cells computed anew that have no result."""
    places = [place for place, failed in enumerate(is_failed(old)) if failed]
    for place in places:
        shelf.forget(batch.part(place).key)
    again = Batch(
        f"{batch.key}-retry",
        tuple(batch.cells[place] for place in places),
        tuple(batch.rows[place] for place in places),
    )
    new = _made(job, again, shelf)
    _clear(shelf, again)
    kept = old.isel(cell=[p for p in range(len(batch)) if p not in places])
    return _joined([kept.assign_attrs({**old.attrs, FAILED: 0}), new]).sel(
        cell=list(batch.cells)
    )


def _made(job: Job, batch: Batch, shelf: Shelf) -> xr.Dataset:
    if len(batch) == 1:
        return _alone(job, batch, shelf, deaths=DEATHS)
    is_late = _LATE in shelf.notes(batch.key)
    if shelf.deaths(batch.key) < DEATHS and not is_late:
        return _together(job, batch, shelf)
    parts = [_part(job, batch.part(place), shelf) for place in range(len(batch))]
    return _joined(parts)


def _part(job: Job, part: Batch, shelf: Shelf) -> xr.Dataset:
    if shelf.has(part.key):
        return shelf.read(part.key)
    made = _alone(job, part, shelf, deaths=CELL_DEATHS)
    # On a full disk it is in memory still, and may yet be stored with the others.
    with suppress(StoreError):
        shelf.write(part.key, made)
    return made


def _alone(job: Job, batch: Batch, shelf: Shelf, *, deaths: int) -> xr.Dataset:
    """A batch of one cell, or why its journal says not to try it again."""
    failure = None
    if _LATE in shelf.notes(batch.key):
        failure = Failure("out-of-time", f"It takes more than {job.limit} seconds.")
    elif shelf.deaths(batch.key) >= deaths:
        failure = Failure("killed", f"{deaths} workers died while they computed it.")
    if failure is not None:
        return table(job, batch.cells, [failure])
    return _together(job, batch, shelf)


def _together(job: Job, batch: Batch, shelf: Shelf) -> xr.Dataset:
    shelf.note(batch.key, BEGUN)
    begun = time.process_time()
    with _deadline(job, batch, shelf):
        made = table(job, batch.cells, compute(job, batch))
    return made.assign_attrs({SECONDS: time.process_time() - begun})


def _joined(parts: list[xr.Dataset]) -> xr.Dataset:
    failed = sum(int(part.attrs[FAILED]) for part in parts)
    seconds = sum(float(part.attrs.get(SECONDS, 0.0)) for part in parts)
    whole = xr.concat(
        parts,
        "cell",
        data_vars="minimal",
        coords="minimal",
        compat="override",
        join="override",
        combine_attrs="drop",
    )
    return whole.assign_attrs({FAILED: failed, SECONDS: seconds})


@contextmanager
def _deadline(job: Job, batch: Batch, shelf: Shelf) -> Iterator[None]:
    """End this process where the cells take more time than they may.

    Nothing else stops a compiled loop; the next worker reads the reason.
    """
    if job.limit is None:
        yield
        return

    def end() -> None:
        shelf.note(batch.key, _LATE)
        os._exit(LATE_EXIT)

    timer = threading.Timer(job.limit * len(batch), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _clear(shelf: Shelf, batch: Batch) -> None:
    """Remove what is of no use once the batch is stored."""
    if not shelf.notes(batch.key):
        return
    shelf.forget(batch.key)
    for place in range(len(batch)):
        part = batch.part(place).key
        shelf.remove(part)
        shelf.forget(part)
