import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnflow.claims import (
    Exact,
    Finding,
    HighProbability,
    LargeEnough,
    Scope,
    Seeds,
    Slope,
    Unchecked,
    Verdict,
)
from attnflow.claims.decision import LARGEST, combine, decide, decide_check

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
INCONCLUSIVE, UNCHECKED = Verdict.INCONCLUSIVE, Verdict.UNCHECKED
SCOPES = st.sampled_from(Scope)
ANY = st.floats(allow_nan=True, allow_infinity=True)


def line(slope, points=8, bend=0.0):
    x = np.linspace(0.0, 4.0, points)
    return tuple(x), tuple(slope * x + bend * x**2)


# Exact


@pytest.mark.parametrize(
    ("error", "tolerance", "verdict", "margin"),
    [
        (0.0, 1e-10, HOLDS, 1.0),
        (5e-11, 1e-10, HOLDS, 0.5),
        (1e-10, 1e-10, HOLDS, 0.0),
        (2e-10, 1e-10, INCONCLUSIVE, -1.0),
        (0.0, 0.0, HOLDS, 1.0),
        (1.0, 0.0, INCONCLUSIVE, -LARGEST),
        (math.inf, 1e-10, INCONCLUSIVE, -LARGEST),
        (math.nan, 1e-10, INCONCLUSIVE, 0.0),
    ],
)
def test_exact(error, tolerance, verdict, margin):
    decision = decide_check(Exact(error, tolerance, "equality"), Scope.THEOREM)
    assert decision.verdict == verdict
    assert decision.margin == pytest.approx(margin)
    assert decision.interval is None
    assert (decision.held, decision.seeds) == (int(verdict == HOLDS), 1)


@pytest.mark.parametrize("scope", Scope)
def test_an_exact_counterexample_fails_at_every_scope(scope):
    wrong = Exact(1.0, 0.1, "y f > 0", counterexample=True)
    assert decide_check(wrong, scope).verdict == FAILS
    right = Exact(0.0, 0.1, "y f > 0", counterexample=True)
    assert decide_check(right, scope).verdict == HOLDS


def test_a_failure_at_the_papers_sizes_says_so():
    decision = decide_check(Exact(1.0, 0.1, "loss"), Scope.EXPERIMENT)
    assert decision.verdict == INCONCLUSIVE
    assert "not seen at the paper's sizes" in decision.note


# Seeds


@pytest.mark.parametrize("scope", Scope)
@pytest.mark.parametrize(
    ("held", "seeds", "q", "verdict"),
    [
        (10, 10, 0.9, HOLDS),
        (9, 10, 0.9, HOLDS),
        (8, 10, 0.9, INCONCLUSIVE),
        (0, 10, 0.9, INCONCLUSIVE),
        (2, 2, 0.9, HOLDS),
        (1, 2, 0.9, INCONCLUSIVE),
        (1, 2, 0.5, HOLDS),
        (9, 10, 1.0, INCONCLUSIVE),
        (55, 100, 0.55, HOLDS),  # 0.55 · 100 is above 55 in floating point
    ],
)
def test_seeds(held, seeds, q, verdict, scope):
    """Seeds alone never refute: not at scope theorem either."""
    marks = (True,) * held + (False,) * (seeds - held)
    margins = tuple(1.0 if mark else -1.0 for mark in marks)
    decision = decide_check(Seeds(marks, margins, "order", q), scope)
    assert decision.verdict == verdict
    assert (decision.held, decision.seeds) == (held, seeds)
    assert decision.margin == (1.0 if verdict == HOLDS else -1.0)
    assert decision.interval is not None


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=40), st.floats(0.05, 1))
def test_the_margin_of_seeds_has_the_sign_of_the_verdict(margins, q):
    held = tuple(m > 0 for m in margins)
    decision = decide_check(Seeds(held, tuple(margins), "x", q), Scope.EXPERIMENT)
    assert (decision.verdict == HOLDS) == (decision.margin > 0)
    low, high = decision.interval
    assert low <= sum(held) / len(held) <= high


def test_the_interval_never_decides():
    decision = decide_check(Seeds((True,), (1.0,), "x"), Scope.EXPERIMENT)
    assert decision.verdict == HOLDS
    assert decision.interval == pytest.approx((0.025, 1.0))


def test_seeds_on_demand_get_the_wider_interval():
    plan = Seeds((True,) * 5, (1.0,) * 5, "x")
    demand = Seeds((True,) * 5, (1.0,) * 5, "x", on_demand=True)
    fixed = decide_check(plan, Scope.EXPERIMENT)
    anytime = decide_check(demand, Scope.EXPERIMENT)
    assert anytime.interval[0] < fixed.interval[0]
    assert anytime.verdict == fixed.verdict


