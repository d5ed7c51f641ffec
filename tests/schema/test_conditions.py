"""What hidden constants are read as, and when a condition is met."""

import json
import math

import pytest

from attnflow.schema.conditions import (
    Condition,
    at_least,
    at_most,
    exactly,
    gradient_flow,
    much_less,
    much_more,
    of_order,
    unread,
)
from attnflow.schema.settings import plain


@pytest.mark.parametrize(
    ("item", "met", "not_met"),
    [
        (at_least, (3.0, 4.0, math.inf), (2.9,)),
        (at_most, (3.0, 2.0, -1.0), (3.1, math.inf)),
        (exactly, (3.0,), (2.9, 3.1)),
        (of_order, (0.3, 3.0, 30.0), (0.29, 31.0)),
        (much_more, (30.0, math.inf), (29.0, 3.0)),
        (much_less, (0.3, 0.0), (0.31, 3.0)),
    ],
)
def test_readings(item, met, not_met):
    assert all(item("x", "x and 3", value, 3.0).met for value in met)
    assert not any(item("x", "x and 3", value, 3.0).met for value in not_met)


def test_bounds_are_met_with_equality_but_for_rounding_and_strictness():
    third = 0.1 * 3
    assert third > 0.3
    assert at_most("x", "x ≤ 0.3", third, 0.3).met
    assert not Condition("x", "x < 0.3", 0.3, most=0.3, strict=True).met
    assert Condition("x", "x < 0.3", 0.29, most=0.3, strict=True).met


def test_infinite_bounds_ask_for_the_limit():
    assert at_least("m", "m → ∞", math.inf, math.inf).met
    assert not at_least("m", "m → ∞", 1e300, math.inf).met


def test_a_flow_has_steps_of_no_length():
    assert gradient_flow({"rule": "flow", "learning_rate": 0.1}).met
    assert gradient_flow({}).met
    descent = gradient_flow({"rule": "adam", "learning_rate": 0.1})
    assert (descent.value, descent.met) == (0.1, False)


@pytest.mark.parametrize(
    ("item", "slack"),
    [
        (at_least("x", "x ≥ 2", 3.0, 2.0), 1.5),
        (at_least("x", "x ≥ 2", 1.0, 2.0), 0.5),
        (at_least("x", "x ≥ 2", -1.0, 2.0), 0.0),
        (at_most("x", "x ≤ 2", 4.0, 2.0), 0.5),
        (at_most("x", "x ≤ 2", 0.0, 2.0), math.inf),
        (of_order("x", "x = Θ(1)", 5.0, 1.0), 2.0),
        (of_order("x", "x = Θ(1)", 0.02, 1.0), 0.2),
        (much_more("x", "x ≫ 1", 5.0, 1.0), 0.5),
        (exactly("K", "K = 2", 3, 2), None),
        (at_least("m", "m → ∞", 10.0, math.inf), None),
        (unread("small", "small enough"), None),
    ],
)
def test_slack_is_the_factor_by_which_an_item_is_met(item, slack):
    assert item.slack == (None if slack is None else pytest.approx(slack))


def test_what_no_number_decides_is_neither_met_nor_missed():
    assert unread("small", "small enough").met is None


def test_an_item_as_json_says_whether_it_is_met():
    item = plain(at_least("m", "m ≥ 2", 1, 2).as_json())
    assert item == {
        "name": "m",
        "what": "m ≥ 2",
        "value": 1,
        "least": 2,
        "most": None,
        "strict": False,
        "reading": "",
        "met": False,
        "slack": 0.5,
    }
    json.dumps(item, allow_nan=False)
