"""The rules: each can hold, fail and decide nothing, and NaN never holds."""

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
    Kind,
    LargeEnough,
    Rule,
    Seeds,
    Slope,
    Unchecked,
    Verdict,
    per_seed,
)
from attnflow.claims.decision import LARGEST, combine, decide, decide_check

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
INCONCLUSIVE, UNCHECKED = Verdict.INCONCLUSIVE, Verdict.UNCHECKED
IDENTITY, UNIVERSAL = Rule(Kind.IDENTITY), Rule(Kind.UNIVERSAL)
OBSERVATION, ASYMPTOTIC = Rule(Kind.OBSERVATION), Rule(Kind.ASYMPTOTIC)
RULES = st.sampled_from([IDENTITY, UNIVERSAL, OBSERVATION, Rule(Kind.PROBABILITY, 0.1)])
ANY = st.floats(allow_nan=True, allow_infinity=True)


def line(slope, points=8):
    x = np.linspace(0.0, 4.0, points)
    return tuple(x), tuple(slope * x)


def seeds(held, violated, unknown=0, **options):
    margins = (1.0,) * held + (-1.0,) * violated + (math.nan,) * unknown
    return Seeds(margins, "order", **options)


# Exact


@pytest.mark.parametrize(
    ("error", "tolerance", "verdict", "margin"),
    [
        (0.0, 1e-10, HOLDS, 1.0),
        (5e-11, 1e-10, HOLDS, 0.5),
        (1e-10, 1e-10, HOLDS, 0.0),
        (2e-10, 1e-10, INCONCLUSIVE, -1.0),
        (1e-9, 1e-10, INCONCLUSIVE, -9.0),
        (1.1e-9, 1e-10, FAILS, -10.0),
        (0.0, 0.0, HOLDS, 1.0),
        (1.0, 0.0, FAILS, -LARGEST),
        (math.inf, 1e-10, FAILS, -LARGEST),
        (math.nan, 1e-10, INCONCLUSIVE, 0.0),
    ],
)
def test_exact(error, tolerance, verdict, margin):
    decision = decide_check(Exact(error, tolerance, "equality"), IDENTITY)
    assert decision.verdict == verdict
    assert decision.margin == pytest.approx(margin)
    assert decision.interval is None
    assert (decision.held, decision.seeds) == (int(verdict == HOLDS), 1)


def test_a_tolerance_is_a_number():
    for tolerance in (-1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="tolerance"):
            Exact(0.0, tolerance, "x")


# Seeds


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (seeds(5, 0), HOLDS),
        (seeds(4, 1), FAILS),
        (seeds(4, 0, 1), INCONCLUSIVE),
        (seeds(0, 1, 4), FAILS),
        (Seeds((1.0, -1e-10), "within rounding"), INCONCLUSIVE),
        (Seeds((1.0, -1e-8), "beyond rounding"), FAILS),
        (Seeds((1.0, 0.0), "equality"), HOLDS),
        (Seeds((1.0, 0.0), "strict", strict=True), INCONCLUSIVE),
        (Seeds((), "none"), INCONCLUSIVE),
    ],
)
def test_one_counterexample_refutes_a_statement_about_all_runs(check, verdict):
    assert decide_check(check, UNIVERSAL).verdict == verdict
    assert decide_check(check, IDENTITY).verdict == verdict


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (seeds(10, 0), HOLDS),
        (seeds(9, 1), HOLDS),
        (seeds(8, 2), INCONCLUSIVE),
        (seeds(1, 9), FAILS),
        (seeds(0, 10), FAILS),
        (seeds(2, 8), INCONCLUSIVE),
        (seeds(0, 8, 2), INCONCLUSIVE),
        (seeds(9, 0, 1), HOLDS),
        (seeds(8, 0, 2), INCONCLUSIVE),
        (seeds(2, 0), HOLDS),
        (seeds(1, 1), INCONCLUSIVE),
        (seeds(0, 0, 5), INCONCLUSIVE),
    ],
)
def test_an_observation_is_seen_or_its_contrary_is_in_nine_tenths(check, verdict):
    decision = decide_check(check, OBSERVATION)
    assert decision.verdict == verdict
    assert (decision.held, decision.seeds) == (sum(check.held), len(check.margin))
    assert (decision.verdict == HOLDS) == (decision.margin >= 0)


@pytest.mark.parametrize(
    ("check", "delta", "verdict"),
    [
        (seeds(60, 0), 0.05, HOLDS),
        (seeds(5, 0), 0.05, INCONCLUSIVE),
        (seeds(50, 10), 0.05, FAILS),
        # What is not known counts as a failure for holding, and not for failing.
        (seeds(50, 0, 10), 0.05, INCONCLUSIVE),
    ],
)
def test_a_probability_is_bounded_from_both_sides(check, delta, verdict):
    assert decide_check(check, Rule(Kind.PROBABILITY, delta)).verdict == verdict


