"""The store: runs on disk under the addresses of their content.

    <root>/<id>/run.zarr        the run, an xarray Dataset
    <root>/<id>/files.json      names and sizes of its files: zarr reads a missing chunk
                                as zeros, caches are cleaned file by file, copies break
    <root>/<id>/summary.json    what is listed and shown, so that this reads no arrays

A directory under its final name is complete; see `attnflow.runs.atomic`.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attnflow import schema
from attnflow.runs import atomic
from attnflow.runs.summary import summarise
from attnflow.schema.dataset import Outcome
from attnflow.schema.installation import cache_directory
from attnflow.schema.libraries import xr
from attnflow.schema.settings import did_you_mean

VARIABLE = "ATTNFLOW_STORE"
_RUN, _FILES = "run.zarr", "files.json"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
# Times are training times, whatever their units are called, and never dates.
AS_NUMBERS: dict[str, Any] = {"decode_times": False, "decode_timedelta": False}
# By the last of them codecs say that a chunk cannot be unpacked.
UNREADABLE = (OSError, ValueError, KeyError, RuntimeError)


class StoreError(OSError):
    """A run could not be written or read; the message says where, why and what to do.

    It is raised with one argument, so `str` gives the message alone.
    """


class StoreWarning(UserWarning):
    """The store could not be used, and the work went on without it."""


def default_root() -> Path:
    """The directory of the stored runs: `$ATTNFLOW_STORE`, or in the user's cache."""
    directory = os.environ.get(VARIABLE)
    if directory:
        return Path(directory).expanduser().absolute()
    return cache_directory() / "attnflow" / "runs"


