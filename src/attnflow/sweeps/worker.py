"""The work of a worker on a batch: compute it, store it, and survive its own death.

A batch is computed as a whole. The journal of a batch counts how often that began and
did not end, other than by an interrupt of the sweep: where a batch has taken several
workers with it, or more time than its cells may take, its cells are computed one by
one, each stored apart until the batch is whole, and a cell that is deadly or late by
itself gets that for an outcome.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from attnflow.runs.store import StoreError
from attnflow.schema.installation import xr
from attnflow.sweeps.batch_store import BEGUN, FAILED, FAILURES, SECONDS, BatchStore
from attnflow.sweeps.job import Failure, Job, as_batch, compute
from attnflow.sweeps.plan import Batch

DEATHS = 6
"""Workers that a batch may lose before its cells are computed one by one."""
CELL_DEATHS = 2
"""Workers that a cell by itself may lose: by chance once, and not twice."""
LATE_EXIT = 75
_LATE = "late"


@dataclass(frozen=True)
class Report:
    """The result of the work on a batch.

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
    store = BatchStore(job.root)
    old = None
    # A batch that cannot be read is recomputed.
    with suppress(StoreError):
        old = store.read(batch.key) if store.has(batch.key) else None
    if old is not None and not (retry and old.attrs[FAILED]):
        return Report(batch.key, len(batch), int(old.attrs[FAILED]))
    with warnings.catch_warnings():
        # Maps go beyond stable rates on purpose, and nobody reads a worker's terminal.
        warnings.simplefilter("ignore")
        new = _retried(job, batch, old, store) if old else _computed(job, batch, store)
    report = Report(batch.key, len(batch), int(new.attrs[FAILED]))
    try:
        store.write(batch.key, new)
    except StoreError as error:
        return replace(report, unwritten=new, trouble=str(error))
    _clear(store, batch)
    return report


def _retried(job: Job, batch: Batch, old: xr.Dataset, store: BatchStore) -> xr.Dataset:
    """The stored batch, with those cells computed anew that have no result."""
    outcomes = old["outcome"].values[:, 0]
    failed = [n for n, outcome in enumerate(outcomes) if str(outcome) in FAILURES]
    for number in failed:
        store.forget(batch.part(number).key)
    again = Batch(
        f"{batch.key}-retry",
        tuple(batch.cells[number] for number in failed),
        tuple(batch.rows[number] for number in failed),
    )
    new = _computed(job, again, store)
    _clear(store, again)
    kept = old.isel(cell=[n for n in range(len(batch)) if n not in failed])
    return _joined([kept.assign_attrs({**old.attrs, FAILED: 0}), new]).sel(
        cell=list(batch.cells)
    )


def _computed(job: Job, batch: Batch, store: BatchStore) -> xr.Dataset:
    if len(batch) == 1:
        return _alone(job, batch, store, deaths=DEATHS)
    is_late = _LATE in store.notes(batch.key)
    if store.deaths(batch.key) < DEATHS and not is_late:
        return _together(job, batch, store)
    parts = [_part(job, batch.part(number), store) for number in range(len(batch))]
    return _joined(parts)


def _part(job: Job, part: Batch, store: BatchStore) -> xr.Dataset:
    # A part that cannot be read is recomputed.
    with suppress(StoreError):
        if store.has(part.key):
            return store.read(part.key)
    result = _alone(job, part, store, deaths=CELL_DEATHS)
    # On a full disk the part is still in memory, and may be stored later with the
    # others.
    with suppress(StoreError):
        store.write(part.key, result)
    return result


def _alone(job: Job, batch: Batch, store: BatchStore, *, deaths: int) -> xr.Dataset:
    """A batch of one cell, or why its journal says not to try it again."""
    failure = None
    if _LATE in store.notes(batch.key):
        failure = Failure("out-of-time", f"It takes more than {job.limit} seconds.")
    elif store.deaths(batch.key) >= deaths:
        failure = Failure("killed", f"{deaths} workers died while they computed it.")
    if failure is not None:
        return as_batch(job, batch.cells, [failure])
    return _together(job, batch, store)


def _together(job: Job, batch: Batch, store: BatchStore) -> xr.Dataset:
    store.note(batch.key, BEGUN)
    begun = time.process_time()
    with _deadline(job, batch, store):
        result = as_batch(job, batch.cells, compute(job, batch))
    return result.assign_attrs({SECONDS: time.process_time() - begun})


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
def _deadline(job: Job, batch: Batch, store: BatchStore) -> Iterator[None]:
    """End this process where the cells take more time than they may.

    Nothing else stops a compiled loop; the next worker reads the reason.
    """
    if job.limit is None:
        yield
        return

    def end() -> None:
        store.note(batch.key, _LATE)
        os._exit(LATE_EXIT)

    timer = threading.Timer(job.limit * len(batch), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _clear(store: BatchStore, batch: Batch) -> None:
    """Remove what is of no use once the batch is stored."""
    if not store.notes(batch.key):
        return
    store.forget(batch.key)
    for number in range(len(batch)):
        part = batch.part(number).key
        store.remove(part)
        store.forget(part)
