"""Where batches are kept: one file each, complete or absent.

<store>/sweeps/batches/<key>.nc     a batch, netCDF
<store>/sweeps/journal/<key>        how its computation began; gone when it is done
<store>/sweeps/<id>.json            what a sweep asked for, and its batches' keys
"""

import json
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import xarray as xr

from attnflow.store import Store, StoreError, atomic, export_netcdf, read_run_file

FAILED = "failed_cells"
"""The attribute of a batch that says how many of its cells have no result."""


class Shelf:
    """The batches of a store's sweeps.

    **Arguments:**

    - `root`: the directory of the store; without it the user's own.
    """

    def __init__(self, root: str | Path | None = None):
        self.root = Store(root).root / "sweeps"
        self._batches = self.root / "batches"
        self._journal = self.root / "journal"

    def has(self, key: str) -> bool:
        """Whether the batch is there."""
        return self._path(key).is_file()

    def known(self) -> set[str]:
        """The keys of all batches that are there, by one look at the directory."""
        if not self._batches.is_dir():
            return set()
        # Hidden names are files that are being written.
        return {path.stem for path in self._batches.glob("[!.]*.nc")}

    def read(self, key: str) -> xr.Dataset:
        """The batch, loaded into memory."""
        try:
            return read_run_file(self._path(key))
        except ValueError as error:
            raise StoreError(
                f"The stored batch {key} is damaged: {error} "
                f"Remove {self._path(key)}, and start the sweep again."
            ) from error

    def failed(self, key: str) -> int:
        """How many cells of a batch have no result."""
        with xr.open_dataset(self._path(key), engine="h5netcdf") as batch:
            return int(batch.attrs[FAILED])

    def write(self, key: str, batch: xr.Dataset) -> None:
        """Keep the batch, in the place of what there may be under this key."""
        try:
            self._batches.mkdir(parents=True, exist_ok=True)
            export_netcdf(batch, self._path(key))
        except RuntimeError as error:
            # What HDF5 says where a disk is full while a file is being closed.
            raise StoreError(f"The batch {key} could not be stored: {error}") from error

    def remove(self, key: str) -> None:
        """Remove a batch, if it is there."""
        self._path(key).unlink(missing_ok=True)

    def note(self, key: str, what: str) -> None:
        """Write a line into the journal of a batch."""
        # A journal that cannot be written only makes a dying batch be tried longer.
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

    def forget(self, key: str) -> None:
        """Remove the journal of a batch."""
        with suppress(OSError):
            (self._journal / key).unlink(missing_ok=True)

    def tidy(self) -> None:
        """Remove what processes that no longer live left half-written."""
        for place in (self.root, self._batches):
            if place.is_dir():
                atomic.remove_stale(place)

    def register(self, id: str, about: Mapping[str, Any], keys: Iterable[str]) -> None:
        """Remember what a sweep asked for, so that its status can be told."""
        place = self.root / f"{id}.json"
        content = {"id": id, "created": time.time(), **about, "batches": list(keys)}
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            if not place.is_file():
                with atomic.new_file(place) as temporary:
                    temporary.write_text(json.dumps(content), "utf-8")
        except OSError as error:
            raise StoreError(
                f"{self.root} cannot be written to: {error.strerror or error}. "
                "Set ATTNFLOW_STORE to a directory that you can write to."
            ) from error

    def sweeps(self) -> list[dict[str, Any]]:
        """What the sweeps asked for, the newest first."""
        found = []
        for path in self.root.glob("*.json"):
            with suppress(OSError, ValueError, KeyError):
                content = json.loads(path.read_text("utf-8"))
                found.append({**content, "created": float(content["created"])})
        return sorted(found, key=lambda sweep: sweep["created"], reverse=True)

    def _path(self, key: str) -> Path:
        return self._batches / f"{key}.nc"
