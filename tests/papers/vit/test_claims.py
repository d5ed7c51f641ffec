"""Verdicts of the claims of `vit` as recorded, and under each of their mutations."""

from typing import ClassVar

import pytest

from attnflow.claims import Scope
from attnflow.papers.vit import PAPER
from attnflow.papers.vit.claims import CLAIMS, condition, stage_one
from attnflow.papers.vit.claims.evidence import SAMPLED_RUNS
from attnflow.papers.vit.conditions import conditions
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


def unmet(request):
    """Items of Condition 4.1 that the sizes of a request do not meet."""
    setting = PAPER.recipe(request.experiment).with_overrides(request.overrides)
    items = conditions(sizes(setting)).items()
    return {name for name, item in items if not item.met}


def test_scopes_are_what_the_condition_says():
    """Inside all items: `theorem`; all but the rate's: `beyond`; else experiments."""
    allowed = {
        Scope.THEOREM: set(),
        Scope.BEYOND: {"(6)"},
    }
    for claim in CLAIMS:
        runs = [r for r in claim.needs.values() if r.experiment.startswith("theory-")]
        for request in runs:
            if claim.scope in allowed:
                assert unmet(request) == allowed[claim.scope], claim.id
        if claim.scope is Scope.THEOREM:
            assert len(runs) == len(claim.needs)
    inside = {claim.id for claim in CLAIMS if claim.scope is Scope.THEOREM}
    assert inside == {"D-Thm4.1-const", "D-Thm4.1-in", "D-Thm4.2-in"}


def test_sizes_are_those_that_conditions_print():
    """The numbers in `condition.WITHIN` and in the conditions of Lemma 5.2."""
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
    request = condition.SMALLEST["benign"]
    small = sizes(PAPER.recipe(request.experiment).with_overrides(request.overrides))
    assert small.key_width == pytest.approx(1.6e7, rel=1e-6)
    assert small.embed == pytest.approx(4.1e11, rel=0.01)
    request = stage_one.SEPARATED["benign"]
    wide = sizes(PAPER.recipe(request.experiment).with_overrides(request.overrides))
    assert wide.strength == pytest.approx(384000)
    assert wide.key_width == pytest.approx(5.9e13, rel=0.01)
    assert unmet(SAMPLED_RUNS["benign"]) == {"(6)"}
