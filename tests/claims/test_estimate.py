"""The rule for a number that is estimated from all seeds together."""

import pytest

from attnflow.claims import Estimate, Finding, Kind, Rule, Verdict, decide

NAN = float("nan")


@pytest.mark.parametrize(
    ("value", "interval", "verdict"),
    [
        (1100.0, (1000.0, 1300.0), Verdict.HOLDS),
        (1154.0, (1033.0, 1375.0), Verdict.INCONCLUSIVE),
        (1300.0, (1151.0, 1500.0), Verdict.FAILS),
        (700.0, (500.0, 849.0), Verdict.FAILS),
        (NAN, (NAN, NAN), Verdict.INCONCLUSIVE),
    ],
)
def test_an_estimate_fails_where_its_whole_interval_lies_beyond(
    value, interval, verdict
):
    check = Estimate(value, interval, 1000.0, 150.0, "constant")
    decision = decide(Finding((check,)), Rule(Kind.OBSERVATION))
    assert decision.verdict is verdict


def test_the_margin_is_in_units_of_the_tolerance():
    check = Estimate(1075.0, (1000.0, 1200.0), 1000.0, 150.0, "constant", seeds=3)
    decision = decide(Finding((check,)), Rule(Kind.OBSERVATION))
    assert decision.margin == pytest.approx(0.5)
    assert (decision.held, decision.seeds) == (3, 3)


def test_a_tolerance_is_positive():
    with pytest.raises(ValueError, match="tolerance=0"):
        Estimate(1.0, (0.0, 2.0), 1.0, 0.0, "constant")
