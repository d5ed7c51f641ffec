"""From claims to their rows: what is judged already is read, the rest shared out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnflow.claims import Claim, Row, with_seeds
from attnflow.papers.base import Paper
from attnflow.runs.jobs import answers, make_plan
from attnflow.runs.processes import Here, Pool
from attnflow.runs.store import Store
from attnflow.runs.verifying.identity import verdict_key
from attnflow.runs.verifying.jobs import Judge
from attnflow.runs.verifying.verdicts import Verdicts
from attnflow.schema.declarations import Request

Chosen = Sequence[tuple[Paper, Sequence[Claim]]]
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Case:
    """A claim of a paper, and the key of its verdict."""

    paper: Paper
    claim: Claim
    key: str

    def job(self, seeds: int, root: Path) -> Judge:
        """The job of judging it."""
        return Judge(self.paper.slug, self.claim.id, seeds, root, self.key)

    def needs(self, seeds: int) -> tuple[Paper, list[Request]]:
        """The runs that it waits for."""
        return self.paper, list(with_seeds(self.claim.needs, seeds).values())


def verify_claims(
    chosen: Chosen,
    team: Pool | Here,
    *,
    seeds: int,
    store: Store | None = None,
    changed: bool = False,
    progress: Progress | None = None,
) -> list[Row]:
    """Judge claims of papers, side by side, in runs that are made once for all.

    What is complete is stored at once: runs, and verdicts under the digest of claim,
    settings and code. Whoever is killed goes on where it was.

    **Arguments:**

    - `team`: who does the work.
    - `seeds`: how many, for claims that leave it open.
    - `changed`: leave out claims that have a verdict for their present code.
    - `progress`: called with the fraction done and how long the rest may take.

    **Returns:** the rows, in the order of the claims.
    """
    root = (store or Store()).root
    verdicts = Verdicts(root)
    cases = [
        Case(paper, claim, verdict_key(paper, claim, seeds))
        for paper, claims in chosen
        for claim in claims
    ]
    known = {case.key: verdicts.read(case.key) for case in cases}
    rows = {key: row for key, row in known.items() if row is not None}
    new = [case for case in cases if case.key not in rows]
    if changed:
        rows, cases = {}, new
    plan = make_plan({c.job(seeds, root): c.needs(seeds) for c in new}, root)
    for judge, row in answers(plan, team, "claims", progress):
        rows[judge.key] = row
    return [rows[case.key] for case in cases]
