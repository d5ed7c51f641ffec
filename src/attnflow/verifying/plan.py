"""Which runs the claims need, each of them once, and in which order."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnflow.claims import Claim
from attnflow.claims.verify import with_seeds
from attnflow.paper import Paper, Request
from attnflow.setting import canonical_json, digest
from attnflow.store import Store
from attnflow.verifying.identity import described
from attnflow.verifying.jobs import Job, Judge, MakeRun

Costs = Mapping[tuple[str, str], float]
"""Seconds of a run, by paper and experiment."""


@dataclass(frozen=True)
class Case:
    """A claim of a paper, and the key of its verdict."""

    paper: Paper
    claim: Claim
    key: str


@dataclass
class Plan:
    """Jobs that can be done at once, and claims that wait for runs.

    `waiting` is what a pool takes its tasks from; `lacking` has for each claim that
    waits the keys of those of its runs that are not made.
    """

    waiting: list[Job]
    lacking: dict[Judge, set[str]]
    costs: Costs

    @property
    def jobs(self) -> list[Job]:
        """All jobs that are left."""
        return [*self.waiting, *self.lacking]

    def settle(self, done: Job) -> None:
        """Let claims be judged whose last run was made; or tried, and failed.

        A run that could not be made is tried once more by who judges, and its error
        told there.
        """
        if isinstance(done, Judge):
            return
        for judge, runs in list(self.lacking.items()):
            runs.discard(done.key)
            if not runs:
                self.waiting.append(judge)
                del self.lacking[judge]

    def cost(self, job: Job) -> float:
        """Seconds that a job is guessed to take."""
        return _cost(job, self.costs)


def make_plan(cases: Iterable[Case], *, seeds: int, root: Path) -> Plan:
    """The plan for claims that have no verdict yet: dear families of runs first."""
    costs = past_costs(Store(root))
    runs: dict[str, MakeRun] = {}
    lacking: dict[Judge, set[str]] = {}
    for case in cases:
        judge = Judge(case.paper.slug, case.claim.id, seeds, root, case.key)
        needs = with_seeds(case.claim.needs, seeds).values()
        own = [_make(case.paper, request, root) for request in needs]
        runs |= {run.key: run for run in own}
        lacking[judge] = {run.key for run in own}
    return Plan(_ordered(runs.values(), costs), lacking, costs)


def pick(waiting: Sequence[Job], last: Job | None, others: Sequence[Job]) -> int:
    """Which job a worker takes next: a claim to judge, or a run like its last one.

    Otherwise a run unlike those of others: two workers would compile one program.
    """
    taken = {job.family for job in others if isinstance(job, MakeRun)}
    own = last.family if isinstance(last, MakeRun) else None

    def rank(place: int) -> tuple[bool, bool, bool, int]:
        job = waiting[place]
        if isinstance(job, Judge):
            return False, False, False, place
        return True, job.family != own, job.family in taken, place

    return min(range(len(waiting)), key=rank)


def past_costs(store: Store) -> dict[tuple[str, str], float]:
    """What stored runs took on average, by paper and experiment."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run in store.list():
        found[run["paper"], run["experiment"]].append(float(run["seconds"]))
    return {name: sum(times) / len(times) for name, times in found.items()}


def _make(paper: Paper, request: Request, root: Path) -> MakeRun:
    asked: dict[str, Any] = described(paper, request)
    key = digest(paper.slug, canonical_json(asked))
    names = sorted(request.overrides)
    family = (paper.slug, request.experiment, *names, str(len(asked["seeds"])))
    return MakeRun(paper.slug, request, root, key, family)


def _ordered(runs: Iterable[MakeRun], costs: Costs) -> list[Job]:
    """Families one after the other, the dearest first."""
    families: dict[tuple[str, ...], list[MakeRun]] = defaultdict(list)
    for run in runs:
        families[run.family].append(run)

    def total(family: list[MakeRun]) -> float:
        return sum(_cost(run, costs) for run in family)

    dearest = sorted(families.values(), key=total, reverse=True)
    return [run for family in dearest for run in family]


def _cost(job: Job, costs: Costs) -> float:
    if isinstance(job, Judge):
        return _JUDGING
    usual = sum(costs.values()) / len(costs) if costs else 1.0
    return costs.get((job.slug, job.request.experiment), usual)


_JUDGING = 0.1
"""Seconds, as measured over the claims of five papers."""
