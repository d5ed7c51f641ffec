"""From claims to their rows: what is judged already is read, the rest shared out."""

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from attnflow.claims import Claim, Row
from attnflow.paper import Paper
from attnflow.processes import Here, Pool, Trouble, time_left
from attnflow.store import Store
from attnflow.verifying.identity import verdict_key
from attnflow.verifying.jobs import Done, Judge, work
from attnflow.verifying.plan import Case, Plan, make_plan, pick
from attnflow.verifying.verdicts import Verdicts

Chosen = Sequence[tuple[Paper, Sequence[Claim]]]
Progress = Callable[[float, str], None]


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
    plan = make_plan(new, seeds=seeds, root=root)
    for row, key in _judged(plan, team, _Log.of(plan, len(new), progress)):
        rows[key] = row
    return [rows[case.key] for case in cases]


def _judged(plan: Plan, team: Pool | Here, log: "_Log") -> Iterable[tuple[Row, str]]:
    """Rows with their keys, as they come."""
    log.tell()
    said: set[str] = set()
    for job, answer in team.run(work, plan.waiting, pick):
        plan.settle(job)
        log.add(plan.cost(job), is_claim=isinstance(job, Judge))
        for text in () if isinstance(answer, Trouble) else answer.warnings:
            if text not in said:
                said.add(text)
                warnings.warn(text, stacklevel=2)
        if isinstance(job, Judge):
            yield _row_of(job, answer), job.key


def _row_of(job: Judge, answer: Done | Trouble) -> Row:
    if isinstance(answer, Trouble) or answer.row is None:
        trouble = answer if isinstance(answer, Trouble) else Trouble("no row")
        raise RuntimeError(
            f"{job.slug}/{job.id} could not be judged. {trouble.text}\n"
            f"{trouble.details}"
        )
    return answer.row


@dataclass
class _Log:
    """What has come in so far, and the estimate of what is left."""

    claims: int
    cost: float
    progress: Progress | None
    begun: float = field(default_factory=time.monotonic)
    judged: int = 0
    done: float = 0.0

    @classmethod
    def of(cls, plan: Plan, claims: int, progress: Progress | None) -> "_Log":
        """The log of a plan before its first job."""
        return cls(claims, sum(map(plan.cost, plan.jobs)), progress)

    def add(self, cost: float, *, is_claim: bool) -> None:
        """Count a job in."""
        self.judged += is_claim
        self.done += cost
        self.tell()

    def tell(self) -> None:
        """Show how far it is."""
        if self.progress is None or not self.claims:
            return
        share = self.done / self.cost
        text = f"{self.judged} of {self.claims} claims"
        if 0.0 < share < 1.0:
            text += f", {time_left(time.monotonic() - self.begun, share)}"
        self.progress(share, text)
