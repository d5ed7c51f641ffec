"""The one place where files are written: each is complete or as it was before.

A file is written under a temporary name beside its place, brought to the disk and then
renamed over it. Who has the old file open keeps reading the old file. A temporary name
says who writes (`.tmp-<host>-<process>-<random>-<name>`), so that what a dead process
left behind can be told from what a living one is writing; the next process that writes
into that directory removes it.

What is no file is never replaced by one: a link is followed, a pipe or a terminal (or
`/dev/null`) is written to, and anything else is refused.
"""

import errno
import os
import re
import shutil
import socket
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

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


class WriteError(OSError):
    """A file could not be written; the message says which, why and what to do."""

    def __str__(self) -> str:
        advice = _ADVICE.get(self.errno or 0, _ELSEWHERE)
        return f"{self.filename} could not be written: {self.strerror}. {advice}"


@contextmanager
def new_file(place: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
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


def remove_stale(root: Path) -> None:
    """Remove what processes that no longer live left half-written in `root`."""
    for path in root.glob(".tmp-*"):
        if _is_stale(path) and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif _is_stale(path):
            with suppress(OSError):
                path.unlink(missing_ok=True)


@contextmanager
def _sentences(place: Path) -> Iterator[None]:
    """What the operating system says against writing, as a `WriteError`."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        # Without a number it is no answer of the operating system; and who reads from
        # a pipe may have had enough.
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
