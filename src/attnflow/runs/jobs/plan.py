"""Which runs jobs need, each of them once, and in which order they are made."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attnflow.papers.base import Paper
from attnflow.runs.jobs.make import MakeRun
from attnflow.runs.jobs.work import Job
from attnflow.runs.store import Store
from attnflow.schema.declarations import Request
from attnflow.schema.settings import canonical_json, digest, seed_numbers

Costs = Mapping[tuple[str, str], float]
"""Seconds of a run, by paper and experiment."""

Needs = Mapping[Job, tuple[Paper, Iterable[Request]]]
"""Jobs, each with the runs of a paper that it waits for."""


@dataclass
class Plan:
    """Jobs that can be done at once, and jobs that wait for runs.

    `waiting` is what a pool takes its tasks from; `lacking` has for each job that
    waits the keys of those of its runs that are not made.
    """

    waiting: list[Job]
    lacking: dict[Job, set[str]]
    costs: Costs

    @property
    def jobs(self) -> list[Job]:
        """All jobs that are left."""
        return [*self.waiting, *self.lacking]

    def settle(self, done: Job) -> None:
        """Let jobs be done whose last run was made; or tried, and failed.

        A run that could not be made is tried once more by the job that needs it, and
        its error told there.
        """
        if not isinstance(done, MakeRun):
            return
        for job, runs in list(self.lacking.items()):
            runs.discard(done.key)
            if not runs:
                self.waiting.append(job)
                del self.lacking[job]

    def cost(self, job: Job) -> float:
        """Seconds that a job is guessed to take."""
        return _cost(job, self.costs)


def make_plan(needs: Needs, root: Path) -> Plan:
    """The plan for jobs and the runs that they need: dear families of runs first."""
    costs = past_costs(Store(root))
    runs: dict[str, MakeRun] = {}
    lacking: dict[Job, set[str]] = {}
    for job, (paper, requests) in needs.items():
        own = [_make(paper, request, root) for request in requests]
        runs |= {run.key: run for run in own}
        lacking[job] = {run.key for run in own}
    free = [job for job, keys in lacking.items() if not keys]
    for job in free:
        del lacking[job]
    return Plan([*free, *_ordered(runs.values(), costs)], lacking, costs)


def pick(waiting: Sequence[Job], last: Job | None, others: Sequence[Job]) -> int:
    """Which job a worker takes next: a run like its last one, or what waited for runs.

    Otherwise a run unlike those of others: two workers would compile one program. For
    the same reason a worker ends its family of runs before it does anything else.
    """
    taken = {job.family for job in others if isinstance(job, MakeRun)}
    own = last.family if isinstance(last, MakeRun) else None

    def rank(place: int) -> tuple[bool, bool, bool, int]:
        job = waiting[place]
        if not isinstance(job, MakeRun):
            return True, False, False, place
        return job.family != own, True, job.family in taken, place

    return min(range(len(waiting)), key=rank)


def past_costs(store: Store) -> dict[tuple[str, str], float]:
    """What stored runs took on average, by paper and experiment."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run in store.list():
        found[run["paper"], run["experiment"]].append(float(run["seconds"]))
    return {name: sum(times) / len(times) for name, times in found.items()}


def described(paper: Paper, request: Request) -> dict[str, Any]:
    """A run that is asked for, as plain data: experiment, setting and seeds."""
    recipe = paper.recipe(request.experiment)
    return {
        "experiment": request.experiment,
        "setting": asdict(recipe.with_overrides(request.overrides)),
        "seeds": seed_numbers(request.seeds),
    }


def _make(paper: Paper, request: Request, root: Path) -> MakeRun:
    asked = described(paper, request)
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
    if not isinstance(job, MakeRun):
        return job.usual_seconds
    usual = sum(costs.values()) / len(costs) if costs else job.usual_seconds
    return costs.get((job.slug, job.request.experiment), usual)