def test_seeds_that_contradict_themselves_are_refused():
    with pytest.raises(ValueError, match="positive where"):
        Seeds((True,), (-1.0,), "x")
    with pytest.raises(ValueError, match="positive where"):
        Seeds((False,), (1.0,), "x")
    with pytest.raises(ValueError, match="lengths"):
        Seeds((True, True), (1.0,), "x")
    with pytest.raises(ValueError, match="q="):
        Seeds((True,), (1.0,), "x", q=0.0)


def test_no_seeds_and_diverged_seeds():
    assert decide_check(Seeds((), (), "x"), Scope.THEOREM).verdict == INCONCLUSIVE
    gone = decide_check(Seeds((False,), (math.nan,), "x"), Scope.THEOREM)
    assert gone.verdict == INCONCLUSIVE
    assert gone.margin == -LARGEST


# Slope


def test_slope():
    right = decide_check(Slope(*line(2.0), 2.0, 0.1, "T2"), Scope.THEOREM)
    assert right.verdict == HOLDS
    assert right.margin == pytest.approx(1.0)
    assert right.interval == pytest.approx((2.0, 2.0))
    near = decide_check(Slope(*line(2.05), 2.0, 0.1, "T2"), Scope.THEOREM)
    assert near.margin == pytest.approx(0.5)


def test_a_wrong_slope_fails_only_as_a_theorem():
    wrong = Slope(*line(3.0), 2.0, 0.1, "T2")
    assert decide_check(wrong, Scope.THEOREM).verdict == FAILS
    assert decide_check(wrong, Scope.EXPERIMENT).verdict == INCONCLUSIVE
    assert decide_check(wrong, Scope.BEYOND).verdict == INCONCLUSIVE
    assert decide_check(wrong, Scope.THEOREM).margin == pytest.approx(-9.0)


def test_a_slope_that_comes_right_at_the_top_does_not_fail():
    """x² bends; here the last half has the stated slope, the first has not."""
    x = np.linspace(0.0, 4.0, 8)
    y = np.where(x < 2, 3 * x, 6 + 2 * (x - 2))
    check = Slope(tuple(x), tuple(y), 2.0, 0.1, "T2")
    assert decide_check(check, Scope.THEOREM).verdict == INCONCLUSIVE


def test_few_or_bad_points_decide_nothing():
    for x, y in (((0.0, 1.0), (0.0, 2.0)), ((0.0, 0.0, 0.0), (0.0, 1.0, 2.0))):
        decision = decide_check(Slope(x, y, 2.0, 0.1, "T2"), Scope.THEOREM)
        assert decision.verdict == INCONCLUSIVE
    gap = Slope((0.0, 1.0, 2.0), (0.0, math.nan, 4.0), 2.0, 0.1, "T2")
    assert decide_check(gap, Scope.THEOREM).verdict == INCONCLUSIVE
    four = Slope(*line(3.0, points=4), 2.0, 0.1, "T2")
    assert decide_check(four, Scope.THEOREM).verdict == INCONCLUSIVE


# High probability, large enough


@pytest.mark.parametrize(
    ("failures", "draws", "verdict"),
    [
        ((0,), (4000,), HOLDS),
        ((3,), (4000,), HOLDS),
        ((0,), (10,), INCONCLUSIVE),
        ((600,), (4000,), INCONCLUSIVE),
        ((300, 600), (4000, 4000), FAILS),
        ((900, 600), (4000, 4000), INCONCLUSIVE),
        ((900, 30), (4000, 4000), HOLDS),
    ],
)
def test_high_probability(failures, draws, verdict):
    check = HighProbability(failures, draws, 0.1, "concentration")
    assert decide_check(check, Scope.THEOREM).verdict == verdict
    if verdict == FAILS:
        assert decide_check(check, Scope.EXPERIMENT).verdict == INCONCLUSIVE


SIZES = (10.0, 30.0, 100.0, 300.0, 1000.0)


@pytest.mark.parametrize(
    ("held", "verdict", "margin"),
    [
        ((True,) * 5, HOLDS, 2.0),
        ((False, True, False, True, True), HOLDS, math.log10(1000 / 300)),
        ((True, True, True, False, True), INCONCLUSIVE, -1.0),
        ((True, True, True, True, False), INCONCLUSIVE, -1.0),
    ],
)
def test_large_enough(held, verdict, margin):
    decision = decide_check(LargeEnough(SIZES, held, "accuracy 1"), Scope.THEOREM)
    assert decision.verdict == verdict
    assert decision.margin == pytest.approx(margin)
    backwards = LargeEnough(SIZES[::-1], held[::-1], "accuracy 1")
    assert decide_check(backwards, Scope.THEOREM) == decision


