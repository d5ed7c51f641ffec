"""Files: the one place where they are written, whole or not at all; and sealed ones.

A file is written under a temporary name beside its place, brought to the disk and then
renamed over it. Who has the old file open keeps reading the old file. A temporary name
says who writes (`.tmp-<host>-<process>-<random>-<name>`), so that what a dead process
left behind can be told from what a living one is writing; the next process that writes
into that directory removes it. What is no file is never replaced by one: a link is
followed, a pipe or a terminal (or `/dev/null`) is written to, and anything else is
refused.

A sealed file is a JSON head and arrays in one file, each with a checksum:

    attnflow 1 <bytes of the head> <SHA-256 of the head>      89 bytes, a line
    {"content": …, "arrays": [[name, dtype, shape, SHA-256], …]}
    the bytes of the arrays, one after the other, without gaps

There is no byte that could change unseen: the line must be the one that the head
gives, the head gives the length of the file, and each array is compared with its
checksum after it has been read, where it was read to. A reader opens a file once and a
writer replaces it whole, so that what is read was written together.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import socket
import stat
import time
import uuid
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from attnflow.schema.installation import np

_DAY = 86400.0
_TEMPORARY = re.compile(r"\.tmp-(?P<host>[^-]*)-(?P<process>\d+)-[0-9a-f]{8}-.*")
_ADVICE = {
    errno.ENOSPC: "Make room, or write to another disk.",
    errno.EDQUOT: "Make room, or write to another disk.",
    errno.EFBIG: "Make room, or write to another disk.",
    errno.ENOENT: "Make its directory, or give another file.",
    errno.EISDIR: "Give the name of a file.",
}
_ELSEWHERE = "Give a file in a directory that you can write to."

_tidied: set[Path] = set()
_NAME = b"attnflow 1 "
_VERSION = re.compile(rb"attnflow (\d+) \d{12} ")
_LENGTH = 12
_LINE = len(_NAME) + _LENGTH + 1 + 64 + 1
_KINDS = "biufcU"
"""Kinds of arrays whose bytes are their values."""


class WriteError(OSError):
    """A file could not be written; the message says which, why and what to do."""

    def __str__(self) -> str:
        advice = _ADVICE.get(self.errno or 0, _ELSEWHERE)
        return f"{self.filename} could not be written: {self.strerror}. {advice}"


@contextmanager
def new_file(place: Path, *, durable: bool = True) -> Generator[BinaryIO]:
    """A file to write to, which takes its `place` when the block ends without error.

    A file that is there already keeps its permissions. What goes wrong with the disk
    is a `WriteError`.

    **Arguments:**

    - `durable`: wait for the disk, so that a power cut leaves the old file or the new
      one. Files that carry a checksum can do without.
    """
    with _sentences(place):
        state = check_place(place)
        if state is not None and not stat.S_ISREG(state.st_mode):
            with place.open("wb") as file:
                yield file
            return
        target = Path(os.path.realpath(place))
        _tidy(target.parent)
        temporary = _temporary(target)
        try:
            with temporary.open("wb") as file:
                if state is not None:
                    os.chmod(temporary, stat.S_IMODE(state.st_mode))
                yield file
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def write_text(place: Path, text: str) -> Path:
    """Write a text file in one step."""
    with new_file(place) as file:
        file.write(text.encode("utf-8"))
    return place


def check_place(place: Path) -> os.stat_result | None:
    """The state of what is at `place`, or `None`; a `WriteError` if it cannot be."""
    with _sentences(place):
        parent = os.path.dirname(os.path.realpath(place))
        state = None
        with suppress(FileNotFoundError):
            state = place.stat()
        if state is None and not os.path.isdir(parent):
            missing = parent if place.is_symlink() else place.parent
            raise OSError(errno.ENOENT, f"there is no directory {missing}")
        if state is not None and stat.S_ISDIR(state.st_mode):
            raise OSError(errno.EISDIR, "it is a directory")
        if state is not None and _is_neither_file_nor_stream(state):
            raise OSError(errno.ENXIO, "it is a device or a socket")
        replaced = [parent] if state is None or stat.S_ISREG(state.st_mode) else []
        for path in [*replaced, *([place] if state else [])]:
            if not os.access(path, os.W_OK):
                raise OSError(errno.EACCES, f"{path} is not yours to write to")
        return state


def _is_neither_file_nor_stream(state: os.stat_result) -> bool:
    return stat.S_ISBLK(state.st_mode) or stat.S_ISSOCK(state.st_mode)


def stale(root: Path) -> list[Path]:
    """What processes that no longer live left half-written in `root`."""
    return [path for path in root.glob(".tmp-*") if _is_stale(path)]


def remove_stale(root: Path) -> None:
    """Remove what is stale in `root`."""
    for path in stale(root):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink(missing_ok=True)


@contextmanager
def _sentences(place: Path) -> Generator[None]:
    """What the operating system says against writing, as a `WriteError`."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        # An OSError without errno does not come from the operating system; and the
        # reader of a pipe may have closed it.
        if error.errno is None or isinstance(error, BrokenPipeError):
            raise
        raise WriteError(error.errno, error.strerror, str(place)) from error


def _tidy(directory: Path) -> None:
    """Once in a process, remove what others left in a directory."""
    if directory not in _tidied:
        _tidied.add(directory)
        remove_stale(directory)


def _temporary(place: Path) -> Path:
    who = f"{_host()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    return place.with_name(f".tmp-{who}-{place.name[-100:]}")


def _host() -> str:
    return socket.gethostname().replace("-", "_").replace("/", "_")


def _is_stale(path: Path) -> bool:
    name = _TEMPORARY.fullmatch(path.name)
    if name is None:
        return False
    if name["host"] == _host() and not _lives(int(name["process"])):
        return True
    # Another machine's process cannot be asked, and a number may be used again; no
    # run takes a day to write.
    try:
        return time.time() - path.stat().st_mtime > _DAY
    except OSError:
        return False


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


class SealError(ValueError):
    """A file is not as it was written; the message says what of it is not."""


class OtherVersion(SealError):
    """A sealed file of a version of attnflow that this one does not read."""


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


def write_sealed(
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
    with new_file(path, durable=durable) as file:
        file.write(_line(encoded))
        file.write(encoded)
        for array in plain.values():
            file.write(_bytes(array))


def read_sealed(path: Path) -> tuple[Any, dict[str, np.ndarray]]:
    """The content and the arrays of a sealed file; a `SealError` if it is damaged."""
    with path.open("rb", buffering=0) as file:
        content, entries = _read_head(file)
        return content, {entry.name: _read_array(file, entry) for entry in entries}


def read_head(path: Path) -> Any:
    """The content of a sealed file, without its arrays."""
    with path.open("rb", buffering=0) as file:
        return _read_head(file)[0]


def _read_head(file: FileIO) -> tuple[Any, list[_Entry]]:
    size = os.fstat(file.fileno()).st_size
    line = file.read(_LINE)
    if not line.startswith(_NAME):
        version = _VERSION.match(line)
        if version is None:
            raise SealError("it does not begin as a file of attnflow")
        raise OtherVersion(
            f"it has format {version[1].decode()} of another attnflow, and this one "
            "reads format 1"
        )
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


def _read_array(file: FileIO, entry: _Entry) -> np.ndarray:
    array = entry.empty()
    view, start = _bytes(array), 0
    while start < len(view):
        # One call reads two gigabytes at most.
        count = file.readinto(view[start:])
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
        return value.item()  # pyright: ignore[reportUnknownVariableType] # of any kind
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} cannot be written as JSON.")
