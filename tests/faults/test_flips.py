"""Flipped bits, cuts and lost files: found and mended, or harmless."""

import shutil

import numpy as np
import pytest

from tests.faults.cases import CASES, RUN, Case, are_equal, copied
from tests.faults.zygote import Scratch

KINDS = {
    "run": ("store/*.run", CASES["run"]),
    "summary": ("store/*.run", Case(RUN)),
    "verdict": ("store/verdicts/*.verdict", CASES["verify"]),
    "batch": ("store/sweeps/batches/*.batch", CASES["sweep"]),
    "sweep": ("store/sweeps/*.sweep", CASES["sweep"]),
    "record": ("work/site/figure1a.json", CASES["reproduce"]),
    "picture": ("work/site/figure1a*.*g", CASES["reproduce"]),
    "program": ("cache/attnflow/compiled/*-cache", Case((*RUN, "--rerun"))),
    "code": ("cache/attnflow/code.sealed", CASES["verify"]),
}
"""Where files of each kind are, and a command that reads them."""
HARMS = ("flip", "flip", "flip", "cut", "flip", "empty", "flip", "lost")
TRIALS = 23
"""Of each of nine kinds: 207 together, 5 of 8 of them flips of a single bit."""


@pytest.fixture(scope="module")
def whole(programs, tmp_path_factory):
    """By the kind of file: a folder in which its command was carried out twice."""
    made = {}

    def of(kind):
        case = KINDS[kind][1]
        if case not in made:
            scratch = Scratch(tmp_path_factory.mktemp(kind))
            for _ in range(2):
                done = programs(scratch, *case.args)
                assert done.code == 0, (kind, done.stderr)
            made[case] = scratch, case.answer(scratch)
        return made[case]

    return of


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


def harm_and_ask(programs, whole, folder, kind, trials):
    before, answer = whole(kind)
    pattern, case = KINDS[kind]
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
        done = programs(trial, *case.args)
        assert done.code == 0, (kind, what, done.stderr)
        assert "Traceback" not in done.stderr, (kind, what, done.stderr)
        assert are_equal(case.answer(trial), answer), (kind, what)
        repaired = programs(trial, "store", "check", *site, "--repair")
        assert repaired.code == 0, (kind, what, repaired.stdout)
        after = programs(trial, "store", "check", *site)
        assert after.stdout.startswith("All "), (kind, what, after.stdout)
        shutil.rmtree(trial.root)


@pytest.mark.parametrize("kind", ["verdict", "batch"])
def test_a_few_are_found_and_mended(programs, whole, tmp_path, kind):
    harm_and_ask(programs, whole, tmp_path, kind, 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(KINDS))
def test_two_hundred_are_found_and_mended(programs, whole, tmp_path, kind):
    harm_and_ask(programs, whole, tmp_path, kind, TRIALS)
