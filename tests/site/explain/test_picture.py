"""Pictures of verdicts: every kind of check with its threshold."""

from dataclasses import replace

import numpy as np
import pytest

from attnflow.claims import (
    Exact,
    Finding,
    HighProbability,
    Ladder,
    LargeEnough,
    Seeds,
    Slope,
)
from attnflow.claims.stages import StageRow
from attnflow.site.explain import draw_claim, explain
from tests.claims import toy
from tests.toy import toy_paper

SIZES = (1.0, 10.0, 100.0, 1e3, 1e4)
NEEDS = {"main": toy.make_claim().needs["main"]}


def drawn(*checks, **options):
    claim = toy.make_claim(needs=NEEDS)
    if checks:
        claim = replace(claim, judge=lambda evidence: Finding(checks))
    evidence = toy.make_evidence(3)
    paper = toy_paper(**options)
    figure = draw_claim(paper, explain(paper, claim, evidence), evidence)
    figure.canvas.draw()
    return figure.axes


def texts(ax):
    return " ".join(text.get_text() for text in (*ax.texts, ax.title, ax._left_title))


def levels(ax):
    """Heights of the horizontal lines across an axis."""
    return [line.get_ydata()[0] for line in ax.lines if len(line.get_xdata()) == 2]


def test_series_with_their_level_and_stages():
    stages = [StageRow("T1", None, 4.0, None, ""), StageRow("T2", None, None, None, "")]
    first, last, check = drawn(stage_table=lambda run: stages)
    for ax in (first, last):
        assert "threshold 0.1" in texts(ax)
        assert "T_{1}" in texts(ax) and "T_{2}" not in texts(ax)
        assert len(ax.patches) == 2
        (dots,) = [line for line in ax.lines if line.get_marker() == "o"]
        assert np.all(dots.get_ydata() == 0.1)
    assert "3 of 3" in texts(check)


def test_names_of_stages_do_not_overlap():
    times = {"consistent": 10.0, "attention": 12.0, "learned": 40.0}
    stages = [StageRow(name, None, time, None, "") for name, time in times.items()]
    first, *_ = drawn(stage_table=lambda run: stages)
    assert len(first.patches) == 4
    assert "consistent" in texts(first) and "learned" in texts(first)
    assert "attention" not in texts(first)


def test_stages_that_a_run_cannot_tell_are_left_out():
    def table(run):
        raise KeyError("score")

    first, *_ = drawn(stage_table=table)
    assert "threshold 0.1" in texts(first)


@pytest.mark.parametrize(
    ("check", "words", "level"),
    [
        (Seeds((True, False), (1.0, -0.5), "the order"), "1 of 2", 0.0),
        (HighProbability((1, 0), (60, 60), 0.05, "noise"), "threshold 0.05", 0.05),
        (Ladder(SIZES, (4.0, 2.0, 1.0, 0.5, 0.2), "o(1)", "gap"), "a quarter", 1.0),
        (Ladder(SIZES, (1.0,) * 5, "theta", "time", 4.0), "a factor 4", 0.5),
    ],
)
def test_a_check_with_its_threshold(check, words, level):
    ax = drawn(check)[-1]
    assert words in texts(ax)
    assert any(np.isclose(drawn, level) for drawn in levels(ax))


def test_a_slope_between_those_that_are_allowed():
    ax = drawn(Slope((0.0, 1.0, 2.0), (0.0, 1.1, 2.0), 1.0, 0.1, "rate"))[-1]
    slopes = [np.ptp(line.get_ydata()) / 2 for line in ax.lines[1:]]
    assert slopes == pytest.approx([1.0, 0.9, 1.1])


def test_sizes_at_which_it_holds():
    ax = drawn(LargeEnough(SIZES, (False, True, True, True, True), "order"))[-1]
    heights = ax.collections[0].get_offsets()[:, 1]
    assert list(heights) == [0, 1, 1, 1, 1]


def test_all_errors_in_one_panel():
    checks = [
        Exact(1e-9, 1e-6, "small"),
        Exact(0.0, 0.0, "none"),
        Exact(5.0, 1.0, "large"),
        Exact(1.0, 0.0, "not allowed"),
        Exact(float("nan"), 1.0, "no number"),
    ]
    (ax,) = [ax for ax in drawn(*checks) if ax.get_xlabel() == "error / tolerance"]
    points = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert points == pytest.approx([1e-3, 1e-4, 5.0, 1e4, 1e4])
    assert all(check.what in texts(ax) for check in checks)


def test_a_ladder_without_numbers_is_left_empty():
    ax = drawn(Ladder(SIZES, (np.nan,) * 5, "theta", "time"))[-1]
    assert not ax.axison
