"""Devices, and places that are not ours, as an ordinary user."""

import os
import stat
import tempfile
from pathlib import Path

import pytest

from attnflow.runs.store import Store
from tests.faults.zygote import NOBODY, Scratch
from tests.toy import make_run

# What an ordinary user may lack is the right to read root's Python: these commands
# import nothing that is not imported already.
COMMANDS = {"--json": ("cite", "mixture"), "--netcdf": ("export", "0123456789abcdef")}


@pytest.fixture(scope="module")
def ordinary():
    """A scratch folder of an ordinary user; of this one, unless that is root.

    It is not in pytest's own folder, which no other user may enter.
    """
    with tempfile.TemporaryDirectory(prefix="attnflow-places-") as folder:
        is_root = os.getuid() == 0
        scratch = Scratch(Path(folder), {"USER": "nobody"} if is_root else {})
        Store(scratch.store).write(make_run())
        for path in [scratch.root, *scratch.root.rglob("*")] if is_root else ():
            os.chown(path, NOBODY, NOBODY)
        yield scratch


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "code", "words"),
    [
        ("/dev/null", 0, ""),
        ("/dev/full", 2, "No space left on device. Make room"),
        ("/dev/none", 2, "not yours to write to"),
        ("/", 2, "is a directory"),
        ("locked/file", 2, "not yours to write to"),
        ("fixed", 2, "not yours to write to"),
    ],
)
@pytest.mark.parametrize("option", list(COMMANDS))
def test_places(programs, ordinary, option, place, code, words):
    locked, fixed = ordinary.work / "locked", ordinary.work / "fixed"
    locked.mkdir(exist_ok=True)
    locked.chmod(0o555)
    fixed.touch()
    fixed.chmod(0o444)
    before = [os.stat(path) for path in ("/dev/null", "/dev/full")]
    done = programs(ordinary, *COMMANDS[option], option, place)
    assert done.code == code, done.stderr
    assert words in done.stderr and "Traceback" not in done.stderr
    assert done.outside in ([], [f"open {place}"]), "only what was asked for"
    after = [os.stat(path) for path in ("/dev/null", "/dev/full")]
    assert all(stat.S_ISCHR(state.st_mode) for state in after)
    assert [s.st_mode for s in after] == [s.st_mode for s in before]
    assert fixed.read_bytes() == b"" and list(locked.iterdir()) == []
