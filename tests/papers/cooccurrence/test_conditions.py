import math
from dataclasses import asdict
from functools import partial

import pytest

from attnflow.data import CooccurrenceTask
from attnflow.papers.cooccurrence import PAPER
from attnflow.papers.cooccurrence.computations import Concentration, TokenSvm
from attnflow.papers.cooccurrence.settings import THEORY, Quotient, Train
from attnflow.schema.settings import replace
from tests.papers import told

items, unmet = partial(told.items, PAPER), partial(told.unmet, PAPER)


# What n = 60, L = 5 miss once a tilde is read as ln m, and outputs of 0.3 · 0.3 too.
SMALL = {"n", "L", "F(0)"}


def test_our_runs_under_the_theory_miss_logarithms_and_small_outputs():
    conditions = items(THEORY)
    assert unmet(THEORY) == SMALL
    assert conditions["n"].slack == pytest.approx(60 / (25 * math.log(4096)))
    assert conditions["L"].slack == pytest.approx(5 / math.log(4096))
    # σ0 σ1 √(2 L m m1 ln n) = 0.09 √(2 ln 60), measured 0.15 to 0.23.
    assert conditions["F(0)"].value == pytest.approx(0.2575, rel=1e-3)
    assert conditions["δ"].met is None


def test_runs_without_noise_have_no_random_weights():
    """Their outputs are 0 at time 0."""
    assert unmet(Quotient()) == {"normal", "n", "L"}
    assert "normal" in unmet(replace(THEORY, {"draw": "expected"}))


def test_frozen_attention_is_not_the_theorems():
    assert "trained" in unmet(replace(THEORY, {"trains": "values"}))
    assert "trained" in unmet(replace(Quotient(), {"trains": "values"}))


def test_all_can_be_met():
    """L = 9 > ln 4096, n = 1500 > 81 ln 4096, and c0 c1 √(2 ln n) < 0.01."""
    large = {"length": 9, "samples": 1500, "embed": 20000, "c0": 0.05, "c1": 0.05}
    assert unmet(replace(THEORY, large)) == set()


def test_appendix_a_does_not():
    """Its m is below m1, its fillers repeat, its a is small, and it takes steps."""
    conditions = items(Train())
    missed = {"normal", "m", "a", "n", "F(0)", "2.3(ii)", "flow"}
    assert unmet(Train()) == missed
    least = 256 * math.log(128)
    assert (conditions["m"].value, conditions["m"].least) == (128, least)
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
        ({"c0": 0.01}, "σ0"),  # 0.01 < 1/(10 ln 4096)
        ({"c1": 90.0}, "σ1"),  # 90 > 10 ln 4096
        ({"width": 256}, "m"),  # 256 < 64 ln 256
        ({"neurons": 8}, "m1"),  # 8 < ln 4096
        ({"shares": "drawn"}, "2.3(i)"),
        ({"rule": "gd"}, "flow"),
    ],
)
def test_each_can_fail(changes, item):
    assert unmet(replace(THEORY, changes)) - SMALL == {item}


def test_drawn_shares_deviate():
    conditions = items(Train(shares="drawn", samples=100))
    assert conditions["2.3(i)"].value == pytest.approx(0.05)


def test_initial_draws_have_the_least_slack_of_their_widths():
    conditions = items(Concentration(widths=(512, 131072)))
    assert conditions["m"].slack == pytest.approx(512 / (64 * math.log(512)))
    assert conditions["L"].slack == pytest.approx(5 / math.log(131072))
    assert conditions["normal"].met and conditions["2.3(ii)"].met


def test_what_is_computed_has_none():
    assert PAPER.conditions(asdict(TokenSvm())) == []
