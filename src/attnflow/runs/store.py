"""The store: runs on disk under the addresses of their content, one file each.

    <root>/<id>.run     a sealed file (`attnflow.schema.files`): the summary, which is
                        what is listed and shown, and the Dataset

The summary is read without the arrays and without xarray.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attnflow import schema
from attnflow.schema import files
from attnflow.schema.dataset import Outcome
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import cache_directory, xr
from attnflow.schema.settings import did_you_mean

VARIABLE = "ATTNFLOW_STORE"
SUFFIX = ".run"
WORTH_WAITING = 10.0
"""Seconds of computing from which on a stored run waits for the disk.

A sealed file that a power cut cut off is found out by its checksums, and the run is
computed anew. Waiting took 60 s of a claims table with 660 runs.
"""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


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
    """Stored runs on disk, each under a digest of its setting, seeds and code.

    **Arguments:**

    - `root`: the directory; without it `$ATTNFLOW_STORE`, or the user's cache.
    """

    def __init__(self, root: str | Path | None = None):
        self.root = Path(root).absolute() if root is not None else default_root()

    def __repr__(self) -> str:
        return f"Store({str(self.root)!r})"

    @property
    def verdicts(self) -> Path:
        """The directory of verdicts, whether or not it exists."""
        return self.root / "verdicts"

    def path(self, id: str) -> Path:
        """The file of a run, whether or not it exists."""
        if not _ID.fullmatch(id):
            raise ValueError(
                f"{id!r} is not the id of a run. `attnflow runs` lists those there are."
            )
        return self.root / f"{id}{SUFFIX}"

    def has(self, id: str) -> bool:
        """Whether the run is stored."""
        return self.path(id).is_file()

    def read(self, id: str) -> xr.Dataset:
        """The stored run, loaded into memory and compared with its checksums."""
        self._must_have(id)
        try:
            return schema.check(read_run(self.path(id)))
        except (OSError, ValueError) as error:
            raise StoreError(
                f"The stored run {id} is damaged: {error}. "
                f"Remove {self.path(id)}, and run the experiment again."
            ) from error

    def write(
        self,
        run: xr.Dataset,
        *,
        stages: Iterable[Mapping[str, Any]] = (),
        code: str = "",
        replace: bool = False,
    ) -> Path:
        """Store the `run` under `run.attrs["id"]`, and return its file.

        **Arguments:**

        - `stages`: the rows of its stage table, kept with the summary.
        - `code`: a digest of the code that summarised it.
        - `replace`: put it in the place of what is stored; otherwise that stays, if it
          is whole.
        """
        schema.check(run)
        if Outcome.INTERRUPTED in schema.outcomes_of(run):
            raise ValueError("An interrupted run is not stored. Run it to its end.")
        id = str(run.attrs["id"])
        if replace or not self._is_whole(id):
            summary = {**summarise(run, stages), "code": code, "created": time.time()}
            content, arrays = as_arrays(run)
            durable = summary["seconds"] >= WORTH_WAITING
            whole = {"summary": summary, "run": content}
            self._write(id, whole, arrays, durable=durable)
        return self.path(id)

    def summary(self, id: str) -> dict[str, Any] | None:
        """The summary of a stored run; `None` without one, or if it is damaged."""
        return _summary(self.path(id))

    def replace_summary(self, id: str, summary: Mapping[str, Any]) -> None:
        """Put a newer summary in the place of a stored run's."""
        try:
            content, arrays = files.read_sealed(self.path(id))
        except (OSError, ValueError) as error:
            raise StoreError(f"The run {id} could not be read: {error}.") from error
        # The run that is replaced is on the disk, and must not be lost.
        whole = {**content, "summary": dict(summary)}
        self._write(id, whole, arrays, durable=True)

    def _write(
        self,
        id: str,
        content: dict[str, Any],
        arrays: dict[str, np.ndarray],
        *,
        durable: bool,
    ) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            files.write_sealed(self.path(id), content, arrays, durable=durable)
        except OSError as error:
            raise self._unwritable(f"The run {id}", error) from error
        # As an earlier attnflow stored it.
        if (self.root / id / "run.zarr").is_dir():
            shutil.rmtree(self.root / id, ignore_errors=True)

    def _is_whole(self, id: str) -> bool:
        # To read what is not there lists the whole store, for its message.
        if not self.has(id):
            return False
        try:
            self.read(id)
        except (OSError, ValueError):
            return False
        return True

    def list(self) -> list[dict[str, Any]]:
        """Summaries of the stored runs, newest first; anything else is passed over."""
        if not self.root.is_dir():
            return []
        summaries = [_summary(path) for path in self.root.glob(f"*{SUFFIX}")]
        return sorted(filter(None, summaries), key=lambda s: s["created"], reverse=True)

    def old_folders(self) -> list[Path]:
        """Folders with runs of an earlier attnflow, which are not read."""
        return sorted(folder.parent for folder in self.root.glob("*/run.zarr"))

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
            self.path(id).unlink()
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
        if (self.root / id / "run.zarr").is_dir():
            return ValueError(
                f"{self.root / id} was stored by an earlier attnflow, as a folder "
                "without checksums, and is not read. Run the experiment again."
            )
        return ValueError(
            f"There is no stored run {id!r} in {self.root}.{did_you_mean(id, known)} "
            "`attnflow runs` lists those there are."
        )

    def _unwritable(self, what: str, error: OSError) -> StoreError:
        return StoreError(
            f"{what} could not be stored in {self.root}: {error.strerror or error}. "
            f"Set {VARIABLE} to a directory that you can write to."
        )


