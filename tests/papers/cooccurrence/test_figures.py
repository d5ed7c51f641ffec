from typing import ClassVar

import pytest

from attnflow import schema
from attnflow.papers.cooccurrence import PAPER
from attnflow.testing import ExhibitProtocol, another_clock, frozen, replaced

# Rates beyond the threshold are what one of the figures shows.
pytestmark = pytest.mark.filterwarnings(
    "ignore::attnflow.experiments.limits.LearningRateWarning"
)

FAST = {"balancing"}
"""The others have many programs to compile, or long runs."""
# Changes of a run; under some of them a sentence must become false.


def negated(run):
    return replaced(run, lambda table: -table, "score", "value", "value_rate")


def groups_exchanged(run):
    if "group" not in run.dims:
        return run
    names = {"both": "first", "first": "both"}
    return run.assign_coords(
        group=[names.get(str(g), str(g)) for g in run["group"].values]
    )


def blunt(run):
    """A tenth of the sharpness: thresholds are ten times what they are."""
    return replaced(run, lambda sharpness: sharpness / 10, "tangent_sharpness")


def attention_matters(run):
    """Frozen attention costs more than all of the loss, and the more the larger m."""
    setting = schema.setting_of(run) if "time" in run.dims else {}
    if "width" not in setting:
        return run
    size = float(setting["width"] * setting["length"])
    run = replaced(run, lambda rate: rate * size**6, "margin_rate_by_scores")
    if setting.get("trains") != "values":
        return run
    return replaced(run, lambda loss: loss * (2 + size), "loss")


CHANGES = (
    *(frozen, negated, groups_exchanged, another_clock, blunt),
    attention_matters,
)


class TestExhibits(ExhibitProtocol):
    slow: ClassVar = {exhibit.id for exhibit in PAPER.exhibits} - FAST
    changes = CHANGES


def test_the_papers_figures_are_all_there():
    ids = [exhibit.id for exhibit in PAPER.exhibits]
    assert ids[0] == PAPER.headline == "overview"
    # What a visitor should see first: the paper's own question, answered.
    assert ids[1] == "frozen-attention"
    assert ids[2:4] == ["figure1a", "figure1b"]
    for exhibit in PAPER.exhibits:
        assert not exhibit.printed, "the paper prints no numbers in its figure"


def values_of(name, evidence_of):
    return PAPER.exhibit(name).display(evidence_of(name)).values()


@pytest.mark.slow
def test_numbers_of_figure_1(evidence_of):
    """Against two independent programs on other seeds: only ranges agree."""
    scores = values_of("figure1a", evidence_of)
    phase = scores["Phase 1 ends at epoch"]
    assert 1100 < phase["least"] < phase["largest"] < 2050
    losses = values_of("figure1b", evidence_of)
    for kind in ("first", "second"):
        assert losses["largest loss over the first"][kind]["least"] > 1.02
        assert losses["largest loss over the first"][kind]["largest"] < 1.2


def test_balance_without_noise(evidence_of):
    """Derived by hand for many samples: w* = (2, 2, −3), its dual 7 : 5 : 5 : 0."""
    many = values_of("balancing", evidence_of)["n = 1e+07"]
    shares = [many["share of 17"][kind]["at the end"] for kind in many["share of 17"]]
    assert shares == pytest.approx([7, 5, 5, 0], abs=1e-4)
    assert many["R"]["at the end"] == pytest.approx(1.5, abs=1e-4)
    assert many["b·t·Loss"]["at the end"] == pytest.approx(17, rel=1e-3)


def test_enough_samples_by_hand():
    """For many samples the worst test sample has margin 1 − 44 (L − 2) / n.

    It has one target. L − 2 fillers of a training sample gave it 30/n each, which are
    missing; in their place are fillers of samples with both, which pull back by 14/n.
    """
    from attnflow.papers.cooccurrence.statistics import margin_of_machine

    for length in (5, 10, 20):
        lacking = (1 - margin_of_machine(1e6, length)) * 1e6 / (length - 2)
        assert lacking == pytest.approx(44, rel=0.01)