def test_a_probability_over_seeds_needs_its_delta():
    with pytest.raises(ValueError, match="Give delta"):
        decide_check(seeds(5, 0), Rule(Kind.PROBABILITY))


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=40))
def test_the_margin_of_seeds_has_the_sign_of_the_verdict(margins):
    for rule in (OBSERVATION, UNIVERSAL):
        decision = decide_check(Seeds(tuple(margins), "x"), rule)
        assert (decision.verdict == HOLDS) == (decision.margin >= 0)
        low, high = decision.interval
        assert low <= decision.held / decision.seeds <= high


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20), st.integers(1, 20), RULES)
def test_a_claim_does_not_hold_where_more_than_a_tenth_is_unknown(known, holes, rule):
    unknown = max(holes, math.ceil(len(known) / 9) + 1)
    margins = (*known, *[math.nan] * unknown)
    assert decide_check(Seeds(margins, "x"), rule).verdict != HOLDS


def test_the_interval_never_decides():
    decision = decide_check(seeds(1, 0), OBSERVATION)
    assert decision.verdict == HOLDS
    assert decision.interval == pytest.approx((0.025, 1.0))


def test_the_seeds_that_would_decide_are_told():
    assert decide_check(seeds(2, 1), OBSERVATION).more == 11
    assert decide_check(seeds(5, 0), OBSERVATION).more is None
    assert decide_check(seeds(5, 0), Rule(Kind.PROBABILITY, 0.05)).more == 59


def test_arrays_become_checks():
    check = per_seed(np.array([0.5, 0.0, np.nan]), "first", strict=True)
    assert check.held == (True, False, False)
    assert check.violated == (False, False, False)
    with pytest.raises(ValueError, match="rounding"):
        per_seed(np.array([1.0]), "x", rounding=-1.0)


# Slope


def test_slope():
    right = decide_check(Slope(*line(2.0), 2.0, 0.1, "T2"), ASYMPTOTIC)
    assert right.verdict == HOLDS
    assert right.margin == pytest.approx(1.0)
    assert right.interval == pytest.approx((2.0, 2.0))
    near = decide_check(Slope(*line(2.05), 2.0, 0.1, "T2"), ASYMPTOTIC)
    assert near.margin == pytest.approx(0.5)


@pytest.mark.parametrize("kind", Kind)
def test_a_wrong_slope_fails_whatever_the_kind(kind):
    decision = decide_check(Slope(*line(3.0), 2.0, 0.1, "T2"), Rule(kind))
    assert decision.verdict == FAILS
    assert decision.margin == pytest.approx(-9.0)


def test_a_slope_that_comes_right_at_the_top_does_not_fail():
    """x² bends; here the last half has the stated slope, the first has not."""
    x = np.linspace(0.0, 4.0, 8)
    y = np.where(x < 2, 3 * x, 6 + 2 * (x - 2))
    check = Slope(tuple(x), tuple(y), 2.0, 0.1, "T2")
    assert decide_check(check, ASYMPTOTIC).verdict == INCONCLUSIVE


def test_few_or_bad_points_decide_nothing():
    for x, y in (((0.0, 1.0), (0.0, 2.0)), ((0.0, 0.0, 0.0), (0.0, 1.0, 2.0))):
        decision = decide_check(Slope(x, y, 2.0, 0.1, "T2"), ASYMPTOTIC)
        assert decision.verdict == INCONCLUSIVE
    gap = Slope((0.0, 1.0, 2.0), (0.0, math.nan, 4.0), 2.0, 0.1, "T2")
    assert decide_check(gap, ASYMPTOTIC).verdict == INCONCLUSIVE


# High probability, large enough


@pytest.mark.parametrize(
    ("failures", "draws", "verdict"),
    [
        ((0,), (4000,), HOLDS),
        ((3,), (4000,), HOLDS),
        ((0,), (10,), INCONCLUSIVE),
        ((405,), (4000,), INCONCLUSIVE),
        ((600,), (4000,), FAILS),
        ((900, 600), (4000, 4000), FAILS),
        ((900, 30), (4000, 4000), HOLDS),
    ],
)
def test_high_probability(failures, draws, verdict):
    check = HighProbability(failures, draws, 0.1, "concentration")
    assert decide_check(check, Rule(Kind.PROBABILITY)).verdict == verdict


SIZES = (10.0, 30.0, 100.0, 300.0, 1000.0)


