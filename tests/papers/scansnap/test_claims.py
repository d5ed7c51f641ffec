"""Every claim of `scansnap`: as recorded, and broken by each of its mutations."""

from typing import ClassVar

import pytest

from attnflow.claims import Scope, Verdict, judge
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap import PAPER
from attnflow.papers.scansnap.claims import CLAIMS
from attnflow.papers.scansnap.claims.evidence import PUBLISHED, QUASI
from attnflow.schema.declarations import Request
from attnflow.testing import ClaimProtocol

IDS = [claim.id for claim in CLAIMS]
QUICK = {
    *("E-Lem2", "E-Lem18", "E-Lem8", "E-Lem9-i1", "E-Lem9-i2", "E-Thm1-b"),
    *("E-Cor1", "E-R-13", "E-Ass2", "E-Lem13-17", "E-Lem7a", "E-Lem7b"),
}
"""Claims whose evidence takes no compiling and a second or less."""
REPLAYED = {"E-Fig6-ez", "E-Fig6-ratio", "E-Fig11-12"}
"""Claims on the published runs themselves, with the authors' seeds and streams."""
TRANSFERS = {"E-R-Thm2a", "E-R-Thm3", "E-R-6b", "E-R-6c", "E-Sec6-train"}
"""Claims that statements about Q carry over to J; they fail."""
LEDGER = {
    *("E-Lem1", "E-Lem1b", "E-Lem2", "E-Lem18", "E-Lem3", "E-Lem3b", "E-Lem5-6"),
    *("E-Rem1", "E-Lem7a", "E-Lem7b", "E-Lem8", "E-Lem9-i1", "E-Lem9-i2"),
    *("E-Lem10-12", "E-Cor1", "E-Thm1-form", "E-Thm1-a", "E-Thm1-b", "E-Ass2"),
    *("E-Lem13-17", "E-Lem4", "E-Thm2-a", "E-Thm2-b", "E-Cor2", "E-CTgrow"),
    *("E-Thm3-law", "E-Thm3-b", "E-Thm4-form", "E-Thm4-r1", "E-Thm4-r2"),
    *("E-Thm4-t0", "E-Sec6-approx", "E-Sec6-train", "E-6a", "E-6b", "E-6c"),
    *("E-Fig6-ez", "E-Fig6-ratio", "E-Fig4", "E-Fig5", "E-Fig11-12"),
    *("E-Fig7-10", "E-Fig7-10-freeze"),
    *("E-Sec7-res", "E-prior"),
}
"""Claims of the paper itself, whose `origin` is `paper`."""


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
    assert set(IDS) - ours == LEDGER


def test_theorems_are_judged_in_their_own_system():
    system = {claim.id: claim.system for claim in CLAIMS}
    for name in ("E-Thm1-a", "E-Thm2-a", "E-Thm2-b", "E-Thm3-law", "E-Thm3-b"):
        assert system[name].startswith("Q")
    for name in ("E-Thm4-form", "E-Thm4-r1", "E-Thm4-r2", "E-Thm4-t0"):
        assert system[name].startswith("C")
    for name in TRANSFERS:
        assert system[name].startswith("J")


def test_scopes_are_those_of_assumption_2():
    for claim in CLAIMS:
        if "Assumption 2 is not met" in claim.conditions:
            assert claim.scope is Scope.BEYOND
        if "Assumption 2 is met" in claim.conditions:
            assert claim.scope is Scope.THEOREM
    for name in ("E-Thm1-a", "E-Thm2-a", "E-Thm2-b", "E-Thm3-law", "E-Thm3-b"):
        assert PAPER.claim(name).scope is Scope.THEOREM


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


@pytest.mark.slow
@pytest.mark.paper
def test_the_modification_would_be_small_with_theorem_1s_coupling(judging):
    """E-Lem3b, the one claim of the paper's that fails by itself, can hold."""
    claim = PAPER.claim("E-Lem3b")
    evidence = judging.gather(PAPER, claim.needs)
    same = mutate.on_run("β", "couplings", lambda run: run.assign(true=run["modified"]))
    assert judge(claim, same(evidence)).decision.verdict is Verdict.HOLDS


def test_notes_are_shown_by_claims_that_exist():
    assert {note.shown_by for note in PAPER.notes} - {"text"} <= set(IDS)
