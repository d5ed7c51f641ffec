"""Files and directories that are complete or absent.

Everything is written under a temporary name beside its place and then renamed. A
temporary name says who writes (`.tmp-<host>-<process>-<random>-<name>`), so that
what a dead process left behind can be told from what a living one is writing.
"""

import os
import re
import shutil
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DAY = 86400.0
_TEMPORARY = re.compile(r"\.tmp-(?P<host>[^-]*)-(?P<process>\d+)-[0-9a-f]{8}-.*")


@contextmanager
def new_directory(place: Path, *, replace: bool) -> Iterator[Path]:
    """A directory to fill, which then appears at `place` whole, or not at all.

    Where `place` exists already it stays, unless `replace`.
    """
    temporary = _temporary(place)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        _publish(temporary, place, replace=replace)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def new_file(place: Path) -> Iterator[Path]:
    """A file name to write to; the file then replaces `place` in one step."""
    temporary = _temporary(place)
    try:
        yield temporary
        temporary.replace(place)
    finally:
        temporary.unlink(missing_ok=True)


def remove_directory(place: Path) -> None:
    """Remove a directory so that no reader ever sees a part of it."""
    doomed = _temporary(place)
    place.rename(doomed)
    shutil.rmtree(doomed)


def remove_stale(root: Path) -> None:
    """Remove what processes that no longer live left half-written in `root`."""
    for path in root.glob(".tmp-*"):
        if _is_stale(path) and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif _is_stale(path):
            path.unlink(missing_ok=True)


def _temporary(place: Path) -> Path:
    who = f"{_host()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    return place.with_name(f".tmp-{who}-{place.name}")


def _host() -> str:
    return socket.gethostname().replace("-", "_").replace("/", "_")


def _publish(temporary: Path, place: Path, *, replace: bool) -> None:
    if replace:
        with suppress(FileNotFoundError):
            remove_directory(place)
    try:
        temporary.rename(place)
    except OSError:
        # A directory that is not empty refuses: another writer was here first, and
        # what has the same address is the same.
        if not place.is_dir():
            raise


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
