"""SIGKILL in the middle of writes: the same command then gives the same answer."""

import shutil

import numpy as np
import pytest

from tests.faults.cases import CASES, are_equal, copied, leftovers, stored
from tests.faults.hook import KILL
from tests.faults.zygote import Scratch

MOMENTS = {"run": 14, "verify": 12, "sweep": 12, "reproduce": 12}
"""Of each command, spread over all of its operations on files: 50 together."""


def before(programs, whole, name, folder):
    """A folder before the command, and the operations on files of that.

    Programs are compiled and code is parsed already, except for `run`: there their
    files are among those that are being written.
    """
    fresh = Scratch(folder / "before")
    if name != "run":
        shutil.copytree(whole.cache, fresh.cache)
    counted = copied(fresh, folder / "counted")
    return fresh, programs(counted, *CASES[name].args).count


def kill_and_go_on(programs, undisturbed, folder, name, moments):
    case, whole = CASES[name], undisturbed(name)
    answer, kept = case.answer(whole), stored(whole)
    fresh, count = before(programs, whole, name, folder)
    assert count > moments
    for moment in np.linspace(0, count - 1, moments).round().astype(int).tolist():
        trial = copied(fresh, folder / f"{name}-{moment}")
        killed = programs(trial, *case.args, how=KILL, moment=moment)
        assert killed.code == -9 and killed.alone, (name, moment, killed.stderr)
        # Whatever is there is whole, and right.
        for key, data in stored(trial).items():
            assert data.identical(kept[key]), (name, moment, key)
        again = programs(trial, *case.args)
        assert again.code == 0 and again.alone, (name, moment, again.stderr)
        assert "Traceback" not in again.stderr
        assert are_equal(case.answer(trial), answer), (name, moment)
        check = programs(trial, "store", "check", "--site", ".", "--repair")
        assert check.code == 0, check.stdout
        assert leftovers(trial) == [], (name, moment)
        shutil.rmtree(trial.root)
    print(f"{name}: killed at {moments} of {count} operations on files")


def test_two_kills(programs, undisturbed, tmp_path):
    kill_and_go_on(programs, undisturbed, tmp_path, "sweep", 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CASES))
def test_fifty_kills(programs, undisturbed, tmp_path, name):
    kill_and_go_on(programs, undisturbed, tmp_path, name, MOMENTS[name])
