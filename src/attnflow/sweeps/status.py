"""How far a sweep is: cells that are done, failed and still to do."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnflow.sweeps.compute import FAILURES
from attnflow.sweeps.plan import Batch
from attnflow.sweeps.shelf import Shelf

MESSAGES = 5
"""How many different errors a status tells."""


@dataclass(frozen=True)
class Status:
    """Counts of cells and batches, and what went wrong.

    - `done` cells have a result, `failed` ones do not, `pending` ones are to be done.
    - `outcomes`: how many cells without a result ended in which way.
    - `errors`: the most frequent reasons, with how many cells have them.
    """

    cells: int
    done: int
    failed: int
    pending: int
    batches: int
    batches_done: int
    outcomes: dict[str, int]
    errors: dict[str, int]

    @property
    def is_complete(self) -> bool:
        """Whether every cell has a result."""
        return self.done == self.cells


def status_of(batches: Sequence[Batch], shelf: Shelf) -> Status:
    """The status of a sweep by what is stored, whoever computes it just now."""
    known = shelf.known()
    stored = [batch for batch in batches if batch.key in known]
    outcomes: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    for batch in stored:
        if not shelf.failed(batch.key):
            continue
        found = shelf.read(batch.key)
        labels = found["outcome"].values[:, 0].astype(str)
        wrong = np.isin(labels, FAILURES)
        outcomes.update(labels[wrong].tolist())
        errors.update(found["error"].values[wrong].astype(str).tolist())
    cells = sum(len(batch) for batch in batches)
    computed = sum(len(batch) for batch in stored)
    failed = sum(outcomes.values())
    return Status(
        cells=cells,
        done=computed - failed,
        failed=failed,
        pending=cells - computed,
        batches=len(batches),
        batches_done=len(stored),
        outcomes=dict(outcomes),
        errors=dict(errors.most_common(MESSAGES)),
    )
