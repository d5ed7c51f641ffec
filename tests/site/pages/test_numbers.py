"""Values as JSON, CSV and text hold them, and how they are compared."""

import json

import numpy as np
import pytest
import xarray as xr

from attnflow.site.pages import compare
from attnflow.site.pages.files import anchor
from attnflow.site.pages.values import (
    as_csv,
    number_text,
    plain,
    seconds_text,
    tabulate,
)


def test_plain_values_are_json():
    table = {
        "a": np.float64(1.5),
        "b": [np.int64(2), float("nan"), float("inf")],
        "c": {"d": np.array([True, False]), "e": xr.DataArray(3.0)},
        1: (None, "text"),
    }
    values = plain(table)
    assert values["b"] == [2, None, None]
    assert values["c"] == {"d": [True, False], "e": 3.0}
    assert json.loads(json.dumps(values, allow_nan=False)) == values


def test_printed_numbers_agree_at_a_relative_tolerance():
    values = {"a": 1.01, "b": {"c": [1.0, 2.2], "d": 0.001}, "extra": 5}
    printed = {"a": 1.0, "b": {"c": [1.0, 2.0], "d": 0.0}}
    rows = {row.name: row for row in compare(values, printed, 0.02)}
    assert list(rows) == ["a", "b · c", "b · d"]
    assert [row.agrees for row in rows.values()] == [True, False, True]
    assert rows["b · c"].deviation == pytest.approx(0.1)


@pytest.mark.parametrize("ours", [{}, {"a": None}, {"a": [1.0, 1.0]}, {"a": "x"}])
def test_what_cannot_be_compared_does_not_agree(ours):
    (row,) = compare(ours, {"a": 1.0}, 0.02)
    assert not row.agrees
    assert row.deviation is None


def test_words_agree_where_they_are_equal():
    (row,) = compare({"a": "yes"}, {"a": "yes"}, 0.0)
    assert row.agrees


def test_nested_values_are_rows_and_columns():
    table = tabulate({"K = 2": {"steps": 10}, "K = 3": {"steps": 20, "seeds": [1, 2]}})
    assert table.columns == ("", "steps", "seeds")
    assert table.rows == (("K = 2", 10, None), ("K = 3", 20, [1, 2]))
    assert as_csv(table) == ',steps,seeds\nK = 2,10,\nK = 3,20,"[1, 2]"\n'


def test_values_that_share_no_names_are_a_list():
    table = tabulate({"times": {"T1": 1.0}, "end": {"loss": 2.0}, "at": {"step": 3.0}})
    assert table.rows == (("times · T1", 1.0), ("end · loss", 2.0), ("at · step", 3.0))


def test_mixed_values_are_a_list():
    table = tabulate({"loss": 0.5, "w": {"v1": 1.0, "v2": {"deep": 2.0}}})
    assert table.columns == ("", "value")
    assert table.rows == (("loss", 0.5), ("w · v1", 1.0), ("w · v2 · deep", 2.0))
    assert tabulate({}).rows == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.125, "0.125"),
        (-0.5, "−0.5"),
        (0.0, "0"),
        (3.14e-5, "3.14×10⁻⁵"),
        (-2e9, "−2×10⁹"),
        (128, "128"),
        (20_000, "20\u202f000"),
        (123456.7, "123457"),
        (True, "yes"),
        (None, "–"),
        (float("nan"), "–"),
        (float("-inf"), "−∞"),
        ([1.0, 2.5], "1, 2.5"),
        ([], "–"),
        ({"a": 1, "b": [2, 3]}, "a: 1; b: 2, 3"),
        (np.array([1.0]), "1"),
        ("infinite", "infinite"),
    ],
)
def test_numbers_as_text(value, text):
    assert number_text(value) == text


def test_few_digits_are_no_reason_for_powers():
    assert number_text(142.6, 2) == "140"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.01, "< 0.1 s"),
        (0.41, "0.4 s"),
        (12.3, "12 s"),
        (180, "3 min"),
        (5400 * 4, "6.0 h"),
        (None, "–"),
    ],
)
def test_durations(seconds, text):
    assert seconds_text(seconds) == text


def test_anchors_keep_the_ids_of_claims():
    assert anchor("claim", "B-Thm4.1-T2") == "claim-B-Thm4.1-T2"
    assert anchor("note", "E.5, last line") == "note-E.5-last-line"
