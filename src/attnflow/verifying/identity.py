"""What decides a verdict: the claim, the settings of its runs, and the code."""

from functools import cache
from pathlib import Path

from attnflow._plugins import files_of
from attnflow.claims import Claim
from attnflow.claims.verify import with_seeds
from attnflow.jobs import described
from attnflow.paper import Paper
from attnflow.setting import canonical_json, digest

JUDGING = ("claims", "stages", "measures", "schema.py")
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


@cache
def judging_code(slug: str) -> str:
    """A digest of what makes runs of a paper and turns them into verdicts."""
    from attnflow.experiment.versions import code_version, digest_files

    root = Path(__file__).resolve().parent.parent
    places = [root / name for name in (*JUDGING, f"papers/{slug}")]
    files = [
        file
        for place in places
        for file in ([place] if place.is_file() else sorted(place.rglob("*.py")))
    ]
    _, foreign = files_of(slug) or (root, [])
    return digest_files(code_version(slug), (*files, *foreign))
