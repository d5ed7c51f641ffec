"""Every claim of `mixture`: judged as recorded, and broken by each of its mutations."""

import pytest

from attnflow.claims import Claim, Scope, Verdict, judge, must_fail
from attnflow.claims.verify import verify
from attnflow.papers import paper
from attnflow.papers.mixture.claims import CLAIMS
from attnflow.runner import Runner
from attnflow.store import Store

SEEDS = 3
# Many widths, scales or mixtures: what takes longest.
SLOW = {
    "B-E.4-range",
    "B-G",
    "B-Thm4.1-sym-width",
    "B-Thm4.1-conc-width",
    "B-A.2",
    "B-A.2-accuracy",
    "B-Obs1-learn",
    "B-Obs1-rows",
    "B-Obs1-nearsym",
    "B-Obs1-longer",
}
IDS = [claim.id for claim in CLAIMS]


@pytest.fixture(scope="session")
def judging(tmp_path_factory, worker_id):
    """One runner for all claims, so that each run is made once; workers share it."""
    base = tmp_path_factory.getbasetemp()
    root = base if worker_id == "master" else base.parent
    return Runner(Store(root / "mixture-claims"), seeds=SEEDS)


def marked(claim: Claim):
    marks = [pytest.mark.paper]
    if claim.id in SLOW:
        marks.append(pytest.mark.slow)
    return pytest.param(claim, id=claim.id, marks=marks)


@pytest.mark.parametrize("claim", [marked(claim) for claim in CLAIMS])
def test_claim(claim, judging):
    evidence = judging.gather(paper("mixture"), claim.needs)
    found = judge(claim, evidence)
    assert found.decision.verdict == claim.expected, found.decision.note
    assert must_fail(claim, evidence) == []


def test_the_paper_has_them():
    assert paper("mixture").claim_list == CLAIMS
    assert len(set(IDS)) == len(IDS)


def test_rows_of_the_sheet():
    """Ids of the spec sheet's ledger, the first of each row."""
    rows = """
        B-Thm4.1-T1 B-Thm4.1-T2 B-Thm4.1-T3 B-Thm4.1-sym B-Thm4.1-conc B-Thm4.1-near
        B-L5.2 B-L5.3 B-D.3 B-D.6 B-D.8 B-L5.4 B-L5.4-feature B-5.1-margin B-7-margin
        B-L5.5 B-E.1 B-E.4 B-E.4-range B-E.5 B-E.6 B-E.7 B-F.1 B-C B-G B-G.1
        B-Sec3-order B-A.2 B-Obs1-learn B-Obs1-nearsym B-Obs1-longer B-L6.1
    """
    assert set(rows.split()) <= set(IDS)
    ours = {claim.id for claim in CLAIMS if claim.origin == "ours"}
    assert {"B-R2", "B-R3", "B-R4", "B-R5", "B-R7", "B-R8", "B-R9"} <= ours


@pytest.mark.parametrize("claim", CLAIMS, ids=IDS)
def test_claims_are_complete(claim):
    assert claim.statement.endswith(".")
    assert claim.conditions != "none"
    assert (claim.expected is Verdict.HOLDS_CORRECTED) == (claim.correction is not None)
    recipes = {recipe.id: recipe for recipe in paper("mixture").recipes}
    for request in claim.needs.values():
        recipes[request.experiment].with_overrides(request.overrides)


def test_plans_keep_to_seeds_from_200_on():
    """See `evidence.PLAN`: the numbers alone prove nothing about who looked."""
    for claim in CLAIMS:
        for request in claim.needs.values():
            if isinstance(request.seeds, tuple):
                assert min(request.seeds) >= 200, claim.id


def test_a_run_of_the_users_own_is_judged(judging):
    """Sizes of the user's own are beyond what the paper speaks of."""
    claim = next(claim for claim in CLAIMS if claim.id == "B-Sec3-order")
    (request,) = claim.needs.values()
    run = judging.run(paper("mixture"), request)
    row = verify(claim, "mixture", lambda needs: {"main": run}, scope=Scope.BEYOND)
    assert row.verdict is Verdict.HOLDS
    assert (row.scope, row.seeds) == (Scope.BEYOND, SEEDS)
    assert row.numbers["main"]["attention"] > row.numbers["main"]["consistent"]
