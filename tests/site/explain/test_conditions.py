"""The table of conditions: runs are told together where they agree."""

from attnflow.schema.conditions import Condition, at_least, exactly, of_order, unread
from attnflow.site.explain.conditions import condition_rows


def rows(conditions):
    items = {run: {i.name: i for i in listed} for run, listed in conditions.items()}
    return condition_rows(items)


def width(m, least=64):
    return at_least("m", "m ≥ m1", m, least)


def test_runs_that_meet_an_item_and_runs_that_do_not():
    table = rows({"a": [width(512)], "b": [width(32)], "c": [width(4096)]})
    assert table == [
        ("m", "m ≥ m1", "512 … 4.1e+03", "≥ 64", "yes", "8 … 64", "2 of 3: a; c"),
        ("m", "m ≥ m1", "32", "≥ 64", "no", "0.5", "1 of 3: b"),
    ]


def test_bounds_that_differ_from_run_to_run():
    ((*_, allowed, met, slack, runs),) = rows(
        {"a": [width(512)], "b": [width(512, 128)]}
    )
    assert (allowed, met, slack, runs) == ("≥ 64 … 128", "yes", "4 … 8", "all")


def test_items_keep_their_order_and_say_what_is_allowed():
    items = [
        of_order("s", "s = Θ(1)", 3.0, 1.0),
        exactly("L", "two tokens", 2, 2),
        Condition("η", "η < 1", 1.0, most=1.0, strict=True),
        at_least("T", "T → ∞", float("inf"), float("inf")),
        Condition("ε", "1/ε ≤ poly(m) at infinite width", 5e3),
    ]
    table = rows({"a": items})
    assert [row[0] for row in table] == ["s", "L", "η", "T", "ε"]
    assert [row[3:5] for row in table] == [
        ("≥ 0.1, ≤ 10", "yes"),
        ("2", "yes"),
        ("< 1", "no"),
        ("∞", "yes"),
        ("any", "yes"),
    ]


def test_what_no_number_decides_is_listed():
    (row,) = rows({"a": [unread("small", "small enough")]})
    assert row == ("small", "small enough", "–", "–", "not read", "–", "all")


def test_a_reading_of_constants_is_printed():
    item = Condition("d", "d ≥ polylog N", 9.0, least=3.0, reading="polylog as ln")
    ((_, what, *_),) = rows({"a": [item]})
    assert what == "d ≥ polylog N [polylog as ln]"
