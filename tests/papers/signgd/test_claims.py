"""Every claim of `signgd`: as recorded, and broken by each of its mutations."""

import pytest

from attnflow.claims import Verdict
from attnflow.papers.signgd import PAPER
from attnflow.papers.signgd.claims import CLAIMS
from attnflow.runner import Runner
from attnflow.store import Store
from tests.claims.protocol import check_claim

IDS = [claim.id for claim in CLAIMS]
QUICK = {"C-Eq9", "C-Tab2"}
"""Claims whose runs are over after few steps; the others share runs of minutes."""


@pytest.fixture(scope="session")
def judging(tmp_path_factory, worker_id):
    """One runner for all claims, so that each run is made once; workers share it."""
    base = tmp_path_factory.getbasetemp()
    root = base if worker_id == "master" else base.parent
    return Runner(Store(root / "signgd-claims"))


def marked(claim):
    slow = [] if claim.id in QUICK else [pytest.mark.slow]
    return pytest.param(claim, id=claim.id, marks=[pytest.mark.paper, *slow])


@pytest.mark.filterwarnings("ignore::attnflow.experiment.swamping.EpsilonWarning")
@pytest.mark.parametrize("claim", [marked(claim) for claim in CLAIMS])
def test_claim(claim, judging):
    check_claim(claim, judging.gather(PAPER, claim.needs))


@pytest.mark.parametrize("claim", CLAIMS, ids=IDS)
def test_a_claim_says_all_that_is_needed(claim):
    assert claim.conditions != "none"
    assert len(claim.mutations) >= 2
    assert (claim.expected is Verdict.HOLDS_CORRECTED) == (claim.correction is not None)
    for request in claim.needs.values():
        PAPER.recipe(request.experiment).with_overrides(request.overrides)
        # See `evidence.PLAN`: tolerances were set on seeds 0 to 4.
        assert isinstance(request.seeds, tuple) and min(request.seeds) >= 200


def test_ids_are_the_papers_and_ours():
    assert PAPER.claim_list == CLAIMS
    assert len(set(IDS)) == len(IDS)
    ours = {claim.id for claim in CLAIMS if claim.origin == "ours"}
    assert ours == {name for name in IDS if name.startswith("C-R-")}
