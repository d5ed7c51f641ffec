"""Verdicts of the claims of `vit` as recorded, and under each of their mutations."""

from typing import ClassVar

import pytest

from attnflow.claims import Scope, circumstances, declared_runs
from attnflow.papers.vit import PAPER
from attnflow.papers.vit.claims import CLAIMS, condition, stage_one
from attnflow.papers.vit.sizes import sizes
from attnflow.testing import ClaimProtocol

IDS = [claim.id for claim in CLAIMS]
QUICK = {
    *("D-LemB.1", "D-LemB.2", "D-LemB.3", "D-LemC.1", "D-LemC.2", "D-LemC.4"),
    "D-Lem5.2",
}
"""Claims whose runs take a second or two; the others share runs of some minutes."""


@pytest.mark.filterwarnings("ignore::attnflow.data.noisy_patches.OneClassWarning")
class TestClaims(ClaimProtocol):
    slow: ClassVar = set(IDS) - QUICK


def test_ids_are_the_papers_and_ours():
    assert PAPER.claims == CLAIMS
    ours = {claim.id for claim in CLAIMS if claim.origin == "ours"}
    theory = {"D-ctrl", "D-Thm4.1-const", "D-Thm4.2-err", "D-Fig34-sparse"}
    read_as_1 = {"D-sharp", "D-LemC.2"}
    assert ours == theory | read_as_1 | {"D-Fig2c-law", "D-Fig2c-patch"}


def test_what_is_missed_of_the_condition():
    """Ladders and runs `in` meet all of it; sampled runs miss (3), (6) and (9)."""
    missed = {
        claim.id: circumstances(claim, declared_runs(claim, PAPER), PAPER)
        for claim in CLAIMS
    }
    names = {id: {item.name for item in c.missed} for id, c in missed.items()}
    assert names["D-Thm4.2-ladder-N"] >= {"(3)", "(6)"}
    assert names["D-Lem5.2"] == names["D-PropK"] == {"(3)", "(6)", "(9)"}
    assert names["D-Thm4.2-2"] >= {"(1)", "(5)", "(10)", "data", "harmful"}
    inside = {id for id, c in missed.items() if c.scope is Scope.THEOREM}
    without = {"D-Lem5.1-gamma", "D-Lem5.1-rho", "D-Lem5.1-rho-harmful"}
    without |= {"D-LemD.1", "D-LemD.2", *(f"D-LemB.{i}" for i in (1, 2, 3))}
    without |= {"D-LemC.1", "D-LemC.2", "D-LemC.4"}
    early = {"D-LemD.3", "D-LemE.1"}
    theorems = {"D-Thm4.1-in", "D-Thm4.2-in", "D-Thm4.1-2-in", "D-Thm4.2-2-in"}
    theorems |= {"D-Thm4.1-ladder", "D-Thm4.2-ladder", "D-sharp"}
    assert inside == without | early | theorems
    every = {f"({i})" for i in range(1, 11)}
    assert all(every <= set(PAPER.claim(id).under) for id in early | theorems)
    assert missed["D-Fig3"].scope is missed["D-Fig2c"].scope is Scope.EXPERIMENT
    assert missed["D-ctrl"].scope is Scope.BEYOND


def size_of(request):
    return sizes(PAPER.recipe(request.experiment).with_overrides(request.overrides))


def test_sizes_are_those_that_conditions_print():
    """The numbers in the settings of `condition.py` and of Lemma 5.2."""
    flow, descent = map(size_of, condition.BENIGN.values())
    assert flow.key_width == pytest.approx(flow.snr**4 * (40 / 0.025) ** 2)
    assert (flow.key_width, flow.embed) == pytest.approx((2.6e8, 6.6e14), rel=0.02)
    assert flow.flow and not descent.flow
    steps = 2 / (descent.learning_rate * descent.target * descent.signal**2)
    assert steps == pytest.approx(4e5, rel=0.01)
    harmful = size_of(condition.HARMFUL)
    assert harmful.key_width == pytest.approx(harmful.snr**-4 * (44 / 0.022) ** 2)
    assert (harmful.key_width, harmful.embed) == pytest.approx((1.2e11, 5e17), rel=0.05)
    small = size_of(condition.SMALLEST)
    assert (small.key_width, small.embed) == pytest.approx((1.6e7, 4.1e11), rel=0.01)
    wide = size_of(stage_one.SEPARATED)
    assert wide.strength == pytest.approx(384000)
    assert wide.key_width == pytest.approx(5.9e13, rel=0.01)
