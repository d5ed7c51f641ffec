"""Every claim of `cooccurrence`: as recorded, and broken by each of its mutations."""

from typing import ClassVar

import pytest

from attnflow.papers.cooccurrence import PAPER
from attnflow.papers.cooccurrence.claims import CLAIMS
from attnflow.schema.declarations import Request
from attnflow.testing import OpenSeeds

SEEDS = 3
IDS = [claim.id for claim in CLAIMS]
# Nothing is trained, and no draw is of many neurons.
CHEAP = {"gradients", "token-svm"}


def is_slow(request: Request) -> bool:
    return request.experiment not in CHEAP


@pytest.mark.filterwarnings("ignore::attnflow.experiments.LearningRateWarning")
class TestClaims(OpenSeeds):
    slow: ClassVar = {c.id for c in CLAIMS if any(map(is_slow, c.needs.values()))}


def test_the_paper_has_them():
    assert PAPER.claims == CLAIMS


def test_claims_up_to_phase_one_are_all_there():
    """Appendices B to D and H, and the theorems and lemmas about Phase 1."""
    rows = """
        A-App.B A-App.C A-Eq5 A-D.1 A-D.2 A-D.3 A-D.4 A-D.5 A-D.6 A-D.7 A-D.8 A-H.2
        A-L4.1 A-L4.2 A-E.6 A-E.14 A-E.15 A-Thm3.1-i1 A-Thm3.1-i2 A-Thm3.1-i3
        A-Thm3.1-i4 A-Thm3.1-T1 A-E.20 A-E.24 A-E.26 A-E.27 A-bump A-L4.3 A-E.21
    """
    assert set(rows.split()) <= set(IDS)
