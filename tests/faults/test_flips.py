"""Flipped bits, cuts and lost files: found and repaired, or harmless."""

import shutil

import numpy as np
import pytest

from tests.faults.cases import CASES, are_equal, copied

KINDS = {
    "run": ("store/*.run", "run"),
    "verdict": ("store/verdicts/*.verdict", "verify"),
    "batch": ("store/sweeps/batches/*.batch", "sweep"),
    "sweep": ("store/sweeps/*.sweep", "sweep"),
    "record": ("work/site/figure1a.json", "reproduce"),
    "picture": ("work/site/figure1a*.*g", "reproduce"),
    "program": ("cache/attnflow/compiled/*", "run"),
    "code": ("cache/attnflow/code.sealed", "verify"),
}
"""Where files of each kind are, and the case that writes and reads them."""
HARMS = ("flip", "flip", "flip", "cut", "flip", "empty", "flip", "lost")
TRIALS = 25
"""Of each of eight kinds: 200 together, 5 of 8 of them flips of a single bit."""


def harm(path, how, generator):
    """Harm a file, and say how."""
    content = bytearray(path.read_bytes())
    position = int(generator.integers(len(content)))
    if how == "lost":
        path.unlink()
    elif how == "flip":
        content[position] ^= 1 << int(generator.integers(8))
        path.write_bytes(content)
    else:
        path.write_bytes(content[:position] if how == "cut" else b"")
    return f"{how} of {path.name} at {position}"


def harm_and_ask(programs, undisturbed, folder, kind, trials):
    pattern, name = KINDS[kind]
    case, before = CASES[name], undisturbed(name)
    answer = case.answer(before)
    generator = np.random.default_rng(list(KINDS).index(kind))
    site = ("--site", "site") if (before.work / "site").is_dir() else ()
    for number in range(trials):
        trial = copied(before, folder / f"{kind}-{number}")
        places = sorted(trial.root.glob(pattern))
        place = places[int(generator.integers(len(places)))]
        what = harm(place, HARMS[number % len(HARMS)], generator)
        check = programs(trial, "store", "check", *site)
        # A file that is lost is not there to be found damaged.
        found = place.exists() or kind == "picture"
        assert check.code == int(found), (kind, what, check.stdout)
        assert not found or "1 of" in check.stdout, (kind, what, check.stdout)
        if kind == "program":
            # They are read where something is computed.
            for run in trial.root.glob("store/*.run"):
                run.unlink()
        done = programs(trial, *case.args)
        assert done.code == 0, (kind, what, done.stderr)
        assert "Traceback" not in done.stderr, (kind, what, done.stderr)
        assert are_equal(case.answer(trial), answer), (kind, what)
        repaired = programs(trial, "store", "check", *site, "--repair")
        assert repaired.code == 0, (kind, what, repaired.stdout)
        after = programs(trial, "store", "check", *site)
        assert after.stdout.startswith("All "), (kind, what, after.stdout)
        shutil.rmtree(trial.root)


@pytest.mark.parametrize("kind", ["batch", "sweep"])
def test_one_is_found_and_repaired(programs, undisturbed, tmp_path, kind):
    harm_and_ask(programs, undisturbed, tmp_path, kind, 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(KINDS))
def test_two_hundred_are_found_and_repaired(programs, undisturbed, tmp_path, kind):
    harm_and_ask(programs, undisturbed, tmp_path, kind, TRIALS)
