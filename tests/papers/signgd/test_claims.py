"""Every claim of `signgd`: as recorded, and broken by each of its mutations."""

import re
from typing import ClassVar

import pytest

from attnflow.papers.signgd import PAPER
from attnflow.papers.signgd.claims import CLAIMS
from attnflow.testing import ClaimProtocol

IDS = [claim.id for claim in CLAIMS]
QUICK = {"C-Eq9"}
"""Of one short run with few neurons; the others share runs of minutes."""


@pytest.mark.filterwarnings("ignore::attnflow.experiments.limits.EpsilonWarning")
class TestClaims(ClaimProtocol):
    slow: ClassVar = set(IDS) - QUICK


def test_ids_are_the_papers_and_ours():
    assert PAPER.claims == CLAIMS
    ours = {claim.id for claim in CLAIMS if claim.origin == "ours"}
    assert ours == {name for name in IDS if name.startswith("C-R-")}


@pytest.mark.parametrize("claim", CLAIMS, ids=IDS)
def test_a_source_names_the_seeds_that_decide(claim):
    """Of one of its runs at least, as `200–209`, and no other but the first trial's."""
    run_spans = {span(request.seeds) for request in claim.needs.values()}
    source_spans = set(re.findall(r"\b2[01]\d(?:–2\d\d)?", claim.source))
    assert source_spans & run_spans
    assert source_spans - run_spans <= {"200–202"}


def span(seeds):
    """The first and last of consecutive seeds."""
    return f"{seeds[0]}–{seeds[-1]}" if len(seeds) > 1 else f"{seeds[0]}"
