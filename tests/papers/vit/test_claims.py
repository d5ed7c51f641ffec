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
    *("D-Lem5.1-gamma", "D-Lem5.1-rho", "D-Lem5.1-rho-harmful"),
    *("D-LemD.1", "D-LemD.2", "D-Lem5.2", "D-LemE.3", "D-LemE.6", "D-PropK"),
}
"""Claims whose runs take seconds; the others share runs of a minute or more."""


@pytest.mark.filterwarnings("ignore::attnflow.data.noisy_patches.OneClassWarning")
class TestClaims(ClaimProtocol):
    slow: ClassVar = set(IDS) - QUICK


def test_ids_are_the_papers_and_ours():
    assert PAPER.claims == CLAIMS
    ours = {claim.id for claim in CLAIMS if claim.origin == "ours"}
    theory = {"D-ctrl", "D-Thm4.1-const", "D-Thm4.2-err"}
    assert ours == theory | {"D-Fig2c-law", "D-Fig2c-patch"}


def test_what_is_missed_of_the_condition():
    """Sampled runs miss (3), (6) and (9), those at its bounds (3) and (9) alone."""
    missed = {
        claim.id: circumstances(claim, declared_runs(claim, PAPER), PAPER)
        for claim in CLAIMS
    }
    names = {id: {item.name for item in c.missed} for id, c in missed.items()}
    assert names["D-Thm4.1-in"] == names["D-Thm4.2-in"] == {"(3)", "(9)"}
    assert names["D-Lem5.2"] == names["D-PropK"] == {"(3)", "(6)", "(9)"}
    assert names["D-Thm4.2-2"] >= {"(1)", "(5)", "(10)", "data", "harmful"}
    inside = {id for id, c in missed.items() if c.scope is Scope.THEOREM}
    updates = {"D-Lem5.1-gamma", "D-Lem5.1-rho", "D-Lem5.1-rho-harmful"}
    assert inside == updates | {"D-LemD.1", "D-LemD.2"}
    assert missed["D-Fig3"].scope is missed["D-Fig2c"].scope is Scope.EXPERIMENT
    assert missed["D-ctrl"].scope is Scope.BEYOND


def test_sizes_are_those_that_conditions_print():
    """The numbers in the settings of `condition.py` and of Lemma 5.2."""
    benign, harmful = (
        sizes(
            PAPER.recipe(request.experiment).with_overrides(request.overrides),
        )
        for request in condition.INSIDE.values()
    )
    assert benign.key_width == pytest.approx(1e8, rel=1e-6)
    assert benign.key_width == pytest.approx(25 * benign.snr**4 * (8 / 0.1) ** 2)
    assert benign.embed == pytest.approx(6.4e11, rel=1e-6)
    assert harmful.key_width == pytest.approx(1.05e8, rel=0.01)
    assert harmful.key_width == pytest.approx(harmful.snr**-4 * (16 / 0.1) ** 2)
    request = condition.SMALLEST
    small = sizes(PAPER.recipe(request.experiment).with_overrides(request.overrides))
    assert small.key_width == pytest.approx(1.6e7, rel=1e-6)
    assert small.embed == pytest.approx(4.1e11, rel=0.01)
    request = stage_one.SEPARATED
    wide = sizes(PAPER.recipe(request.experiment).with_overrides(request.overrides))
    assert wide.strength == pytest.approx(384000)
    assert wide.key_width == pytest.approx(5.9e13, rel=0.01)
