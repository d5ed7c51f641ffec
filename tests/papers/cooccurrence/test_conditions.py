import math
from dataclasses import asdict
from functools import partial

import pytest

from attnflow.data import CooccurrenceTask
from attnflow.papers.cooccurrence import PAPER
from attnflow.papers.cooccurrence.computations import TokenSvm
from attnflow.papers.cooccurrence.settings import THEORY, Quotient, Train
from tests.papers import told

items, unmet = partial(told.items, PAPER), partial(told.unmet, PAPER)


def test_the_theorys_own_sizes_meet_all():
    assert unmet(THEORY) == set()
    assert unmet(Quotient()) == set()


def test_appendix_a_does_not():
    """Its m is below m1, its fillers repeat, its a is small, and it takes steps."""
    conditions = items(Train())
    assert unmet(Train()) == {"m", "a", "2.3(ii)", "flow"}
    assert (conditions["m"].value, conditions["m"].least) == (128, 256)
    # n/2 · 2 + 2 · n/6 · 3 + n/6 · 4 = 160 slots, 160 · 159/2 pairs, 61 fillers.
    assert conditions["2.3(ii)"].value == pytest.approx(12720 / 61)
    # Uniform on ±1/√64 has variance 1/(3 · 64); L m = 640.
    assert conditions["σ0"].value == pytest.approx(math.sqrt(640 / 192))
    # Uniform on ±1/√128; m1 = 256.
    assert conditions["σ1"].value == pytest.approx(math.sqrt(256 / 384))
    assert conditions["a"].value == pytest.approx(1 / math.sqrt(3 * 256))


def test_slots_are_those_of_the_task():
    task = CooccurrenceTask(fillers="distinct", embed=163)
    assert task.slots == 160


@pytest.mark.parametrize(
    ("changes", "item"),
    [
        ({"length": 10, "embed": 600}, "n"),  # 60 < 10²
        ({"c0": 0.05}, "σ0"),  # 0.05 < 1/10
        ({"c1": 11.0}, "σ1"),  # 11 > 10
        ({"width": 32}, "m"),  # 32 < 64
        ({"shares": "drawn"}, "2.3(i)"),
        ({"rule": "gd"}, "flow"),
    ],
)
def test_each_can_fail(changes, item):
    assert unmet(Train(**{**asdict(THEORY), **changes})) == {item}


def test_drawn_shares_deviate():
    conditions = items(Train(shares="drawn", samples=100))
    assert conditions["2.3(i)"].value == pytest.approx(0.05)


def test_what_is_computed_has_none():
    assert PAPER.conditions(asdict(TokenSvm())) == []
