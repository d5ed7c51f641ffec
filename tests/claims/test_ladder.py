import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnflow.claims import Kind, Ladder, Rule, Verdict
from attnflow.claims.decision import decide_check
from attnflow.claims.ladder import decades, too_short

SIZES = np.geomspace(1e2, 1e4, 7)
HOLDS, FAILS, INCONCLUSIVE = Verdict.HOLDS, Verdict.FAILS, Verdict.INCONCLUSIVE
RULE = Rule(Kind.ASYMPTOTIC)


def ladder(ratio, kind, sizes=SIZES, **options):
    ratio = ratio * np.ones(len(sizes))
    return Ladder(tuple(sizes), tuple(ratio), kind, "time", **options)


def verdict(ratio, kind, sizes=SIZES, **options):
    return decide_check(ladder(ratio, kind, sizes, **options), RULE).verdict


@pytest.mark.parametrize(
    ("power", "kind", "expected"),
    [
        (0.0, "theta", HOLDS),
        (0.03, "theta", HOLDS),
        (0.1, "theta", FAILS),
        (-0.1, "theta", FAILS),
        (0.0, "O", HOLDS),
        (-1.0, "O", HOLDS),
        (0.1, "O", FAILS),
        (0.0, "Omega", HOLDS),
        (1.0, "Omega", HOLDS),
        (-0.1, "Omega", FAILS),
        (-0.5, "o(1)", HOLDS),
        (-0.1, "o(1)", INCONCLUSIVE),  # falls, but not to a quarter
        (0.0, "o(1)", FAILS),  # does not fall at the top
        (0.5, "o(1)", FAILS),
    ],
)
def test_power_laws(power, kind, expected):
    assert verdict(3 * SIZES**power, kind) == expected


@given(
    st.floats(-2, 2),
    st.floats(1e-9, 1e9),
    st.sampled_from(["theta", "O", "Omega", "o(1)"]),
)
def test_units_of_the_ratio_do_not_matter(power, unit, kind):
    plain = decide_check(ladder(SIZES**power, kind), RULE)
    scaled = decide_check(ladder(unit * SIZES**power, kind), RULE)
    assert scaled.margin == pytest.approx(plain.margin, abs=1e-6)


@given(st.floats(-1, 1), st.integers(0, 99))
def test_o_and_omega_are_mirror_images(power, seed):
    ratio = SIZES**power * np.exp(np.random.default_rng(seed).normal(0, 0.05, 7))
    up = decide_check(ladder(ratio, "O"), RULE)
    down = decide_check(ladder(1 / ratio, "Omega"), RULE)
    assert up.verdict == down.verdict
    assert up.margin == pytest.approx(down.margin, abs=1e-6)
    both = decide_check(ladder(ratio, "theta"), RULE)
    if both.verdict == HOLDS:
        assert up.verdict == HOLDS
        assert decide_check(ladder(ratio, "Omega"), RULE).verdict == HOLDS


def test_the_order_of_the_rungs_does_not_matter():
    ratio = SIZES**0.02
    forwards = decide_check(ladder(ratio, "theta"), RULE)
    backwards = decide_check(ladder(ratio[::-1], "theta", SIZES[::-1]), RULE)
    assert backwards.margin == pytest.approx(forwards.margin)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        (np.geomspace(1e2, 1e4, 4), "4 sizes over 2 decades"),
        (np.geomspace(1e2, 5e3, 9), "9 sizes over 1.7 decades"),
        (np.array([]), "0 sizes over 0 decades"),
        (np.array([0.0, 1.0, 2.0, 3.0, 500.0]), "5 sizes over 0 decades"),
    ],
)
@pytest.mark.parametrize("power", [0.0, 1.0])
def test_short_ladders_decide_nothing(sizes, words, power):
    decision = decide_check(ladder(sizes**power, "theta", sizes), RULE)
    assert decision.verdict == INCONCLUSIVE
    assert words in decision.note
    assert "5 over 2 are needed" in decision.note


def test_five_sizes_over_two_decades_suffice():
    assert not too_short(tuple(np.geomspace(0.01, 1.0, 5)))
    assert too_short((1.0, 1.0, 10.0, 100.0, 100.0))
    assert decades((1e-3, 1e3)) == pytest.approx(6)


def test_the_constant_bounds_the_spread():
    """r that jumps about without a trend is bounded all the same, or not."""
    waves = np.exp(0.02 * np.array([1, -1, 1, -1, 1, -1, 1]))
    assert verdict(waves, "theta") == HOLDS
    assert verdict(waves, "theta", constant=1.03) == INCONCLUSIVE


def test_the_constant_bounds_growth_and_fall():
    """A step at the first of many rungs hardly has a slope, but it has a height."""
    sizes = np.geomspace(1.0, 1e8, 65)
    step = np.where(sizes > 1.0, 12.0, 1.0)
    assert verdict(step, "O", sizes=sizes, constant=13.0) == HOLDS
    assert verdict(step, "O", sizes=sizes, constant=11.0) == INCONCLUSIVE
    assert verdict(1 / step, "Omega", sizes=sizes, constant=13.0) == HOLDS
    assert verdict(1 / step, "Omega", sizes=sizes, constant=11.0) == INCONCLUSIVE
    assert verdict(step, "Omega", sizes=sizes, constant=1.1) == HOLDS


