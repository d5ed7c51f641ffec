"""Sealed files: what is read is what was written, or an error."""

import multiprocessing
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from attnflow.runs.store import Store, StoreError
from attnflow.schema import files
from attnflow.schema.files import SealError
from tests.toy import make_run

ARRAYS = {
    "numbers": np.linspace(0.0, 1.0, 6).reshape(2, 3),
    "texts": np.array(["a", "βγ"]),
    "truths": np.array([True, False]),
    "scalar": np.array(3, dtype=np.int32),
    "none": np.empty((0, 4)),
    "nan": np.array([np.nan, np.inf]),
}
CONTENT = {"summary": {"loss": 0.25, "nan": [1, None]}}


@pytest.fixture
def path(tmp_path):
    files.write_sealed(tmp_path / "file", CONTENT, ARRAYS)
    return tmp_path / "file"


def is_as_written(path):
    content, arrays = files.read_sealed(path)
    assert content == CONTENT and list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype and arrays[name].flags.writeable
        np.testing.assert_array_equal(arrays[name], array, strict=True)
    return True


def test_round_trip(path):
    assert is_as_written(path)
    assert files.read_head(path) == CONTENT


def test_other_layouts_and_texts(tmp_path):
    arrays = {
        "fortran": np.asfortranarray(ARRAYS["numbers"]),
        "strided": np.arange(10)[::3],
        "objects": np.array(["x", "yz"], dtype=object),
    }
    files.write_sealed(
        tmp_path / "file", {"n": np.float64(2.0), "v": np.arange(2)}, arrays
    )
    content, again = files.read_sealed(tmp_path / "file")
    assert content == {"n": 2.0, "v": [0, 1]}
    np.testing.assert_array_equal(again["fortran"], arrays["fortran"])
    np.testing.assert_array_equal(again["strided"], [0, 3, 6, 9])
    assert again["objects"].tolist() == ["x", "yz"]


def test_objects_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"mixed holds object.*numbers or texts"):
        files.write_sealed(
            tmp_path / "file", {}, {"mixed": np.array(["x", 1], dtype=object)}
        )
    assert not list(tmp_path.iterdir())


def test_no_bit_of_a_file_changes_unseen(path):
    """In each of its bytes: the line, the head, each array, the last byte."""
    whole = path.read_bytes()
    for position in range(len(whole)):
        harmed = bytearray(whole)
        harmed[position] ^= 1 << position % 8
        path.write_bytes(harmed)
        with pytest.raises(SealError):
            files.read_sealed(path)
    path.write_bytes(whole)
    assert is_as_written(path)


def test_no_length_is_taken_for_another(path):
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(SealError):
            files.read_sealed(path)
        with pytest.raises(SealError):
            files.read_head(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(SealError, match="added"):
        files.read_sealed(path)


def test_a_claimed_length_allocates_nothing(path):
    whole = path.read_bytes()
    path.write_bytes(whole[:11] + b"9" * 12 + whole[23:])
    with pytest.raises(SealError, match="head"):
        files.read_sealed(path)


def test_flipped_bits_of_a_stored_run_are_found_or_harmless(tmp_path):
    """A few hundred places over the whole file of a run, as the store reads it."""
    store, run = Store(tmp_path), make_run()
    path, id = store.write(run), run.attrs["id"]
    whole, summary = path.read_bytes(), store.summary(id)
    generator = np.random.default_rng(0)
    for position in generator.choice(len(whole), 300, replace=False):
        harmed = bytearray(whole)
        harmed[position] ^= 1 << int(generator.integers(8))
        path.write_bytes(harmed)
        with pytest.raises(StoreError, match="damaged"):
            store.read(id)
        assert store.summary(id) in (None, summary)


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from attnflow.schema import files

moment = int(sys.argv[2])
calls = 0

def at_the_moment(function):
    def wrapped(*args, **kwargs):
        global calls
        if calls == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        calls += 1
        return function(*args, **kwargs)
    return wrapped

class File:
    def __init__(self, file): self.file = file
    def __enter__(self): return self
    def __exit__(self, *args): self.close()
    def __getattr__(self, name): return getattr(self.file, name)
    @at_the_moment
    def write(self, content):
        half = len(content) // 2
        self.file.write(content[:half]); self.file.flush()
        at_the_moment(self.file.write)(content[half:]); self.file.flush()
    @at_the_moment
    def close(self): self.file.close()

opened = Path.open
Path.open = lambda self, *a, **k: File(at_the_moment(opened)(self, *a, **k))
Path.replace = at_the_moment(Path.replace)
Path.unlink = at_the_moment(Path.unlink)
os.fsync = at_the_moment(os.fsync)
arrays = {"numbers": np.full(1000, 2.0)}
files.write_sealed(Path(sys.argv[1]), "new", arrays, durable=True)
sys.exit(0)
"""


@pytest.mark.slow
def test_a_kill_at_any_moment_of_a_write_leaves_the_old_file_or_the_new(tmp_path):
    path, seen, left = tmp_path / "file", [], 0
    for moment in range(20):
        files.write_sealed(path, "old", {"numbers": np.full(1000, 1.0)})
        command = [sys.executable, "-c", KILLED, str(path), str(moment)]
        code = subprocess.run(command).returncode
        content, arrays = files.read_sealed(path)
        expected = {"old": 1.0, "new": 2.0}[content]
        assert (arrays["numbers"] == expected).all()
        seen.append(content)
        if code == 0:
            break
        left += len(os.listdir(tmp_path)) > 1
    assert code == 0 and len(seen) > 8
    assert {"old", "new"} == set(seen)
    # The next process that wrote here removed what the killed ones had left.
    assert left and os.listdir(tmp_path) == ["file"]


def replace_again_and_again(root, stop):
    store, number = Store(root), 0
    while not stop.is_set():
        number += 1
        store.write(numbered(number % 7), replace=True)


def numbered(number):
    run = make_run(wall_seconds=float(number))
    run["loss"].values[:] = number
    return run


def test_a_thousand_reads_during_replacements(tmp_path):
    """Each read is of one generation, whole."""
    store = Store(tmp_path)
    id = str(store.write(numbered(0)).stem)
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    writer = context.Process(target=replace_again_and_again, args=(tmp_path, stop))
    writer.start()
    generations, reads, end = set(), 0, time.monotonic() + 60
    try:
        # The writer may take longer to begin than a thousand reads.
        while reads < 1000 or (len(generations) == 1 and time.monotonic() < end):
            reads += 1
            run = store.read(id)
            assert (run["loss"].values == run.attrs["wall_seconds"]).all()
            generations.add(run.attrs["wall_seconds"])
            assert store.summary(id)["seconds"] in range(7)
    finally:
        stop.set()
        writer.join()
    assert len(generations) > 1, "nothing was replaced meanwhile"
