"""Inventory and reader's notes: coverage, numbers and references."""

import json
import math
from dataclasses import asdict

import pytest
from scipy.stats import norm

from attnflow.papers.vit import PAPER
from attnflow.papers.vit.conditions import condition
from attnflow.papers.vit.settings import Train
from attnflow.papers.vit.sizes import sizes
from attnflow.papers.vit.stages import formulas
from attnflow.schema.settings import canonical_json
from attnflow.testing import TextProtocol
from attnflow.testing.protocols import named

NOTES = {note.id: note for note in PAPER.notes}
LABELS = {
    *("Definition 3.1", "Definition 5.1", "Definition 5.2", "Condition 4.1"),
    *("Theorem 4.1", "Theorem 4.2", "Table 1", "Figure 3", "Figure 4"),
    *(f"Figure {n}" for n in ("1a", "1b", "2a", "2b", "2c")),
    *(f"Lemma 5.{n}" for n in range(1, 6)),
    *(f"Definition B.{n}" for n in range(1, 4)),
    *(f"Lemma B.{n}" for n in range(1, 4)),
    *(f"Lemma C.{n}" for n in range(1, 5)),
    *(f"Lemma D.{n}" for n in range(1, 11)),
    *(f"Lemma E.{n}" for n in range(1, 7)),
}


class TestTexts(TextProtocol):
    labels = LABELS


def test_claims_and_notes_cover_something():
    parts = [part for statement in PAPER.statements for part in statement.parts]
    judged = {id for part in parts for id in part.claims}
    assert judged == {claim.id for claim in PAPER.claims}
    assert named(PAPER, "covered_by") == set(NOTES)
    unsure = [e.id for e in PAPER.statements if "yet" in e.about]
    assert not unsure


def test_the_first_time_is_negative_in_every_experiment():
    """D-N9a: 60M²C_p² against the largest N · SNR²."""
    section = sizes(Train(samples=20, snr=15.6))
    appendix = [sizes(PAPER.recipe(f"appendix-{n}").setting) for n in REGIMES]
    assert section.strength == pytest.approx(4867, abs=1)
    assert appendix[0].strength == pytest.approx(1953, abs=1)
    needed = [60 * (s.length * s.ratio) ** 2 for s in (section, appendix[0])]
    assert needed == pytest.approx([6.1e6, 384000], rel=0.01)
    for size in (section, *appendix):
        assert formulas.benign(size)["T1"].time is None
    for text in ("6.1 · 10^6", "4867", "384000", "1953", "1500M³"):
        assert text in NOTES["D-N9a"].ours
    assert 60 * 25 == 1500


REGIMES = ("benign", "harmful")


def test_noise_that_is_not_projected():
    """D-N7a: V(ξ) is (g₊ − g₋) σ̃_p/‖μ‖ of the signal's value, with normal g."""
    size = sizes(PAPER.recipe("appendix-benign").setting)
    share = math.sqrt(2) * size.strong / size.signal
    allowed = 1 / (3 * size.length)
    assert (share, allowed) == pytest.approx((0.057, 0.083), abs=5e-4)
    meets = 1 - 2 * norm.sf(allowed / share)
    assert meets**size.samples == pytest.approx(0.09, abs=0.005)


def test_the_constant_of_figure_1():
    """D-N9b: 1000 = 2.5 C_p², which is N‖μ‖²/(σ̃_p² d) = 2.5."""
    size = sizes(Train(samples=10, snr=10.0))
    assert size.strength == pytest.approx(1000)
    assert size.strength / size.ratio**2 == pytest.approx(2.5)
    strong = size.samples * size.signal**2 / (size.strong**2 * size.embed)
    assert strong == pytest.approx(2.5)


def test_sizes_against_the_condition():
    """D-N8a and D-N10a."""
    large = condition(sizes(Train(signal=100.0)))
    assert large["(6)"].most == pytest.approx(4.4e-6, rel=0.01)
    even = condition(sizes(Train(samples=20, snr=1.0)))
    assert even["(1)"].least == pytest.approx(4e6)
    assert even["(10)"].met
    for name in REGIMES:
        item = condition(sizes(PAPER.recipe(f"appendix-{name}").setting))["(10)"]
        assert (item.value, item.least) == pytest.approx((20, 10))


def test_conditions_are_listed_for_every_experiment_except_maps():
    tables = {
        recipe.id: PAPER.conditions(json.loads(canonical_json(asdict(recipe.setting))))
        for recipe in PAPER.recipes
    }
    assert not tables["map"] and not tables["mnist"]
    assert {"(3)", "(9)", "data", "initial", "w_O", "benign", "harmful"} <= {
        item.name for item in tables["figure1"]
    }
    assert {item.name for item in tables["appendix-benign"] if not item.met} >= {"(1)"}
    assert all(item.met for item in tables["theory-benign"] if item.name == "(10)")


def test_the_tail_of_initial_values():
    """D-N16a: a normal tail at √log(2NM/δ) against δ/(NM)."""
    tail = 2 * norm.sf(math.sqrt(math.log(2 * 40 * 3 / 0.1)))
    assert tail / (0.1 / (40 * 3)) == pytest.approx(6.3, abs=0.05)
    assert "6.3 times" in NOTES["D-N16a"].ours


def test_where_both_hypotheses_hold():
    """D-N15a: with M = 2, 82 is 1.6C_p², and the proof needs 60M²C_p² = 12000."""
    square = 25 * 2
    assert 82 / square == pytest.approx(1.6, abs=0.05)
    assert 60 * 2**2 * square == 12000