def test_drift_at_the_top_is_seen_though_the_whole_looks_flat():
    """r falls at first and grows at last: the slope of the whole is 0."""
    sizes = np.geomspace(1.0, 1e8, 33)
    valley = np.maximum((sizes / 1e2) ** -0.15, 1) * np.maximum(sizes / 1e6, 1) ** 0.15
    theta = decide_check(ladder(valley, "theta", sizes), RULE)
    low, high = theta.interval
    assert -0.05 < low < high < 0.05
    assert theta.verdict == FAILS
    assert "drift up at the top" in theta.note
    assert verdict(valley, "O", sizes=sizes) == FAILS
    assert verdict(valley, "Omega", sizes=sizes) == HOLDS
    assert verdict(1 / valley, "Omega", sizes=sizes) == FAILS


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_ratios_without_a_logarithm_decide_nothing(bad):
    ratio = np.ones(7)
    ratio[3] = bad
    decision = decide_check(ladder(ratio, "theta"), RULE)
    assert decision.verdict == INCONCLUSIVE
    assert "not a positive number" in decision.note


# Powers of a logarithm

WIDE = np.geomspace(1e2, 1e8, 13)
LOGS = np.log(WIDE)


@pytest.mark.parametrize(
    ("ratio", "kind", "expected"),
    [
        (LOGS, "theta", FAILS),
        (LOGS, "theta-tilde", HOLDS),
        (1 / LOGS, "theta-tilde", HOLDS),
        (LOGS**1.5, "theta-tilde", HOLDS),
        (WIDE**0.5, "theta-tilde", FAILS),
        (WIDE**-0.5, "theta-tilde", FAILS),
        (LOGS, "O", FAILS),
        (LOGS**2, "O-tilde", HOLDS),
        (1 / WIDE, "O-tilde", HOLDS),
        (WIDE**0.5, "O-tilde", FAILS),
        (1 / LOGS**2, "Omega-tilde", HOLDS),
        (WIDE**-0.5, "Omega-tilde", FAILS),
    ],
)
def test_tilde_kinds(ratio, kind, expected):
    assert verdict(ratio, kind, sizes=WIDE, constant=20.0) == expected


def test_the_power_that_was_needed_is_reported():
    decision = decide_check(ladder(LOGS**1.5, "theta-tilde", WIDE), RULE)
    assert "with log^1" in decision.note
    least = decide_check(ladder(LOGS**0.8, "theta-tilde", WIDE), RULE)
    assert "with log^0.5" in least.note
    none = decide_check(ladder(1.0, "theta-tilde", WIDE), RULE)
    assert "no logarithm" in none.note
    capped = ladder(LOGS**2, "O-tilde", WIDE, max_log_power=1.0)
    assert decide_check(capped, RULE).verdict != HOLDS


def test_a_drift_that_some_allowed_power_removes_is_no_failure():
    """log^1.25 drifts as it is; over log^1 it does not, but spreads too far."""
    options = {"sizes": WIDE, "constant": 1.05, "max_log_power": 1.0}
    assert verdict(LOGS**1.25, "theta-tilde", **options) == INCONCLUSIVE
    assert verdict(LOGS**1.25, "theta", sizes=WIDE) == FAILS


def test_sizes_below_one_have_no_logarithm_to_divide_by():
    with pytest.raises(ValueError, match="above 1"):
        decide_check(ladder(1.0, "O-tilde", WIDE / WIDE[-1]), RULE)


def test_wrong_ladders_are_refused():
    with pytest.raises(ValueError, match="constant"):
        ladder(1.0, "theta", constant=1.0)
    with pytest.raises(ValueError, match="lengths"):
        Ladder((1.0, 2.0), (1.0,), "theta", "time")


# Error rates


def rate(power, kind, noise, expected, rounds=400, sizes=SIZES):
    generator = np.random.default_rng(0)
    verdicts = [
        verdict(
            sizes**power * np.exp(generator.normal(0, noise, len(sizes))),
            kind,
            sizes,
        )
        for _ in range(rounds)
    ]
    return np.mean([v == expected for v in verdicts])


def test_theta_holds_for_a_constant_with_little_noise():
    assert rate(0.0, "theta", 0.02, HOLDS) > 0.95
    assert rate(0.0, "theta", 0.02, FAILS) < 0.01


def test_theta_does_not_hold_at_the_edge_of_the_band():
    """A true slope of 0.05 lies in the interval in 95%, above it in 2.5%."""
    for noise in (0.005, 0.02, 0.1):
        assert rate(0.05, "theta", noise, HOLDS) < 0.06


def test_theta_never_holds_for_a_plain_drift():
    assert rate(0.15, "theta", 0.02, HOLDS) == 0.0
    assert rate(0.15, "theta", 0.02, FAILS) > 0.5


def test_much_noise_makes_inconclusive_and_not_false():
    assert rate(0.0, "theta", 0.5, INCONCLUSIVE) > 0.9
    assert rate(0.0, "theta", 0.5, FAILS) < 0.06


def test_a_true_theta_with_noise_hardly_ever_fails():
    for noise in (0.02, 0.1, 0.3):
        assert rate(0.0, "theta", noise, FAILS) < 0.06
