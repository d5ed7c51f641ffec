"""Tables of an export: whole, exact, and thinned only where they say so."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from attnflow.claims import (
    All,
    AtMost,
    Estimate,
    Exact,
    Finding,
    HighProbability,
    InOrder,
    Ladder,
    LargeEnough,
    Near,
    Seeds,
    Slope,
)
from attnflow.papers.base import paper
from attnflow.site.export import tables
from attnflow.site.export.report import paper_text
from tests.claims import toy
from tests.site.explain.test_explanation import claim, explained
from tests.toy import toy_paper


def read(text):
    return list(csv.reader(io.StringIO(text)))


def test_numbers_keep_all_digits_and_gaps_are_empty():
    third = 1 / 3
    text = tables.csv_text(("a", "b"), [(third, np.nan), ([1.0, 2.0], 'say "no"')])
    header, first, second = read(text)
    assert header == ["a", "b"]
    assert float(first[0]) == third and first[1] == ""
    assert second == ["[1.0,2.0]", 'say "no"']


def test_a_variable_has_a_line_for_each_number():
    values = xr.DataArray(
        [[0.1, np.nan], [0.3, 0.4]], dims=("seed", "time"), coords={"time": [0.0, 5.0]}
    )
    lines = read(tables.variable_csv(values.rename("loss")))
    assert lines[0] == ["seed", "time", "loss"]
    assert lines[2] == ["0", "5.0", ""]
    assert lines[4] == ["1", "5.0", "0.4"]


@pytest.mark.parametrize("shape", [(5, 100), (5, 20_000), (2, 3, 300, 300)])
def test_what_is_left_out_is_said(shape):
    dims = ("seed", "time", "key", "query")[: len(shape)]
    values = xr.DataArray(np.zeros(shape), dims=dims)
    kept, words = tables.thinned(values)
    assert kept.size <= 1.2 * tables.MOST
    assert bool(words) == (kept.size < values.size)
    for dim in kept.dims:
        assert (kept.sizes[dim] < values.sizes[dim]) == (f"along {dim}" in words)


def test_many_variables_share_what_is_written():
    values = xr.DataArray(np.zeros((1, 20_000)), dims=("seed", "time"))
    kept, words = tables.thinned(values, 40)
    assert kept.size <= 1.2 * tables.TOTAL / 40
    assert words == "one in 4 along time"
    assert tables.thinned(values, 10)[1] == ""


def test_records_are_thinned_first_and_the_last_is_kept():
    values = xr.DataArray(
        np.zeros((2, 30_000)), dims=("seed", "time"), coords={"time": range(30_000)}
    )
    kept, words = tables.thinned(values)
    assert words == "one in 3 along time"
    assert kept.time.values[[0, 1, -1]].tolist() == [0, 3, 29_999]


def test_the_tables_of_a_claim_have_all_that_its_explanation_has():
    explanation = explained(claim(), toy.make_evidence(3))
    (check,) = tables.check_rows(explanation)
    assert len(check) == len(tables.CHECKS)
    assert check[0] == "as printed" and check[4] == "holds"
    assert len(check[-1]["margin"]) == 3
    assert [row[1] for row in tables.seed_rows(explanation)] == ["0", "1", "2"]
    trials = tables.trial_rows(explanation)
    kinds = {trial for _, trial, _, _ in trials}
    assert kinds == {"generated change", "later times unknown", "named mutation"}
    generated = [row for row in trials if row[1] == "generated change"]
    assert len(generated) == explanation.tried.changes
    failing = {row[2] for row in generated if row[3] == "fails"}
    assert failing == set(explanation.tried.failing)
    variables = tables.read_variables(explanation, toy.make_evidence(3))
    assert list(variables) == [("main", "loss_by_group")]


def test_a_correction_has_rows_of_its_own():
    corrected = toy.corrected_claim()
    needs = {"main": corrected.needs["main"]}
    explanation = explained(replace(corrected, needs=needs), toy.make_evidence(3))
    statements = {row[0] for row in tables.check_rows(explanation)}
    assert statements == {"as printed", "as corrected"}
    assert ("as printed", "mend") in {row[:2] for row in tables.trial_rows(explanation)}


def test_a_statement_of_ours_is_stated_and_not_printed():
    ours = claim(origin="ours")
    explanation = explained(ours, toy.make_evidence(3))
    assert {row[0] for row in tables.check_rows(explanation)} == {"as stated"}
    assert {row[0] for row in tables.trial_rows(explanation)} == {"as stated"}


SIZES, ONES = (1.0, 10.0), (1.0, 1.0)


@pytest.mark.parametrize(
    ("check", "points"),
    [
        (
            Ladder(SIZES, ONES, "theta", "x", axis="m"),
            [("m", 1.0, "measured ÷ predicted", 1.0)],
        ),
        (Slope(SIZES, ONES, 0.0, 0.1, "x", axes=("a", "b")), [("a", 1.0, "b", 1.0)]),
        (LargeEnough(SIZES, (None, True), "x"), [("size", 1.0, "holds", None)]),
        (HighProbability((2,), (10,), 0.5, "x"), [("draws", 10, "failures", 2)]),
        (Exact(0.0, 1.0, "x"), []),
    ],
)
def test_each_point_behind_a_trend_has_a_row(check, points):
    explanation = explained(
        claim(judge=lambda evidence: Finding((check,), {})), toy.make_evidence(3)
    )
    rows = tables.point_rows(explanation)
    assert [row[2:] for row in rows[:1]] == points
    assert {row[:2] for row in rows} <= {("as printed", "x")}
    assert all(len(row) == len(tables.POINTS) for row in rows)


@pytest.mark.parametrize(
    ("check", "unit"),
    [
        (Exact(0.0, 1.0, "x"), "tolerance"),
        (Ladder(SIZES, ONES, "theta", "x"), "band"),
        (Slope(SIZES, ONES, 1.0, 0.1, "x"), "tolerance"),
        (Estimate(1.0, (0.9, 1.1), 1.0, 0.1, "x"), "tolerance"),
        (HighProbability((0,), (10,), 0.1, "x"), "δ"),
        (LargeEnough(SIZES, (True, True), "x"), "decades"),
        (Seeds((1.0,), "main: x"), "÷ bound"),
        (Seeds((1.0,), "y"), "÷ 0.5"),
        (Seeds((1.0,), "a < b"), "ln of a time"),
        (Seeds((1.0,), "another"), "judge's own"),
    ],
)
def test_every_margin_has_a_unit(check, unit):
    parts = (
        AtMost("x", lambda run: run["loss"], 1.0),
        Near("y", lambda run: run["loss"], 1.0, 0.5, unit="difference"),
        InOrder({}),
    )
    assert unit in tables.unit_of(check, All(parts))


def test_extremes_have_their_places():
    dims = {"seed": [0, 7], "K": [2, 3]}
    one = xr.DataArray([[0.5, np.nan], [0.25, 1.0]], dims)
    two = xr.DataArray([[0.5, 2.0], [np.inf, 1.0]], dims)
    assert tables.extremes({"one": one}) == (
        "0.25 at seed 7; K 2",
        "1 at seed 7; K 3",
    )
    assert tables.extremes({"one": one, "two": two}) == (
        "0.25 at one; seed 7; K 2",
        "2 at two; seed 0; K 3",
    )
    assert tables.extremes({"one": xr.full_like(one, np.nan)}) == ("", "")
    assert tables.extremes({"one": xr.DataArray(["a"], dims={"x": 1})}) == ("", "")


def test_a_paper_describes_its_model_where_its_package_does():
    assert paper_text(paper("mixture")).startswith("# `mixture`")
    assert paper_text(toy_paper()) == ""
