"""Benchmarks: which ways are timed, how often, and what is compared first."""

import numpy as np
import pytest

from attnflow.cli.benchmarks import harness
from attnflow.cli.benchmarks.harness import Case, CaseName, cases, measure

NAME = CaseName("toy", "one")


class Way:
    """A way that takes its time on a clock that goes by nothing else."""

    now = 0.0

    def __init__(self, seconds, value=1.0):
        self.seconds, self.value, self.count = seconds, value, 0

    def __call__(self):
        self.count += 1
        Way.now += self.seconds
        return {"loss": np.array([self.value, 0.5])}


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr(harness.time, "perf_counter", lambda: Way.now)
    monkeypatch.setattr(harness, "find_spec", lambda name: name)


def test_both_rivals_have_their_ratio():
    ours, loop, lean = Way(0.25), Way(2.0), Way(1.0)
    case = Case("small", ours, torch=loop, lean=(lean, "hoisted"), repeats=5)
    row = measure(NAME, case)
    assert (row["ours"], row["torch"], row["lean"]) == (0.25, 2.0, 1.0)
    assert (row["ratio"], row["lean_ratio"]) == (8.0, 4.0)
    assert row["lean_rival"] == "hoisted"
    # The first of ours is compiled, and told apart.
    assert (ours.count, loop.count, lean.count) == (6, 4, 4)
    assert row["first"] == 0.25


def test_what_takes_long_is_not_repeated():
    loop = Way(100.0)
    row = measure(NAME, Case("small", Way(10.0), torch=loop, share=0.1, repeats=9))
    assert loop.count == 1
    assert row["torch"] == 1000.0
    assert row["ratio"] == 100.0


@pytest.mark.parametrize("wrong", [1.1, float("nan")])
def test_nothing_is_timed_that_differs(wrong):
    case = Case("small", Way(1.0), lean=(Way(1.0, wrong), "another"))
    with pytest.raises(RuntimeError, match="trajectories differ"):
        measure(NAME, case)


def test_what_says_most_comes_first():
    names = cases()
    first = names[: len(harness.HEADLINES)]
    assert [name.id for name in first] == list(harness.HEADLINES)
    assert [name.paper for name in first] == list(harness.PAPERS)[: len(first)]
    assert len(set(names)) == len(names) > 20