@pytest.mark.parametrize(
    ("held", "verdict", "margin"),
    [
        ((True,) * 5, HOLDS, 2.0),
        ((False, True, False, True, True), HOLDS, math.log10(1000 / 300)),
        ((True, True, True, False, True), INCONCLUSIVE, -1.0),
        ((True, True, True, True, False), INCONCLUSIVE, -1.0),
        ((True, True, True, False, False), FAILS, -1.0),
        ((True, True, True, None, False), INCONCLUSIVE, -1.0),
        ((True, True, True, None, None), INCONCLUSIVE, -1.0),
    ],
)
def test_large_enough(held, verdict, margin):
    decision = decide_check(LargeEnough(SIZES, held, "accuracy 1"), ASYMPTOTIC)
    assert decision.verdict == verdict
    assert decision.margin == pytest.approx(margin)
    backwards = LargeEnough(SIZES[::-1], held[::-1], "accuracy 1")
    assert decide_check(backwards, ASYMPTOTIC) == decision


def test_large_enough_reports_the_rung():
    check = LargeEnough(SIZES, (False, True, True, True, True), "accuracy 1")
    assert "from size 30 on" in decide_check(check, ASYMPTOTIC).note
    short = LargeEnough(SIZES[:4], (True,) * 4, "accuracy 1")
    assert decide_check(short, ASYMPTOTIC).verdict == INCONCLUSIVE


# Several checks

GOOD = Exact(0.25, 1.0, "good")
BAD = Exact(3.0, 1.0, "bad")
WRONG = Exact(12.0, 1.0, "wrong")
NONE = Unchecked("no data")


@pytest.mark.parametrize(
    ("checks", "verdict", "margin"),
    [
        ((GOOD, GOOD), HOLDS, 0.75),
        ((GOOD, NONE), UNCHECKED, 0.75),
        ((GOOD, BAD), INCONCLUSIVE, -2.0),
        ((NONE, BAD), INCONCLUSIVE, -2.0),
        ((BAD, WRONG), FAILS, -11.0),
        ((WRONG, NONE, GOOD), FAILS, -11.0),
        ((NONE,), UNCHECKED, 0.0),
        ((), UNCHECKED, 0.0),
    ],
)
def test_all_checks_must_hold(checks, verdict, margin):
    decision = decide(Finding(checks), IDENTITY)
    assert decision.verdict == verdict
    assert decision.margin == pytest.approx(margin)
    assert decide(Finding(checks[::-1]), IDENTITY).verdict == verdict


def test_the_reason_of_the_verdict_is_in_the_note():
    assert decide(Finding((GOOD, NONE)), IDENTITY).note == "no data"
    note = decide(Finding((GOOD, BAD, WRONG)), IDENTITY).note
    assert note == "wrong: 12 > 1"


def test_the_weakest_count_of_seeds_is_reported():
    decision = decide(Finding((GOOD, seeds(10, 0), seeds(9, 1))), OBSERVATION)
    assert (decision.verdict, decision.held, decision.seeds) == (HOLDS, 9, 10)
    exact = decide(Finding((GOOD, seeds(3, 0))), OBSERVATION)
    assert (exact.held, exact.seeds) == (3, 3)
    assert exact.interval is not None


def test_an_asymptotic_statement_is_not_judged_at_one_size():
    with pytest.raises(ValueError, match="along sizes"):
        decide(Finding((seeds(5, 0),)), ASYMPTOTIC)
    along = LargeEnough(SIZES, (True,) * 5, "accuracy 1")
    assert decide(Finding((seeds(5, 0), along)), ASYMPTOTIC).verdict == HOLDS
    assert decide(Finding((NONE,)), ASYMPTOTIC).verdict == UNCHECKED


@given(
    st.lists(
        st.one_of(
            st.builds(Exact, ANY, st.floats(0, 1e3), st.just("x")),
            st.builds(lambda m: Seeds(tuple(m), "x"), st.lists(ANY, max_size=6)),
            st.builds(
                lambda y: Slope(tuple(map(float, range(len(y)))), tuple(y), 0, 1, "x"),
                st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9),
            ),
            st.just(NONE),
        ),
        max_size=4,
    ),
    RULES,
)
def test_decisions_are_finite_whatever_was_measured(checks, rule):
    decision = decide(Finding(tuple(checks)), rule)
    json.dumps(vars(decision), allow_nan=False)
    assert 0 <= decision.held <= decision.seeds
    if decision.verdict == HOLDS:
        assert decision.margin >= 0
    if checks:
        decisions = [decide_check(check, rule) for check in checks]
        assert combine(decisions) == decision


def test_numbers_of_numpy_become_plain():
    checks = (
        Exact(np.float32(0.1), np.float64(0.2), "x"),
        per_seed(np.array([1.0, -1.0]), "x"),
        Slope(*line(2.0), np.float64(2.0), np.float64(0.1), "x", seeds=np.int64(3)),
        HighProbability((np.int64(0),), (np.int64(100),), np.float64(0.1), "x"),
    )
    for check in checks:
        json.dumps(vars(decide_check(check, OBSERVATION)))


def test_what_is_no_check_is_refused():
    with pytest.raises(TypeError, match="not a check"):
        decide_check("holds", IDENTITY)  # type: ignore[arg-type]
