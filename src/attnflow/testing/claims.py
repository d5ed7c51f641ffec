"""Claims: judged as recorded, broken by each of their mutations, and told in full.

`check_claim(claim, evidence)` is the heart of it, for evidence of any source.
"""

import json
from collections.abc import Collection
from typing import Any, ClassVar

import pytest

from attnflow.claims import Claim, Evidence, Verdict, judge, make_row, must_fail
from attnflow.papers.base import Paper
from attnflow.runs.runner import Runner
from attnflow.schema.declarations import Request
from attnflow.testing.parameters import parameters

FIRST_PLANNED = 200
"""Seeds from here on decide; those below may be looked at while claims are written."""


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


class ClaimProtocol:
    """The claims of the module's `PAPER`; subclass with a name that begins with `Test`.

    `slow` are the ids of claims that take long. The seeds of every claim must be
    planned; `OpenSeeds` leaves that to each claim.
    """

    slow: ClassVar[Collection[str]] = ()

    @classmethod
    def parameters(cls, paper: Paper, *, judged: bool) -> list[Any]:
        """The claims, as parameters of a test that judges them, or only reads."""
        if not judged:
            return parameters(paper.claims, ())
        return parameters(paper.claims, cls.slow, pytest.mark.paper)

    def test_claim(
        self, claim: Claim, judging: Runner, request: pytest.FixtureRequest
    ) -> None:
        """As recorded, and broken by each mutation."""
        check_claim(claim, judging.gather(request.module.PAPER, claim.needs))

    def test_a_claim_says_all_that_is_needed(
        self, claim: Claim, request: pytest.FixtureRequest
    ) -> None:
        """Conditions, mutations, a correction where one is recorded, settings."""
        paper = request.module.PAPER
        assert claim.id.startswith(f"{paper.letter}-")
        assert claim.conditions != "none"
        assert len(claim.mutations) >= 2
        corrected = claim.expected is Verdict.HOLDS_CORRECTED
        assert corrected == (claim.correction is not None)
        for asked in claim.needs.values():
            paper.recipe(asked.experiment).with_overrides(asked.overrides)
            self.check_seeds(claim, asked)

    def check_seeds(self, claim: Claim, request: Request) -> None:
        """Seeds are planned, and others than those on which tolerances were set.

        The numbers alone prove nothing about who looked.
        """
        seeds = request.seeds
        assert isinstance(seeds, tuple) and min(seeds) >= FIRST_PLANNED, claim.id

    def test_ids_are_unique(self, request: pytest.FixtureRequest) -> None:
        """Each claim has an id of its own, and headlines are claims."""
        paper = request.module.PAPER
        ids = [claim.id for claim in paper.claims]
        assert len(set(ids)) == len(ids)
        assert set(paper.headline_claims) <= set(ids)


class OpenSeeds(ClaimProtocol):
    """Claims some of which leave to the reader how many seeds are enough."""

    def check_seeds(self, claim: Claim, request: Request) -> None:
        """Where seeds are planned, they are not those of the tolerances."""
        if isinstance(request.seeds, tuple):
            super().check_seeds(claim, request)
