"""The store of batches, one file each, complete or absent; and the status of a sweep.

<store>/sweeps/batches/<key>.batch  a batch, as a sealed file
<store>/sweeps/journal/<key>        how its computation began; gone when it is done
<store>/sweeps/<id>.sweep           what a sweep requested, and its batches' keys
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attnflow.runs.store import Store, StoreError, as_arrays, as_dataset
from attnflow.schema import files
from attnflow.schema.installation import xr
from attnflow.sweeps.plan import Batch

PENDING = "pending"
"""The outcome of a cell that is not computed yet."""
FAILURES = ("failed", "out-of-time", "killed")
"""Outcomes of cells that have no result, beside those of runs."""
MESSAGES = 5
"""How many different errors a status has."""
_BATCH, _SWEEP = ".batch", ".sweep"
FAILED = "failed_cells"
"""The attribute of a batch with the number of its cells that have no result."""
SECONDS = "cpu_seconds"
"""The attribute of a batch with its CPU time, with compilation."""
BEGUN, FORGIVEN = "begun", "forgiven"
"""Lines of a journal: the work began, and did not end by a fault of its own."""
MERCY = 20
"""How often a batch is forgiven that its worker ended."""


class BatchStore:
    """The batches of a store's sweeps.

    `root` is the directory of the store, that of the user without it.
    """

    def __init__(self, root: str | Path | None = None):
        self.root = Store(root).root / "sweeps"
        self.batches = self.root / "batches"
        self._journal = self.root / "journal"

    def has(self, key: str) -> bool:
        """Whether the batch is there."""
        return self.path(key).is_file()

    def known(self) -> set[str]:
        """The keys of all batches that are there, by one listing of the directory."""
        if not self.batches.is_dir():
            return set()
        # Hidden names are files that are being written.
        return {path.stem for path in self.batches.glob(f"[!.]*{_BATCH}")}

    def read(self, key: str) -> xr.Dataset:
        """The batch, loaded into memory."""
        with self._readable(key) as path:
            return as_dataset(*files.read_sealed(path))

    def failed(self, key: str) -> int:
        """How many cells of a batch have no result."""
        return int(self._attributes(key)[FAILED])

    def write(self, key: str, batch: xr.Dataset) -> None:
        """Keep the batch, in the place of what there may be under this key."""
        _write(self.path(key), *as_arrays(batch))

    def remove(self, key: str) -> None:
        """Remove a batch, if it is there."""
        self.path(key).unlink(missing_ok=True)

    def note(self, key: str, what: str) -> None:
        """Write a line into the journal of a batch."""
        # Without a journal, a batch that kills its workers is only retried more often.
        with suppress(OSError):
            self._journal.mkdir(parents=True, exist_ok=True)
            with (self._journal / key).open("a", encoding="utf-8") as file:
                file.write(what + "\n")

    def notes(self, key: str) -> list[str]:
        """The lines of the journal of a batch."""
        try:
            return (self._journal / key).read_text("utf-8").splitlines()
        except OSError:
            return []

    def deaths(self, key: str) -> int:
        """How often the work on a batch began and did not end, by its journal."""
        notes = self.notes(key)
        return notes.count(BEGUN) - notes.count(FORGIVEN)

    def forgive(self, keys: Iterable[str]) -> None:
        """Take back the last beginning of the work on batches and on their cells.

        Who interrupts a sweep ends its workers, which have not died of their work. A
        cell that ends its driver too is not forgiven for ever.
        """
        keys = set(keys)
        with suppress(OSError):
            for name in [path.name for path in self._journal.iterdir()]:
                # The journal of a cell has the batch's key, and its number.
                is_ours = name.partition("-")[0] in keys
                notes = self.notes(name)
                if is_ours and notes[-1:] == [BEGUN] and notes.count(FORGIVEN) < MERCY:
                    self.note(name, FORGIVEN)

    def forget(self, key: str) -> None:
        """Remove the journal of a batch."""
        with suppress(OSError):
            (self._journal / key).unlink(missing_ok=True)

    def tidy(self) -> None:
        """Remove what processes that no longer live left half-written."""
        for directory in (self.root, self.batches):
            if directory.is_dir():
                files.remove_stale(directory)

    def register(self, id: str, about: Mapping[str, Any], keys: Iterable[str]) -> None:
        """Remember what a sweep requested, so that its status can be listed."""
        path = self.root / f"{id}{_SWEEP}"
        content = {"id": id, "created": time.time(), **about, "batches": list(keys)}
        if self._request(path) is None:
            _write(path, content)

    def seconds(self, id: str) -> float:
        """The CPU time that the stored batches of a sweep took."""
        request = self._request(self.root / f"{id}{_SWEEP}") or {"batches": ()}
        keys = self.known() & set(request["batches"])
        return sum(float(self._attributes(key).get(SECONDS, 0.0)) for key in keys)

    def sweeps(self) -> list[dict[str, Any]]:
        """What the sweeps requested, the newest first."""
        requests = [self._request(path) for path in self.request_files()]
        known = [request for request in requests if request is not None]
        return sorted(known, key=lambda sweep: sweep["created"], reverse=True)

    def _request(self, path: Path) -> dict[str, Any] | None:
        """What a sweep requested; `None` where that is not there, or damaged."""
        with suppress(OSError, ValueError):
            return files.read_head(path)
        return None

    def _attributes(self, key: str) -> dict[str, Any]:
        with self._readable(key) as path:
            return files.read_head(path)["attrs"]

    @contextmanager
    def _readable(self, key: str) -> Iterator[Path]:
        """The file of a batch; what is wrong with it is a `StoreError`."""
        try:
            yield self.path(key)
        except (OSError, ValueError) as error:
            raise StoreError(
                f"The stored batch {self.path(key)} cannot be read: {error}."
            ) from error

    def path(self, key: str) -> Path:
        """The file of a batch, whether or not it exists."""
        return self.batches / f"{key}{_BATCH}"

    def request_files(self) -> list[Path]:
        """The files that say what sweeps requested."""
        return sorted(self.root.glob(f"[!.]*{_SWEEP}"))

    def journals(self) -> list[Path]:
        """The journals of batches, and of cells that were computed one by one."""
        return sorted(self._journal.iterdir()) if self._journal.is_dir() else []


def _write(path: Path, content: Any, arrays: Any = None) -> None:
    """Write a sealed file, in a folder that is made if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_sealed(path, content, arrays)
    except OSError as error:
        raise StoreError(
            f"{path.name} could not be stored in {path.parent}: "
            f"{error.strerror or error}. Make room, or set ATTNFLOW_STORE to a "
            "directory that you can write to."
        ) from error


@dataclass(frozen=True)
class Status:
    """How far a sweep is: counts of cells, and what went wrong.

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


def status_of(batches: Sequence[Batch], store: BatchStore) -> Status:
    """The status of a sweep from its stored batches, also while it is computed."""
    known = store.known()
    computed, wrong = 0, []
    for batch in batches:
        # A batch that cannot be read must be computed.
        with suppress(StoreError):
            if batch.key in known:
                wrong += [store.read(batch.key)] if store.failed(batch.key) else []
                computed += len(batch)
    return _status(sum(map(len, batches)), computed, wrong)


def status_in(result: xr.Dataset) -> Status:
    """The status of a sweep by its Dataset.

    A refined sweep has no cells that are still to do: it has those that it needed.
    """
    pending = int((result["outcome"].isel(seed=0) == PENDING).sum())
    total = result["error"].size
    cells = result.attrs.get("cells_computed", total)
    return _status(cells, total - pending, [result])


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
