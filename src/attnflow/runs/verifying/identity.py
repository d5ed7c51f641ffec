"""What decides a verdict: the claim, the settings of its runs, and the code."""

from attnflow.claims import Claim, with_seeds
from attnflow.papers.base import Paper
from attnflow.runs.jobs import code_digest, described
from attnflow.schema.settings import canonical_json, digest

JUDGING = ("claims", "schema")
"""What turns runs into verdicts, beside the paper's own folder."""


def verdict_key(paper: Paper, claim: Claim, seeds: int) -> str:
    """The address of a verdict: claim, settings and seeds of its runs, code version.

    **Arguments:**

    - `seeds`: how many, for the runs that leave it open.
    """
    needs = with_seeds(claim.needs, seeds)
    asked = {name: described(paper, request) for name, request in needs.items()}
    code = judging_code(paper.slug)
    return digest(paper.slug, claim.id, canonical_json(asked), code)


def judging_code(slug: str) -> str:
    """A digest of what makes runs of a paper and turns them into verdicts."""
    return code_digest(slug, JUDGING)
