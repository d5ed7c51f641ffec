"""What chance alone would do, against counting and against simulation."""

from math import comb

import numpy as np
import pytest

from attnflow.claims import (
    Exact,
    Finding,
    HighProbability,
    Kind,
    Ladder,
    LargeEnough,
    Rule,
    Seeds,
    Slope,
    Unchecked,
    Verdict,
    decide,
    family_of,
)
from attnflow.claims.chance import of_coins, of_orders, seeds_to_decide
from attnflow.claims.statistics import clopper_pearson
from tests.claims.test_judgement import row

RULE = Rule(Kind.OBSERVATION)
SIZES = (1.0, 10.0, 100.0, 1e3, 1e4)


@pytest.mark.parametrize(("needed", "seeds"), [(1, 1), (3, 3), (9, 10), (0, 4)])
def test_coins_are_counted(needed, seeds):
    heads = sum(comb(seeds, n) for n in range(needed, seeds + 1))
    assert of_coins(needed, seeds) == pytest.approx(heads / 2**seeds)


def test_orders_are_counted():
    """Of the six orders of 0, 1, 2 over 0, 1, 2, one has slope 1, two have 1/2."""
    line = (0.0, 1.0, 2.0)
    assert of_orders(line, line, 1.0, 0.1) == pytest.approx(1 / 6)
    assert of_orders(line, line, 0.5, 0.1) == pytest.approx(2 / 6)
    assert of_orders(line, line, 0.0, 2.0) == 1.0


def test_orders_of_many_points_are_drawn_the_same_each_time():
    line = tuple(np.linspace(0.0, 1.0, 12))
    once = of_orders(line, line, 0.0, 0.2)
    assert once == of_orders(line, line, 0.0, 0.2)
    # Slopes of orders are nearly normal, with variance 1 / (points − 1).
    assert once == pytest.approx(0.493, abs=0.03)


@pytest.mark.parametrize(("held", "seeds"), [(2, 3), (4, 5), (7, 10)])
def test_the_seeds_that_would_decide_are_the_fewest(held, seeds):
    needed = seeds_to_decide(held, seeds, 0.9)
    share = held / seeds
    assert needed is not None
    assert clopper_pearson(round(share * needed), needed)[1] < 0.9
    before = [round(share * n) for n in range(seeds, needed)]
    uppers = [clopper_pearson(h, seeds + n)[1] for n, h in enumerate(before)]
    assert min(uppers) >= 0.9


def test_seeds_that_decide_nothing():
    assert seeds_to_decide(0, 50, 0.9) is None
    assert seeds_to_decide(9000, 10_000, 0.9) is None


@pytest.mark.parametrize(
    ("check", "chance", "more"),
    [
        (Exact(1.0, 2.0, "error"), 0.0, None),
        (Exact(3.0, 2.0, "error"), 0.0, None),
        (Seeds((1.0,) * 5, "order"), 1 / 32, None),
        (Seeds((1.0, 1.0, -1.0), "order"), 1 / 8, 11),
        (Ladder(SIZES, (1.0,) * 5, "theta", "time"), 0.025, None),
        (Slope((0.0, 1.0, 2.0), (0.0, 1.0, 2.0), 1.0, 0.1, "rate"), 1 / 6, None),
        (HighProbability((0,), (100,), 0.05, "noise"), 0.05, None),
        (HighProbability((0,), (20,), 0.05, "noise"), 0.05, 59),
        (LargeEnough(SIZES, (True,) * 5, "order"), 0.25, None),
    ],
)
def test_each_rule_tells_what_chance_would_do(check, chance, more):
    decision = decide(Finding((check,)), RULE)
    assert decision.chance == pytest.approx(chance)
    assert decision.more == more


def test_of_several_checks_the_hardest_for_chance_counts():
    few = Seeds((1.0,) * 3, "few")
    many = Seeds((1.0,) * 10, "many")
    half, reason = Seeds((1.0, -1.0), "half"), Unchecked("no data")
    assert decide(Finding((few, many)), RULE).chance == of_coins(9, 10)
    assert decide(Finding((few, reason)), RULE).chance == 1 / 8
    assert decide(Finding((few, Exact(0.0, 1.0, "sum"))), RULE).chance == 0
    assert decide(Finding((few, half)), RULE).more == 5


def rows(*chances, verdict=Verdict.HOLDS):
    return [row(chance=chance, verdict=verdict) for chance in chances]


def test_a_family():
    table = [
        *rows(0.0, 0.0),
        *rows(0.01, 0.02, 0.125),
        *rows(0.125, verdict=Verdict.INCONCLUSIVE),
        *rows(0.5, verdict=Verdict.UNCHECKED),
    ]
    family = family_of(table)
    assert (family.claims, family.exact, family.held) == (6, 2, 3)
    assert family.by_chance == family.any_by_chance == pytest.approx(0.28)
    # 0.01 ≤ 0.05 / 4, and 0.02 > 0.05 / 3.
    assert family.beyond_chance == 1
    assert "2 of 6 checked claims are decided by arithmetic" in str(family)
    assert "given 0.28 of these on average" in str(family)


def test_families_without_chance():
    assert str(family_of(rows(0.0))).startswith("All 1 checked claims")
    assert family_of([]).beyond_chance == 0
    assert family_of(rows(0.001, 0.002)).beyond_chance == 2


def test_chance_alone_gives_as_many_as_the_family_says():
    """Fair coins in the place of seeds, over many tables of forty claims."""
    draw = np.random.default_rng(1)
    seeds = np.array([3, 5, 10, 16] * 10)
    needed = np.ceil(0.9 * seeds - 1e-9)
    held = draw.binomial(seeds, 0.5, size=(4000, 40)) >= needed
    expected = sum(map(of_coins, needed.astype(int), seeds))
    spread = held.sum(axis=1).std() / np.sqrt(4000)
    assert held.sum(axis=1).mean() == pytest.approx(expected, abs=4 * spread)