def _summary(path: Path) -> dict[str, Any] | None:
    try:
        summary = files.read_head(path)["summary"]
        is_its_own = summary["id"] == path.name.removesuffix(SUFFIX)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return summary if is_its_own else None


def read_run(path: Path) -> xr.Dataset:
    """The run in a file of the store, loaded into memory."""
    content, arrays = files.read_sealed(path)
    return as_dataset(content["run"], arrays)


def as_arrays(dataset: xr.Dataset) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A Dataset as plain data about its variables, and their arrays by name."""
    about = {
        "attrs": dataset.attrs,
        "coords": [str(name) for name in dataset.coords],
        "variables": {
            str(name): (variable.dims, variable.attrs)
            for name, variable in dataset.variables.items()
        },
    }
    return about, {str(name): v.values for name, v in dataset.variables.items()}


def as_dataset(
    about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> xr.Dataset:
    """The Dataset that `as_arrays` took apart."""
    variables = {
        name: (dims, arrays[name], attrs)
        for name, (dims, attrs) in about["variables"].items()
    }
    return xr.Dataset(variables, attrs=about["attrs"]).set_coords(about["coords"])


# The last of these that a seed met is the outcome of the run.
_FROM_GOOD_TO_BAD = (
    Outcome.FINISHED,
    Outcome.EVENT,
    Outcome.EVENT_NOT_REACHED,
    Outcome.OUT_OF_STEPS,
    Outcome.DIVERGED,
    Outcome.INTERRUPTED,
)


def summarise(
    run: xr.Dataset, stages: Iterable[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """The `run` as a table of plain values.

    **Arguments:**

    - `stages`: rows of the run's stage table.

    **Returns:** `id`, `paper`, `experiment`, `setting`, `form`, `form_reason`,
    `system`, `outcome` (the worst of the seeds'), `outcomes` (the seeds of each),
    `stages`, `final` (scalar observable → last value: a number for one seed, a list by
    seed otherwise), `seconds`, `compile_seconds`, `seeds`; and, None where there are
    none, the worst over seeds of `drift`, `refinement` (with the observable that was
    `refined_most`) and `rate_threshold` (with all `rate_thresholds` and the
    `learning_rate`), and how many `signs` of updates were zero or tied.
    """
    return {
        "id": str(run.attrs["id"]),
        "paper": str(run.attrs["paper"]),
        "experiment": str(run.attrs["experiment"]),
        "setting": schema.setting_of(run),
        "form": str(run.attrs["form"]),
        "form_reason": str(run.attrs["form_reason"]),
        "system": run.attrs.get("system"),
        "outcome": worst_outcome(run).label,
        "outcomes": _seeds_by_outcome(run),
        "stages": [dict(row) for row in stages],
        "final": final_values(run),
        "seconds": float(run.attrs["wall_seconds"]),
        "compile_seconds": float(run.attrs["compile_seconds"]),
        "seeds": [int(seed) for seed in run[SEED].values],
        "drift": _worst(run, "drift", np.max),
        # If one seed has no finer run, there is no value for the whole.
        "refinement": _worst(run, "refinement", np.max),
        "refined_most": _refined_most(run),
        "rate_threshold": _worst(run, "rate_threshold", np.min),
        **_rate(run),
        "signs": _signs(run),
    }


def _seeds_by_outcome(run: xr.Dataset) -> dict[str, list[int]]:
    seeds: dict[str, list[int]] = {}
    for seed, outcome in zip(run[SEED].values, schema.outcomes_of(run), strict=True):
        seeds.setdefault(outcome.label, []).append(int(seed))
    return seeds


def _refined_most(run: xr.Dataset) -> str | None:
    if "refinement_by_observable" not in run:
        return None
    each = run["refinement_by_observable"].values.max(axis=0)
    return str(run["observable"].values[each.argmax()])


def _rate(run: xr.Dataset) -> dict[str, Any]:
    if "rate_threshold" not in run:
        return {"rate_thresholds": None, "learning_rate": None}
    limits = run["rate_threshold"]
    rate = float(limits.attrs["learning_rate"])
    return {"rate_thresholds": limits.values.tolist(), "learning_rate": rate}


def _signs(run: xr.Dataset) -> dict[str, int] | None:
    names = {"zero": "zero_signs", "tied": "tied_signs", "count": "signs_count"}
    if any(name not in run for name in names.values()):
        return None
    recorded = {key: run[name].where(run["recorded"]) for key, name in names.items()}
    return {key: int(counts.sum().item()) for key, counts in recorded.items()}


def _worst(
    run: xr.Dataset, name: str, choose: Callable[[np.ndarray], Any]
) -> float | None:
    return float(choose(run[name].values)) if name in run else None


def worst_outcome(run: xr.Dataset) -> Outcome:
    """The worst of the seeds' outcomes."""
    return max(schema.outcomes_of(run), key=_FROM_GOOD_TO_BAD.index)


def final_values(run: xr.Dataset) -> dict[str, Any]:
    """The last recorded value of each scalar observable."""
    return {
        name: _by_seed(_last(run, name))
        for name in map(str, run.data_vars)
        if _is_scalar_observable(run, name)
    }


def _is_scalar_observable(run: xr.Dataset, name: str) -> bool:
    if name in schema.BOOKKEEPING or run[name].dtype.kind not in "fiub":
        return False
    dims = {SEED, TIME} if TIME in run.dims else {SEED}
    return set(run[name].dims) == dims


def _last(run: xr.Dataset, name: str) -> np.ndarray:
    if TIME not in run.dims:
        return run[name].values
    return schema.last(run, name).values


def _by_seed(values: np.ndarray) -> Any:
    return values[0].item() if values.size == 1 else values.tolist()
