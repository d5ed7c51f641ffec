"""Sealed files: a JSON head and arrays in one file, each with a checksum.

    attnflow 1 <bytes of the head> <SHA-256 of the head>      89 bytes, a line
    {"content": …, "arrays": [[name, dtype, shape, SHA-256], …]}
    the bytes of the arrays, one after the other, without gaps

There is no byte that could change unseen: the line must be the one that the head
gives, the head gives the length of the file, and each array is compared with its
checksum after it has been read, where it was read to. A reader opens a file once and a
writer replaces it whole (`attnflow.runs.atomic`), so that what is read was written
together.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from attnflow.runs import atomic

_NAME = b"attnflow 1 "
_LENGTH = 12
_LINE = len(_NAME) + _LENGTH + 1 + 64 + 1
_KINDS = "biufcU"
"""Kinds of arrays whose bytes are their values."""


class SealError(ValueError):
    """A file is not as it was written; the message says what of it is not."""


@dataclass(frozen=True)
class _Entry:
    """An array in a file: what its bytes mean, and their checksum."""

    name: str
    dtype: str
    shape: list[int]
    checksum: str

    def empty(self) -> np.ndarray:
        return np.empty(self.shape, np.dtype(self.dtype))

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize


def write(
    path: Path,
    content: Any,
    arrays: Mapping[str, np.ndarray] | None = None,
    *,
    durable: bool = False,
) -> None:
    """Write a sealed file, in the place of what there may be.

    **Arguments:**

    - `content`: what JSON can hold, and numbers of NumPy.
    - `arrays`: of numbers or texts.
    """
    plain = {name: _storable(name, array) for name, array in (arrays or {}).items()}
    entries = [
        (name, array.dtype.str, array.shape, _digest(_bytes(array)))
        for name, array in plain.items()
    ]
    head = json.dumps({"content": content, "arrays": entries}, default=_plain)
    encoded = head.encode("utf-8")
    with atomic.new_file(path, durable=durable) as file:
        file.write(_line(encoded))
        file.write(encoded)
        for array in plain.values():
            file.write(_bytes(array))


def read(path: Path) -> tuple[Any, dict[str, np.ndarray]]:
    """The content and the arrays of a sealed file; a `SealError` if it is damaged."""
    with path.open("rb", buffering=0) as file:
        content, entries = _read_head(file)
        return content, {entry.name: _read_array(file, entry) for entry in entries}


def read_content(path: Path) -> Any:
    """The content of a sealed file, without its arrays."""
    with path.open("rb", buffering=0) as file:
        return _read_head(file)[0]


def _read_head(file: BinaryIO) -> tuple[Any, list[_Entry]]:
    size = os.fstat(file.fileno()).st_size
    line = file.read(_LINE)
    if not line.startswith(_NAME):
        raise SealError("it is no file of attnflow, or one of another version")
    length = line[len(_NAME) : len(_NAME) + _LENGTH]
    # Nothing is allocated that the file cannot hold.
    head = file.read(int(length)) if length.isdigit() and int(length) <= size else b""
    if line != _line(head):
        raise SealError("its head is damaged")
    parsed = json.loads(head)
    entries = [_Entry(*entry) for entry in parsed["arrays"]]
    if size != _LINE + len(head) + sum(entry.size for entry in entries):
        raise SealError("it is cut off, or something was added to it")
    return parsed["content"], entries


def _read_array(file: BinaryIO, entry: _Entry) -> np.ndarray:
    array = entry.empty()
    view, start = _bytes(array), 0
    while start < len(view):
        # One call reads two gigabytes at most.
        count = file.readinto(view[start:])  # pyright: ignore[reportAttributeAccessIssue] # raw files have it
        if not count:
            raise SealError(f"{entry.name} is cut off")
        start += count
    if _digest(view) != entry.checksum:
        raise SealError(f"{entry.name} is damaged")
    return array


def _line(head: bytes) -> bytes:
    length = str(len(head)).zfill(_LENGTH).encode()
    return _NAME + length + b" " + _digest(head).encode() + b"\n"


def _digest(content: bytes | memoryview) -> str:
    return hashlib.sha256(content).hexdigest()


def _bytes(array: np.ndarray) -> memoryview:
    """The bytes of an array, not copied."""
    if not array.nbytes:
        return memoryview(b"")
    return array.reshape(-1).view(np.uint8).data


def _storable(name: str, array: np.ndarray) -> np.ndarray:
    array = np.asarray(array)
    if array.dtype.kind in "OT" and all(isinstance(v, str) for v in array.flat):
        # Through a list: not every numpy 2 casts its variable-length texts to fixed.
        array = np.array(array.tolist(), dtype=str).reshape(array.shape)
    if array.dtype.kind not in _KINDS:
        raise ValueError(
            f"{name} holds {array.dtype}, which cannot be stored. "
            "Give numbers or texts."
        )
    return np.ascontiguousarray(array).reshape(array.shape)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be written as JSON.")