def test_large_enough_reports_the_rung():
    check = LargeEnough(SIZES, (False, True, True, True, True), "accuracy 1")
    assert "from size 30 on" in decide_check(check, Scope.THEOREM).note
    short = LargeEnough(SIZES[:4], (True,) * 4, "accuracy 1")
    assert decide_check(short, Scope.THEOREM).verdict == INCONCLUSIVE


# Several checks

GOOD = Exact(0.25, 1.0, "good")
BAD = Exact(3.0, 1.0, "bad")
WRONG = Exact(2.0, 1.0, "wrong", counterexample=True)
NONE = Unchecked("no data")


@pytest.mark.parametrize(
    ("checks", "verdict", "margin"),
    [
        ((GOOD, GOOD), HOLDS, 0.75),
        ((GOOD, NONE), UNCHECKED, 0.75),
        ((GOOD, BAD), INCONCLUSIVE, -2.0),
        ((NONE, BAD), INCONCLUSIVE, -2.0),
        ((BAD, WRONG), FAILS, -2.0),
        ((WRONG, NONE, GOOD), FAILS, -1.0),
        ((NONE,), UNCHECKED, 0.0),
        ((), UNCHECKED, 0.0),
    ],
)
def test_all_checks_must_hold(checks, verdict, margin):
    decision = decide(Finding(checks), Scope.THEOREM)
    assert decision.verdict == verdict
    assert decision.margin == pytest.approx(margin)
    assert decide(Finding(checks[::-1]), Scope.THEOREM).verdict == verdict


def test_the_reason_of_the_verdict_is_in_the_note():
    assert decide(Finding((GOOD, NONE)), Scope.THEOREM).note == "no data"
    note = decide(Finding((GOOD, BAD, WRONG)), Scope.THEOREM).note
    assert note == "wrong: 2 > 1"


def test_the_weakest_count_of_seeds_is_reported():
    some = Seeds((True, True, False), (1.0, 1.0, -1.0), "some", q=0.5)
    every = Seeds((True,) * 3, (1.0,) * 3, "every")
    decision = decide(Finding((GOOD, every, some)), Scope.THEOREM)
    assert (decision.verdict, decision.held, decision.seeds) == (HOLDS, 2, 3)
    exact = decide(Finding((GOOD, every)), Scope.THEOREM)
    assert (exact.held, exact.seeds) == (3, 3)
    assert exact.interval is not None


@given(
    st.lists(
        st.one_of(
            st.builds(Exact, ANY, st.floats(0, 1e3), st.just("x"), st.booleans()),
            st.builds(
                lambda m: Seeds(tuple(v > 0 for v in m), tuple(m), "x"),
                st.lists(ANY, max_size=6),
            ),
            st.builds(
                lambda y: Slope(tuple(map(float, range(len(y)))), tuple(y), 0, 1, "x"),
                st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9),
            ),
            st.just(NONE),
        ),
        max_size=4,
    ),
    SCOPES,
)
def test_decisions_are_finite_whatever_was_measured(checks, scope):
    decision = decide(Finding(tuple(checks)), scope)
    json.dumps(vars(decision), allow_nan=False)
    assert 0 <= decision.held <= decision.seeds
    if decision.verdict == HOLDS:
        assert decision.margin >= 0
    if checks:
        decisions = [decide_check(check, scope) for check in checks]
        assert combine(decisions) == decision


def test_numbers_of_numpy_become_plain():
    marks, margins = np.array([True, False]), np.array([1.0, -1.0])
    checks = (
        Exact(np.float32(0.1), np.float64(0.2), "x"),
        Seeds(tuple(marks), tuple(margins), "x", np.float64(0.5)),
        Slope(*line(2.0), np.float64(2.0), np.float64(0.1), "x", seeds=np.int64(3)),
        HighProbability((np.int64(0),), (np.int64(100),), np.float64(0.1), "x"),
    )
    for check in checks:
        json.dumps(vars(decide_check(check, Scope.THEOREM)))


def test_what_is_no_check_is_refused():
    with pytest.raises(TypeError, match="no check"):
        decide_check("holds", Scope.THEOREM)  # type: ignore[arg-type]
