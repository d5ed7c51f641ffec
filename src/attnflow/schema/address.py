"""The content address of a run: what is run, seeds, arrays, and a digest of code."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile
from zlib import error as BadStream

import numpy as np

from attnflow.schema.settings import JsonObject, canonical_json, digest

ArraySource = Mapping[str, Any] | str | Path
"""Arrays by name, or the path of an npz file of them."""
# A type error says that the file has one array, without a name.
UNREADABLE = (ValueError, OSError, EOFError, TypeError, BadZipFile, BadStream)


def address(
    content: JsonObject,
    *,
    seeds: Sequence[int],
    data: ArraySource | None = None,
    weights: ArraySource | None = None,
    check: bool = False,
    lift: bool = False,
    code: str = "",
) -> str:
    """The content address of a run.

    A run that is checked at a finer tolerance, or that keeps its final weights, is
    another one.

    **Arguments:**

    - `content`: what is run, as plain data: the record of an experiment, or for an
      experiment of a paper the function that builds it and the setting.
    - `data`, `weights`: arrays in the place of those that the experiment draws.
    - `code`: a digest of the code that the run depends on.
    """
    parts = {
        "experiment": content,
        "seeds": [int(seed) for seed in seeds],
        "data": fingerprint(data),
        "weights": fingerprint(weights),
        "check": check,
        "lift": lift,
        "code": code,
    }
    return digest(canonical_json(parts))


def load(source: ArraySource | None) -> dict[str, np.ndarray] | None:
    """The arrays of a mapping, or of an npz file by its path."""
    if source is None:
        return None
    if isinstance(source, Mapping):
        return {str(name): np.asarray(value) for name, value in source.items()}
    path = Path(source)
    if not path.is_file():
        raise ValueError(f"There is no file {path}: give an npz file of arrays.")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except UNREADABLE as problem:
        raise ValueError(
            f"{path} is not a readable npz file ({problem}): write it by numpy.savez."
        ) from problem


def fingerprint(source: ArraySource | None) -> str | None:
    """A digest of arrays, their names, types and shapes."""
    arrays = load(source)
    if arrays is None:
        return None
    total = hashlib.sha256()
    for name in sorted(arrays):
        total.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        total.update(np.ascontiguousarray(arrays[name]).data)
    return total.hexdigest()[:16]
