"""Every claim of `mixture` has its recorded verdict and fails under its mutations."""

import json
from typing import ClassVar

import pytest

from attnflow.claims import Scope, Verdict, verify
from attnflow.papers.mixture import PAPER
from attnflow.papers.mixture.claims import CLAIMS
from attnflow.schema import setting_of
from attnflow.testing import OpenSeeds

# Among them are those that are held to rounding itself: B-R2 with the least to spare.
pytestmark = pytest.mark.cpus

SEEDS = 3
# Claims over many widths, scales or mixtures, which take longest.
SLOW = {
    "B-Thm4.1-T1",
    "B-R5",
    "B-Sec3-range",
    "B-E.4-range",
    "B-G",
    "B-Thm4.1-sym-width",
    "B-Thm4.1-conc-width",
    "B-A.2",
    "B-A.2-accuracy",
    "B-Obs1-learn",
    "B-Obs1-learn-wide",
    "B-Obs1-rows",
    "B-Obs1-nearsym",
    "B-Obs1-grid",
    "B-Obs1-reversed",
    "B-Obs1-longer",
    "B-Obs1-longer-wide",
    "B-Obs1-L5",
    "B-D.3",
    "B-R8",
}
IDS = [claim.id for claim in CLAIMS]


def is_staged(claim):
    """Whether the claim needs flows through all stages, which take long to compile."""
    return any(r.experiment == "three-stage" for r in claim.needs.values())


class TestClaims(OpenSeeds):
    slow: ClassVar = SLOW | {claim.id for claim in CLAIMS if is_staged(claim)}


def test_the_paper_has_them():
    assert PAPER.claims == CLAIMS


def test_every_statement_of_the_paper_has_a_claim():
    """And so do the reductions that are ours."""
    stated = """
        B-Thm4.1-T1 B-Thm4.1-T2 B-Thm4.1-T3 B-Thm4.1-sym B-Thm4.1-conc B-Thm4.1-near
        B-L5.2 B-L5.3 B-D.3 B-D.6 B-D.8 B-L5.4 B-L5.4-feature B-5.1-margin B-7-margin
        B-L5.5 B-E.1 B-E.4 B-E.5 B-E.6 B-E.7 B-F.1 B-F.2 B-C B-G B-G.1 B-H.2
        B-Thm4.1-align B-Sec3-order B-A.2 B-Obs1-learn B-Obs1-nearsym B-Obs1-longer
        B-L6.1 B-L6.1-proof B-Obs1-grid B-Thm4.1-settings B-Thm4.1-clock B-B.2
        B-Thm4.1-kink
        B-E.4-ratio B-E.4-eq15 B-E.5-displays B-E.5-growth B-E.7-updates B-5.2-group
    """
    assert set(stated.split()) <= set(IDS)
    ours = {claim.id for claim in CLAIMS if claim.origin == "ours"}
    assert {f"B-R{n}" for n in range(2, 10)} <= ours


def test_a_users_run_is_judged(judging):
    """The setting that a run states decides on the scope."""
    claim = next(claim for claim in CLAIMS if claim.id == "B-Sec3-order")
    (request,) = claim.needs.values()
    run = judging.run(PAPER, request)
    row = verify(claim, PAPER, lambda needs: {"main": run})
    assert row.verdict is Verdict.HOLDS
    assert (row.scope, row.seeds) == (Scope.EXPERIMENT, SEEDS)
    wide = run.assign_attrs(setting=json.dumps({**setting_of(run), "width": 256}))
    row = verify(claim, PAPER, lambda needs: {"main": wide})
    assert row.scope is Scope.BEYOND
    assert row.numbers["t_attention"][1] > row.numbers["t_consistent"][1]
