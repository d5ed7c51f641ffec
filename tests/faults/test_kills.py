"""SIGKILL in the middle of writes: the same command then gives the same answer."""

import shutil

import numpy as np
import pytest

from tests.faults.cases import CASES, are_equal, copied, leftovers, stored
from tests.faults.hook import KILL
from tests.faults.zygote import Scratch

MOMENTS = {"run": 14, "verify": 12, "sweep": 12, "reproduce": 12}
"""Of each command, spread over all of its operations on files: 50 together."""


@pytest.fixture(scope="module")
def undisturbed(programs, tmp_path_factory):
    """By the name of a case: its folder before, its answer, and its operations.

    Programs are compiled and code is parsed already, except for `run`: there their
    files are among those that are being written.
    """
    warm = Scratch(tmp_path_factory.mktemp("warm"))
    made = {}

    def of(name):
        if name not in made:
            case = CASES[name]
            assert programs(warm, *case.args).code == 0
            before = Scratch(tmp_path_factory.mktemp(name))
            if name != "run":
                shutil.copytree(warm.cache, before.cache)
            whole = copied(before, tmp_path_factory.mktemp("whole") / name)
            done = programs(whole, *case.args)
            assert done.code == 0, done.stderr
            made[name] = before, case.answer(whole), stored(whole), done.count
            for path in warm.work.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            shutil.rmtree(warm.store)
        return made[name]

    return of


def kill_and_go_on(programs, undisturbed, folder, name, moments):
    case = CASES[name]
    before, answer, kept, count = undisturbed(name)
    assert count > moments
    for moment in np.linspace(0, count - 1, moments).round().astype(int).tolist():
        trial = copied(before, folder / f"{name}-{moment}")
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


@pytest.mark.parametrize("name", ["run", "sweep"])
def test_a_kill_or_two(programs, undisturbed, tmp_path, name):
    kill_and_go_on(programs, undisturbed, tmp_path, name, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(CASES))
def test_fifty_kills(programs, undisturbed, tmp_path, name):
    kill_and_go_on(programs, undisturbed, tmp_path, name, MOMENTS[name])
