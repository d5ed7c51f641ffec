"""What every claim of every paper must pass, given the evidence that it needs.

`check_claim(claim, evidence)` in a test of a paper is all that is needed.
"""

import json

from attnflow.claims import Claim, Evidence, judge, make_row, must_fail


def check_claim(claim: Claim, evidence: Evidence) -> None:
    """The recorded verdict, mutations that break it, and rows that are plain."""
    check_words(claim)
    before = {name: run.copy(deep=True) for name, run in evidence.items()}
    found = judge(claim, evidence)
    check_unchanged(before, evidence, f"the judge of {claim.id}")
    assert found.decision.verdict == claim.expected, (
        f"{claim.id} was recorded as {claim.expected} and is "
        f"{found.decision.verdict}: {found.decision.note}"
    )
    json.dumps(make_row(claim, "any", found, seconds=0.0).as_json(), allow_nan=False)
    survived = must_fail(claim, evidence)
    assert not survived, f"{claim.id} holds in spite of: {'; '.join(survived)}."
    check_unchanged(before, evidence, f"a mutation of {claim.id}")


def check_words(claim: Claim) -> None:
    """What a reader needs: a place, whole sentences, the predicate, the source."""
    for name in ("place", "statement", "system", "predicate", "source"):
        assert getattr(claim, name).strip(), f"{claim.id} has no {name}."
    assert claim.statement.rstrip().endswith("."), f"{claim.id}: a sentence, please."
    assert claim.needs, f"{claim.id} needs no run."


def check_unchanged(before: Evidence, after: Evidence, who: str) -> None:
    """Evidence is shared between claims: nobody may write into it."""
    for name, run in after.items():
        assert run.identical(before[name]), f"{who} changed the run {name!r}."
