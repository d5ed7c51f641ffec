"""How far a sweep is: cells that are done, failed and still to do."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import xarray as xr

from attnflow.runs.run_files import StoreError
from attnflow.sweeps.assemble import PENDING
from attnflow.sweeps.compute import FAILURES
from attnflow.sweeps.plan import Batch
from attnflow.sweeps.shelf import Shelf

MESSAGES = 5
"""How many different errors a status tells."""


@dataclass(frozen=True)
class Status:
    """Counts of cells, and what went wrong.

    - `done` cells have a result, `failed` ones do not, `pending` ones are to be done.
    - `outcomes`: how many cells without a result ended in which way.
    - `errors`: the most frequent reasons, with how many cells have them.
    """

    cells: int
    done: int
    failed: int
    pending: int
    outcomes: dict[str, int]
    errors: dict[str, int]

    @property
    def is_complete(self) -> bool:
        """Whether every cell has a result."""
        return self.done == self.cells


def status_of(batches: Sequence[Batch], shelf: Shelf) -> Status:
    """The status of a sweep by what is stored, whoever computes it just now."""
    known = shelf.known()
    stored, wrong = [], []
    for batch in batches:
        # What cannot be read is to be computed.
        with suppress(StoreError):
            if batch.key in known:
                wrong += [shelf.read(batch.key)] if shelf.failed(batch.key) else []
                stored.append(batch)
    cells = sum(len(batch) for batch in batches)
    computed = sum(len(batch) for batch in stored)
    return _status(cells, computed, wrong)


def status_in(found: xr.Dataset) -> Status:
    """The status of a sweep by its Dataset.

    A refined one has no cells that are still to do: it has those that it needed.
    """
    pending = int((found["outcome"].isel(seed=0) == PENDING).sum())
    total = found["error"].size
    cells = found.attrs.get("cells_computed", total)
    return _status(cells, total - pending, [found])


def _status(cells: int, computed: int, parts: Iterable[xr.Dataset]) -> Status:
    outcomes: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    for part in parts:
        labels = part["outcome"].isel(seed=0).values.ravel().astype(str)
        wrong = np.isin(labels, FAILURES)
        outcomes.update(labels[wrong].tolist())
        errors.update(part["error"].values.ravel()[wrong].astype(str).tolist())
    failed = sum(outcomes.values())
    return Status(
        cells=cells,
        done=computed - failed,
        failed=failed,
        pending=cells - computed,
        outcomes=dict(outcomes),
        errors=dict(errors.most_common(MESSAGES)),
    )
