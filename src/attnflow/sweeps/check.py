"""A check of what is kept of sweeps: requests, batches, and journals of batches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from attnflow.runs.check import Finding, Unrepaired, checked, leftovers, remove
from attnflow.runs.store import Store
from attnflow.schema import files
from attnflow.sweeps.batch_store import BatchStore
from attnflow.sweeps.job import Job
from attnflow.sweeps.plan import make_batches
from attnflow.sweeps.sweep import plan_sweep
from attnflow.sweeps.worker import work


def check_sweeps(store: Store) -> Iterator[Finding]:
    """Findings about the sweeps of a store."""
    batches = BatchStore(store.root)
    for directory in (batches.root, batches.batches):
        if directory.is_dir():
            yield from leftovers(directory)
    for path in batches.request_files():
        repair = partial(remove, path, "its batches stay; it is listed once restarted")
        yield checked("sweep", path, partial(files.read_head, path), repair)
    for key in sorted(batches.known()):
        path, repair = batches.path(key), partial(_repair, batches, key)
        yield checked("batch", path, partial(files.read_sealed, path), repair)
    for path in batches.journals():
        # The key of a batch, and for a cell of it also a number.
        if batches.has(path.name.partition("-")[0]):
            repair = partial(remove, path, "its batch is stored")
            yield Finding("journal", path, "leftover", "is of no use any more", repair)


def _repair(store: BatchStore, key: str) -> str:
    """Compute a batch anew, if a sweep that is kept asked for it."""
    sweeps = [sweep for sweep in store.sweeps() if key in sweep["batches"]]
    store.remove(key)
    for request in filter(None, (sweep.get("request") for sweep in sweeps)):
        sweep = plan_sweep(**request)
        for batch in (batch for batch in make_batches(sweep) if batch.key == key):
            report = work(Job(sweep, str(store.root.parent)), batch)
            if report.trouble:
                raise Unrepaired(report.trouble)
            return "computed anew"
    return "removed: its sweep computes it when it is started again"
