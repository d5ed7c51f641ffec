"""Pictures of verdicts: every kind of check with its threshold."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from attnflow.claims import (
    All,
    AtMost,
    Correction,
    CorrectionKind,
    Estimate,
    Exact,
    Finding,
    HighProbability,
    Kind,
    Ladder,
    LargeEnough,
    Seeds,
    Slope,
)
from attnflow.claims.stages import StageRow
from attnflow.figures import typeset
from attnflow.site.explain import draw_claim
from attnflow.site.explain.shown_series import shown_series
from tests.claims import toy
from tests.site.explain.test_explanation import explained

SIZES = (1.0, 10.0, 100.0, 1e3, 1e4)
NEEDS = {"main": toy.make_claim().needs["main"]}


def drawn(*checks, **options):
    claim = toy.make_claim(needs=NEEDS)
    if checks:
        claim = replace(claim, judge=lambda evidence: Finding(checks))
    return drawn_claim(claim, toy.make_evidence(3), **options)


def drawn_claim(claim, evidence, **options):
    explanation = explained(claim, evidence, **options)
    figure = draw_claim(toy.make_paper(**options), explanation, evidence)
    with warnings.catch_warnings():
        # A glyph that no font has is a warning.
        warnings.simplefilter("error")
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
        (Seeds((1.0, -0.5), "the order"), "1 of 2", 0.0),
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


def test_an_estimate_between_the_ends_of_its_range():
    ax = drawn(Estimate(1.0, (0.9, 1.1), 1.0, 0.2, "rate"))[-1]
    assert "rate: 1, 1 ± 0.2 stated" in texts(ax)
    ends = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 2]
    assert ends == pytest.approx([0.8, 1.2])


def test_sizes_at_which_it_holds():
    ax = drawn(LargeEnough(SIZES, (False, None, True, True, True), "order"))[-1]
    heights = ax.collections[0].get_offsets()[:, 1]
    assert list(heights) == [0, 0.5, 1, 1, 1]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["does not hold", "not known", "holds"]


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
    assert sorted(points) == pytest.approx([1e-4, 1e-3, 5.0, 1e4, 1e4])
    assert all(check.what in texts(ax) for check in checks)


def test_rates_of_failures_in_one_panel():
    """In units of what is allowed; the worst on top."""
    checks = [
        HighProbability((0,), (100,), 0.1, "rare"),
        HighProbability((50,), (100,), 0.1, "frequent"),
    ]
    (ax,) = [ax for ax in drawn(*checks) if ax.get_xlabel() == "share of failures / δ"]
    points = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert points == pytest.approx([5.0, 1e-4])
    assert "50 of 100, stated 0.1" in texts(ax)


def test_a_correction_has_panels_of_its_own():
    judges = [AtMost(f"part {i}", lambda run: run["time"].max(), 1.0) for i in range(5)]
    correction = Correction(CorrectionKind.CONSTANT, "Up to 100.", All(tuple(judges)))
    claim = toy.make_claim(
        needs=NEEDS, judge=All(tuple(judges)), correction=correction, mutations={}
    )
    titles = [texts(ax) for ax in drawn_claim(claim, toy.make_evidence(3))]
    assert sum("as corrected: part" in title for title in titles) == 2
    assert sum(" part" in title for title in titles) == 4


def test_signs_that_a_font_lacks_are_mathematics_beside_mathematics(caplog):
    drawn(Seeds((1.0, 0.5), "T4⁻ over |λ₁|² and x₁₂"))
    assert "glyph" not in caplog.text
    assert typeset("T4⁻ over λ₁") == "$T_{4}$$^{-}$ over λ$_{1}$"
    assert typeset("λ₁ alone") == "λ₁ alone"


@pytest.mark.parametrize(
    "check",
    [
        Ladder(SIZES, (np.nan,) * 5, "theta", "time"),
        Seeds((np.nan,) * 3, "order"),
        Slope(SIZES, (np.nan,) * 5, 1.0, 0.1, "rate"),
    ],
)
def test_what_has_no_numbers_gets_no_panel(check):
    evidence = toy.make_evidence(3)
    unread = {"main": evidence["main"].drop_vars("loss_by_group")}
    claim = toy.make_claim(
        needs=NEEDS, judge=lambda evidence: Finding((check,)), mutations={}
    )
    explanation = explained(claim, unread)
    assert draw_claim(toy.make_paper(), explanation, unread) is None
    assert all(ax.axison for ax in drawn(check, Exact(0.0, 1.0, "sum")))


def test_a_record_is_drawn_as_what_it_compares_with_its_bound():
    judge = AtMost(
        "the largest |λ₁|",
        lambda run: run["loss_by_group"].max("group"),
        0.5,
        when=lambda run: run["time"] > 10,
    )
    claim = toy.make_claim(needs=NEEDS, judge=judge, kind=Kind.UNIVERSAL, mutations={})
    series, check = drawn_claim(claim, toy.make_evidence(3))
    assert series.get_ylabel() == "the largest |λ₁|"
    assert "threshold 0.5" in texts(series)
    assert series.get_legend().texts[0].get_text() == "seed 0, which decides"
    assert check.get_xlabel() == "seed"


def test_what_is_compared_may_have_a_clock_of_its_own():
    def slow(run):
        loss = run["loss_by_group"].max("group")
        return loss.assign_coords(time=100 * run["time"])

    judge = AtMost("loss", slow, 2.0)
    claim = toy.make_claim(needs=NEEDS, judge=judge, kind=Kind.UNIVERSAL, mutations={})
    series, _ = drawn_claim(claim, toy.make_evidence(3))
    assert series.get_xlabel() == "time, on the clock of what is compared"
    assert series.get_xlim()[1] == 6000.0
    assert len(series.lines[0].get_xdata()) > 100


def test_the_run_that_decided_is_shown():
    run = toy.make_evidence(3)["main"]
    evidence = {"good": run, "bad": run.assign(loss_by_group=run["loss_by_group"] * 9)}
    judge = AtMost("loss", lambda run: run["loss_by_group"], 1.0)
    needs = dict.fromkeys(evidence, NEEDS["main"])
    claim = toy.make_claim(
        needs=needs, judge=judge, judged=(), kind=Kind.UNIVERSAL, mutations={}
    )
    (shown,) = shown_series(explained(claim, evidence), evidence)
    assert shown.name == "bad"
    assert shown.where("toy") == "toy/flow, bad"
    assert float(shown.detection.series.max()) == 9.0


def test_axes_are_named_by_their_quantities():
    ladder = Ladder(SIZES, (1.0,) * 5, "theta", "time", axis="number of samples")
    slope = Slope(
        (0.0, 1.0, 2.0), (0.0, 1.1, 2.0), 1.0, 0.1, "rate", 1, ("ln d", "ln T")
    )
    *_, first, second = drawn(ladder, slope)
    assert first.get_xlabel() == "number of samples"
    assert (second.get_xlabel(), second.get_ylabel()) == ("ln d", "ln T")
