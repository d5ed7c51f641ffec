"""Every claim of `scansnap`: as recorded, at its scope, and able to go both ways."""

from typing import ClassVar

import pytest

from attnflow.claims import Scope, Verdict, circumstances, declared_runs, judge
from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.claims import CLAIMS
from attnflow.papers.scansnap.claims.evidence import PUBLISHED, QUASI
from attnflow.schema.declarations import Request
from attnflow.testing import ClaimProtocol

IDS = [claim.id for claim in CLAIMS]
QUICK = {
    *("E-Lem2", "E-Lem18", "E-Lem8", "E-Lem9-i1", "E-Lem9-i2", "E-Thm1-b"),
    *("E-Cor1", "E-R-13", "E-R-room", "E-Lem13-17", "E-Lem14"),
    *("E-Lem7a", "E-Lem7a-shift", "E-Lem7b", "E-Rem2"),
    *("E-Lem10", "E-Lem11", "E-Lem11-late", "E-Lem12", "E-Cor1-sigma", "E-Rem3"),
}
"""Claims whose evidence takes no compiling and a second or less."""
REPLAYED = {"E-Fig6-ez", "E-Fig6-ratio", "E-Fig11-12"}
"""Claims on the published runs themselves, with the authors' seeds and streams."""
TRANSFERS = {"E-R-Thm2a-unmet", "E-R-Thm3", "E-R-6b", "E-R-6c"}
"""Claims of ours that statements about Q carry over to J; they fail."""
SCOPES = {
    Scope.THEOREM: {
        *("E-Lem5-6", "E-Lem8", "E-Lem9-i1", "E-Thm1-b", "E-Cor1", "E-Thm1-true"),
        *("E-Thm4-form", "E-6a", "E-6b", "E-6c", "E-Sec6-approx", "E-Lem4"),
        *("E-Sec6-train", "E-R-Thm3"),
    },
    Scope.EXPERIMENT: {"E-Fig4", "E-Fig5", "E-Fig6-ez", "E-Fig6-ratio", "E-Fig11-12"},
    Scope.BEYOND: {
        *("E-6b-H", "E-6c-H", "E-prior", "E-Sec7-res", "E-Fig7-10"),
        *("E-R-Thm2a-unmet", "E-R-6b", "E-R-6c"),
    },
}
"""Scopes that follow from settings alone."""


class TestClaims(ClaimProtocol):
    slow: ClassVar = set(IDS) - QUICK

    def test_claim(self, claim, judging, request):
        if claim.id in REPLAYED:
            pytest.importorskip("torch")
        super().test_claim(claim, judging, request)

    def check_seeds(self, claim, request):
        stream = request.overrides.get("stream", "own")
        if claim.id in REPLAYED:
            assert (request.seeds, stream) == (PUBLISHED, "published")
        else:
            super().check_seeds(claim, request)
            assert stream == "own"


def test_ids_are_the_papers_and_ours():
    assert PAPER.claims == CLAIMS
    ours = {claim.id for claim in CLAIMS if claim.origin == "ours"}
    assert ours == {name for name in IDS if name.startswith("E-R-")}


def test_theorems_are_judged_in_their_own_system():
    system = {claim.id: claim.system for claim in CLAIMS}
    for name in ("E-Thm1-a", "E-Thm2-a", "E-Thm2-b", "E-Thm3-law", "E-Thm3-b"):
        assert system[name].startswith("Q")
    for name in ("E-Thm4-form", "E-Thm4-r1", "E-Thm4-r2", "E-Thm4-t0"):
        assert system[name].startswith("C")
    for name in (*TRANSFERS, "E-Sec6-train"):
        assert system[name].startswith("J")


@pytest.mark.parametrize("scope", list(Scope))
def test_scopes(scope):
    for id in SCOPES[scope]:
        claim = PAPER.claim(id)
        assert circumstances(claim, declared_runs(claim, PAPER), PAPER).scope is scope


@pytest.mark.slow
@pytest.mark.paper
@pytest.mark.parametrize(
    "id",
    [
        *("E-Thm1-a", "E-Thm1-form", "E-Thm2-a", "E-Thm2-b", "E-Cor2", "E-Sec6-train"),
        *("E-R-Thm2a", "E-R-Thm3"),
    ],
)
def test_assumption_2_is_met_at_every_record(id, judging):
    claim = PAPER.claim(id)
    around = circumstances(claim, judging.gather(PAPER, claim.needs), PAPER)
    assert {"2 M", "2 λ_1", "2 λ_i"} <= set(claim.under)
    assert around.scope is Scope.THEOREM and not around.unread


def in_q(request: Request) -> Request:
    """The same run in Q; random classes have both systems."""
    if request.experiment == "random-classes":
        return request
    changed = {**request.overrides, "system": "Q", "record": QUASI}
    return Request(request.experiment, changed, request.seeds)


@pytest.mark.slow
@pytest.mark.paper
@pytest.mark.parametrize("id", sorted(TRANSFERS))
def test_what_fails_in_training_holds_in_q(id, judging):
    """The predicate of a claim that fails is one that can hold: Q meets it."""
    claim = PAPER.claim(id)
    assert claim.expected is Verdict.FAILS
    needs = {name: in_q(request) for name, request in claim.needs.items()}
    judgement = judge(claim, judging.gather(PAPER, needs))
    assert judgement.decision.verdict is Verdict.HOLDS, judgement.decision.note
