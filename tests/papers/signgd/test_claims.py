"""Every claim of `signgd`: as recorded, and broken by each of its mutations."""

from typing import ClassVar

import pytest

from attnflow.papers.signgd import PAPER
from attnflow.papers.signgd.claims import CLAIMS
from attnflow.testing import ClaimProtocol

IDS = [claim.id for claim in CLAIMS]
QUICK = {"C-Eq9", "C-Tab2"}
"""Claims whose runs are over after few steps; the others share runs of minutes."""


@pytest.mark.filterwarnings("ignore::attnflow.experiments.limits.EpsilonWarning")
class TestClaims(ClaimProtocol):
    slow: ClassVar = set(IDS) - QUICK


def test_ids_are_the_papers_and_ours():
    assert PAPER.claims == CLAIMS
    ours = {claim.id for claim in CLAIMS if claim.origin == "ours"}
    assert ours == {name for name in IDS if name.startswith("C-R-")}
