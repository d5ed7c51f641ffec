"""A disk that fills at every possible write: a sentence, and nothing lost."""

import json
import shutil

import numpy as np
import pytest
import xarray as xr

from tests.faults.cases import CASES, are_equal, copied, leftovers, stored
from tests.faults.hook import FULL
from tests.faults.zygote import Scratch

MOST = 40
"""Moments of one command; a picture is written in thousands of pieces."""
OLD = {"answer.json": '{"old": true}', "run.nc": "old", "sweep.nc": "old"}


def furnished(programs, whole, folder):
    """A folder with another run and old outputs; programs are compiled already."""
    scratch = Scratch(folder / "before")
    shutil.copytree(whole.cache, scratch.cache)
    done = programs(scratch, "run", "mixture/concentration", "draws=2")
    assert done.code == 0, done.stderr
    for file, text in OLD.items():
        (scratch.work / file).write_text(text)
    return scratch


def fill(programs, undisturbed, folder, name, most):
    case, whole = CASES[name], undisturbed(name)
    before = furnished(programs, whole, folder)
    answer, kept = case.answer(whole), stored(whole) | stored(before)
    count = programs(copied(before, folder / "counted"), *case.args).count
    moments = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
    codes = []
    for moment in moments.tolist():
        trial = copied(before, folder / f"{name}-{moment}")
        done = programs(trial, *case.args, how=FULL, moment=moment)
        codes.append(done.code)
        what = (name, moment, done.code, done.stderr)
        assert done.code in (0, 2) and done.alone, what
        assert "Traceback" not in done.stderr, what
        # A sentence that says what is full, also where the answer is given after all.
        assert "No space left on device" in done.stderr or done.code == 0, what
        # What was complete is there; what is there is complete, and right.
        for key, data in stored(trial).items():
            assert data.identical(kept[key]), what
        assert set(stored(before)) <= set(stored(trial)), what
        for file, text in OLD.items():
            check_output(trial.work / file, text, what)
        if done.code == 0:
            for file in OLD:
                if (trial.work / file).read_text(errors="replace") == OLD[file]:
                    (trial.work / file).unlink()
            assert are_equal(case.answer(trial), answer), what
        assert leftovers(trial) == [], what
        shutil.rmtree(trial.root)
    print(f"{name}: {len(codes)} of {count} moments, {codes.count(2)} with exit code 2")
    return codes


def check_output(path, old, what):
    """A file is as it was, or new and complete."""
    if path.read_text(errors="replace") == old:
        return
    if path.suffix == ".json":
        assert json.loads(path.read_text())["version"] == 2, what
    else:
        with xr.open_dataset(path, engine="h5netcdf") as data:
            assert data.load() is not None, what


def test_a_disk_that_is_full_from_the_start(programs, undisturbed, tmp_path):
    assert fill(programs, undisturbed, tmp_path, "sweep", 1) == [2]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CASES))
def test_a_disk_that_fills_at_every_write(programs, undisturbed, tmp_path, name):
    assert 2 in fill(programs, undisturbed, tmp_path, name, MOST)