class Store:
    """Runs on disk, each under the address of its content.

    **Arguments:**

    - `root`: the directory; without it `$ATTNFLOW_STORE`, or the user's cache.
    """

    def __init__(self, root: str | Path | None = None):
        self.root = Path(root).absolute() if root is not None else default_root()

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    def path(self, id: str) -> Path:
        """The directory of a run, whether or not it exists."""
        if not _ID.fullmatch(id):
            raise ValueError(
                f"{id!r} is no run's address. `attnflow runs` lists those there are."
            )
        return self.root / id

    def has(self, id: str) -> bool:
        """Whether the run is stored."""
        path = self.path(id)
        parts = (path / _RUN / "zarr.json", path / "summary.json")
        return all(part.is_file() for part in parts)

    def read(self, id: str) -> xr.Dataset:
        """The stored run, loaded into memory."""
        self._must_have(id)
        if wrong := damage(self.path(id)):
            raise self._damaged(id, wrong)
        try:
            return schema.check(read_zarr(self.path(id) / _RUN))
        except UNREADABLE as error:
            raise self._damaged(id, error) from error

    def write(
        self,
        run: xr.Dataset,
        *,
        stages: Iterable[Mapping[str, Any]] = (),
        code: str = "",
        replace: bool = False,
    ) -> Path:
        """Store the `run` under `run.attrs["id"]`, and return its directory.

        **Arguments:**

        - `stages`: the rows of its stage table, kept with the summary.
        - `code`: a digest of the code that summarised it.
        - `replace`: put it in the place of what is stored; otherwise that stays.
        """
        schema.check(run)
        if Outcome.INTERRUPTED in schema.outcomes_of(run):
            raise ValueError("An interrupted run is not stored. Run it to its end.")
        id = str(run.attrs["id"])
        place = self.path(id)
        replace = replace or not self.has(id)
        summary = {**summarise(run, stages), "code": code, "created": time.time()}
        try:
            atomic.remove_stale(self.root)
            with atomic.new_directory(
                place, replace=replace or not self.has(id)
            ) as new:
                _fill(new, run, summary)
        except OSError as error:
            raise self._unwritable(f"The run {id}", error) from error
        return place

    def summary(self, id: str) -> dict[str, Any] | None:
        """The summary of a stored run; `None` without one, or if the run is damaged."""
        path = self.path(id)
        return None if damage(path) else self._summary(path)

    def replace_summary(self, id: str, summary: Mapping[str, Any]) -> None:
        """Put a newer summary in the place of a stored run's."""
        try:
            with atomic.new_file(self.path(id) / "summary.json") as new:
                new.write_text(json.dumps(summary), "utf-8")
        except OSError as error:
            raise self._unwritable(f"The summary of {id}", error) from error

    def list(self) -> list[dict[str, Any]]:
        """Summaries of the stored runs, newest first; anything else is passed over."""
        if not self.root.is_dir():
            return []
        summaries = [self._summary(path) for path in self.root.iterdir()]
        return sorted(filter(None, summaries), key=lambda s: s["created"], reverse=True)

    def find(self, start: str) -> str:
        """The address of the one stored run whose address starts so."""
        ids = [summary["id"] for summary in self.list()]
        near = [id for id in ids if start and id.startswith(start)]
        if start in near or len(near) == 1:
            return start if start in near else near[0]
        if near:
            raise ValueError(f"{start!r} could be {', '.join(near)}. Give more of it.")
        raise self._absent(start, ids)

    def remove(self, id: str) -> None:
        """Remove a stored run."""
        self._must_have(id)
        try:
            atomic.remove_directory(self.path(id))
        except OSError as error:
            raise self._unwritable(f"The removal of {id}", error) from error

    def check_writable(self) -> None:
        """Nothing where runs can be stored; a `StoreError` that says why not, else."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.root):
                pass
        except OSError as error:
            raise self._unwritable("A run", error) from error

    def _must_have(self, id: str) -> None:
        if not self.has(id):
            raise self._absent(id, [summary["id"] for summary in self.list()])

    def _absent(self, id: str, known: Iterable[str]) -> ValueError:
        return ValueError(
            f"There is no stored run {id!r} in {self.root}.{did_you_mean(id, known)} "
            "`attnflow runs` lists those there are."
        )

    def _damaged(self, id: str, why: object) -> StoreError:
        return StoreError(
            f"The stored run {id} is damaged: {why} "
            f"Remove {self.path(id)}, and run the experiment again."
        )

    def _unwritable(self, what: str, error: OSError) -> StoreError:
        return StoreError(
            f"{what} could not be stored in {self.root}: {error.strerror or error}. "
            f"Set {VARIABLE} to a directory that you can write to."
        )

    def _summary(self, path: Path) -> dict[str, Any] | None:
        try:
            summary = json.loads((path / "summary.json").read_text("utf-8"))
            created = float(summary["created"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if summary.get("id") != path.name or not self.has(path.name):
            return None
        return {**summary, "created": created}


def _fill(directory: Path, run: xr.Dataset, summary: dict[str, Any]) -> None:
    for_zarr(run).to_zarr(directory / _RUN, mode="w", consolidated=False, zarr_format=3)
    sizes = json.dumps(_sizes(directory / _RUN))
    (directory / _FILES).write_text(sizes, "utf-8")
    (directory / "summary.json").write_text(json.dumps(summary), "utf-8")


def damage(directory: Path) -> str | None:
    """What of a stored run is not as it was written; `None` where all is."""
    try:
        written = json.loads((directory / _FILES).read_text("utf-8"))
    except FileNotFoundError:
        # Runs that were stored before there were manifests.
        return None
    except (OSError, ValueError) as error:
        return f"{_FILES} cannot be read ({error})."
    present = _sizes(directory / _RUN)
    odd = [name for name in written if present.get(name) != written[name]]
    if not odd:
        return None
    return (
        f"{len(odd)} of {len(written)} files are gone or cut off, {odd[0]} the first."
    )


def _sizes(folder: Path) -> dict[str, int]:
    return {
        path.relative_to(folder).as_posix(): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def for_zarr(run: xr.Dataset) -> xr.Dataset:
    """The `run` with texts as objects: zarr 3 has no standard fixed-length texts."""
    return _convert(run.drop_encoding(), "UT", lambda values: values.astype(object))


def read_zarr(path: Path) -> xr.Dataset:
    """The run in a zarr directory, loaded into memory."""
    options = {"consolidated": False, "chunks": None, **AS_NUMBERS}
    with xr.open_zarr(path, **options) as opened:
        return restored(opened.load())


def restored(run: xr.Dataset) -> xr.Dataset:
    """A `run` as it was before it was written: numpy texts, plain attributes."""
    run = _convert(run.drop_encoding(), "OT", _texts)
    return run.assign_attrs({k: _plain(v) for k, v in run.attrs.items()})


def _convert(
    run: xr.Dataset, kinds: str, change: Callable[[np.ndarray], np.ndarray]
) -> xr.Dataset:
    old = {name: v for name, v in run.variables.items() if v.dtype.kind in kinds}
    return run.assign({name: v.copy(data=change(v.values)) for name, v in old.items()})


def _texts(values: np.ndarray) -> np.ndarray:
    # Through a list: not every numpy 2 casts its variable-length texts to fixed ones.
    return np.array(values.tolist(), dtype=str).reshape(values.shape)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else value
