"""Every claim of `cooccurrence`: as recorded, and broken by each of its mutations."""

import pytest

from attnflow.claims import Claim, Verdict
from attnflow.paper import Request
from attnflow.papers.cooccurrence import PAPER
from attnflow.papers.cooccurrence.claims import CLAIMS, evidence
from attnflow.runner import Runner
from attnflow.store import Store
from tests.claims.protocol import check_claim

SEEDS = 3
IDS = [claim.id for claim in CLAIMS]
# Nothing is trained, or up to symmetry; and Phase 1, which many claims share.
CHEAP = {"gradients", "appendix-c", "concentration", "token-svm", "quotient"}
SHARED = [evidence.phase_one(width) for width in evidence.WIDTHS]


@pytest.fixture(scope="session")
def judging(tmp_path_factory, worker_id):
    """One runner for all claims, so that each run is made once; workers share it."""
    base = tmp_path_factory.getbasetemp()
    root = base if worker_id == "master" else base.parent
    return Runner(Store(root / "cooccurrence-claims"), seeds=SEEDS)


def is_slow(request: Request) -> bool:
    return request.experiment not in CHEAP and request not in SHARED


def marked(claim: Claim):
    marks = [pytest.mark.paper]
    if any(is_slow(request) for request in claim.needs.values()):
        marks.append(pytest.mark.slow)
    return pytest.param(claim, id=claim.id, marks=marks)


@pytest.mark.filterwarnings("ignore::attnflow.experiment.LearningRateWarning")
@pytest.mark.parametrize("claim", [marked(claim) for claim in CLAIMS])
def test_claim(claim, judging):
    check_claim(claim, judging.gather(PAPER, claim.needs))


def test_the_paper_has_them():
    assert PAPER.claim_list == CLAIMS
    assert len(set(IDS)) == len(IDS)


def test_rows_of_the_sheet_up_to_phase_one():
    """Ids of the spec sheet's ledger, and of statements that it leaves out."""
    rows = """
        A-App.B A-App.C A-Eq5 A-D.1 A-D.2 A-D.3 A-D.4 A-D.5 A-D.6 A-D.7 A-D.8 A-H.2
        A-L4.1 A-L4.2 A-E.6 A-E.14 A-Thm3.1-i1 A-Thm3.1-i2 A-Thm3.1-i3 A-Thm3.1-i4
        A-Thm3.1-T1 A-E.20 A-E.24 A-E.26 A-E.27 A-bump A-L4.3 A-E.21
    """
    assert set(rows.split()) <= set(IDS)


@pytest.mark.parametrize("claim", CLAIMS, ids=IDS)
def test_claims_are_complete(claim):
    assert claim.conditions != "none"
    assert len(claim.mutations) >= 2
    assert (claim.expected is Verdict.HOLDS_CORRECTED) == (claim.correction is not None)
    recipes = {recipe.id: recipe for recipe in PAPER.recipes}
    for request in claim.needs.values():
        recipes[request.experiment].with_overrides(request.overrides)


def test_plans_keep_to_seeds_from_200_on():
    """See `evidence.PLAN`: the numbers alone prove nothing about who looked."""
    for claim in CLAIMS:
        for request in claim.needs.values():
            if isinstance(request.seeds, tuple):
                assert min(request.seeds) >= 200, claim.id
