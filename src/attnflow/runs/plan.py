"""Work that needs runs, shared out to processes: each run once, then what waits for it.

A job is plain data that a worker carries out: `MakeRun` computes and stores a run;
judging a claim and drawing an exhibit are jobs that wait for runs.
"""

import time
import warnings
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from attnflow.papers import paper as find_paper
from attnflow.papers.base import Paper
from attnflow.runs.pool import Here, Pool, Trouble
from attnflow.runs.profile import Profile, Spent, spending
from attnflow.runs.progress import Progress
from attnflow.runs.runner import Runner, described
from attnflow.runs.store import Store
from attnflow.schema.declarations import Request
from attnflow.schema.settings import canonical_json, digest


class Job(Hashable, Protocol):
    """Something to do in a process of its own; it is sent there, and so plain data.

    Its text names what it is about, and `verb` says what is done to that: `judged`.
    """

    @property
    def verb(self) -> str:
        """What is done, as in: it could not be judged."""
        ...

    @property
    def usual_seconds(self) -> float:
        """How long it is guessed to take where nothing better is known."""
        ...

    def do(self) -> Any:
        """Do it, and say what came of it."""
        ...


@dataclass(frozen=True)
class Done:
    """What came of a job, what it took, and its warnings."""

    result: Any
    spent: Spent
    warnings: tuple[str, ...]


def work(job: Job) -> Done:
    """Do a job."""
    with spending(job.verb) as spent, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        result = job.do()
    # Nobody reads a worker's terminal: the driver shows each warning once.
    texts = dict.fromkeys(str(warning.message) for warning in caught)
    return Done(result, spent, tuple(texts))


KEPT_BYTES = 2**28
"""Bytes of runs that a worker keeps in memory: those of all claims are gigabytes."""


@dataclass(frozen=True)
class MakeRun:
    """Make a run of a paper and store it, unless it is stored.

    `key` tells runs apart; runs of one `family` are likely to share a compiled program.
    """

    slug: str
    request: Request
    root: Path
    key: str
    family: tuple[str, ...]

    usual_seconds = 1.0
    verb = "computed"

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        changes = " ".join(f"{k}={v}" for k, v in self.request.overrides.items())
        return f"{self.slug}/{self.request.experiment} {changes}".rstrip()

    def do(self) -> None:
        """Compute it, or read it; this worker keeps it in memory."""
        runner_of(self.root).run(find_paper(self.slug), self.request)


@cache
def runner_of(root: Path, *, quick: bool = False) -> Runner:
    """The runner of this process for a store, which keeps the last runs in memory."""
    return Runner(Store(root), quick=quick, memory=KEPT_BYTES)


Costs = Mapping[tuple[str, str], float]
"""Seconds of a run, by paper and experiment."""

Needs = tuple[Paper, Sequence[Request]]
"""The runs of a paper that a job waits for."""


@dataclass
class Plan:
    """Jobs that can be done at once, and jobs that wait for runs.

    `waiting` is what a pool takes its tasks from; `lacking` has for each job that
    waits the keys of those of its runs that are not computed.
    """

    waiting: list[Job]
    lacking: dict[Job, set[str]]
    costs: Costs

    @property
    def jobs(self) -> list[Job]:
        """All jobs that are left."""
        return [*self.waiting, *self.lacking]

    def settle(self, done: Job) -> None:
        """Let jobs be done whose last run was computed, or failed.

        A run that could not be computed is tried once more by the job that needs it,
        and its error reported there.
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


def make_plan(jobs: Mapping[Job, Needs], root: Path) -> Plan:
    """The plan for jobs and the runs that they need: dear families of runs first."""
    costs = past_costs(Store(root))
    runs: dict[str, MakeRun] = {}
    lacking: dict[Job, set[str]] = {}
    for job, (paper, requests) in jobs.items():
        needed = {run.key: run for run in (_make(paper, r, root) for r in requests)}
        runs |= needed
        lacking[job] = set(needed)
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
    family = last.family if isinstance(last, MakeRun) else None

    def rank(index: int) -> tuple[bool, bool, bool, int]:
        job = waiting[index]
        if not isinstance(job, MakeRun):
            return True, False, False, index
        return job.family != family, True, job.family in taken, index

    return min(range(len(waiting)), key=rank)


def past_costs(store: Store) -> dict[tuple[str, str], float]:
    """What stored runs took on average, by paper and experiment."""
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run in store.list():
        seconds[run["paper"], run["experiment"]].append(float(run["seconds"]))
    return {name: sum(times) / len(times) for name, times in seconds.items()}


def _make(paper: Paper, request: Request, root: Path) -> MakeRun:
    run = described(paper, request)
    key = digest(paper.slug, canonical_json(run))
    names = sorted(request.overrides)
    family = (paper.slug, request.experiment, *names, str(len(run["seeds"])))
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


def carry_out(
    plan: Plan,
    team: Pool | Here,
    what: str,
    progress: Progress | None = None,
    profile: Profile | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Each job but the making of runs, with what came of it, as they are done.

    **Arguments:**

    - `what`: what the jobs are called where progress is shown, such as `claims`.
    - `progress`: called with the fraction done and how long the rest may take.
    - `profile`: takes down what each job takes, the making of runs among them.
    """
    log = _Log.of(plan, what, progress)
    log.tell()
    if profile is not None:
        profile.needs |= {str(job): set(keys) for job, keys in plan.lacking.items()}
    said: set[str] = set()
    for job, answer in team.run(work, plan.waiting, pick):
        plan.settle(job)
        is_run = isinstance(job, MakeRun)
        log.add(plan.cost(job), counts=not is_run)
        if isinstance(answer, Trouble):
            if is_run:
                continue
            if answer.cause is not None:
                raise answer.cause
            raise RuntimeError(
                f"{job} could not be {job.verb}. {answer.text}\n{answer.details}"
            )
        if profile is not None:
            profile.add(str(job), job.key if is_run else None, answer.spent)
        for text in answer.warnings:
            if text not in said:
                said.add(text)
                warnings.warn(text, stacklevel=2)
        if not is_run:
            yield job, answer.result


ENOUGH = 0.02
"""The share from which on the rest is estimated: at first workers start and compile."""


@dataclass
class _Log:
    """What has come in so far, and the estimate of what is left."""

    what: str
    total: int
    cost: float
    progress: Progress | None
    begun: float = field(default_factory=time.monotonic)
    count: int = 0
    done: float = 0.0

    @classmethod
    def of(cls, plan: Plan, what: str, progress: Progress | None) -> "_Log":
        """The log of a plan before its first job."""
        jobs: list[Job] = plan.jobs
        total = sum(not isinstance(job, MakeRun) for job in jobs)
        return cls(what, total, sum(map(plan.cost, jobs)), progress)

    def add(self, cost: float, *, counts: bool) -> None:
        """Count a job in."""
        self.count += counts
        self.done += cost
        self.tell()

    def tell(self) -> None:
        """Show how far it is."""
        if self.progress is None or not self.total:
            return
        share = self.done / self.cost
        text = f"{self.count} of {self.total} {self.what}"
        if ENOUGH <= share < 1.0:
            text += f", {time_left(time.monotonic() - self.begun, share)}"
        self.progress(share, text)


def time_left(spent: float, share: float) -> str:
    """What is left after a `share` of the work took `spent` seconds.

    `time_left(60.0, 0.25)` is `about 3 min left`.
    """
    seconds = spent * (1.0 - share) / share
    if seconds < 90:
        return f"about {seconds:.0f} s left"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min left"
    return f"about {seconds / 3600:.1f} h left"
