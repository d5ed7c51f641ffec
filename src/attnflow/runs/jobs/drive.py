"""A plan carried out: runs are made, and then what waits for them is done."""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from attnflow.runs.jobs.make import MakeRun
from attnflow.runs.jobs.plan import Plan, pick
from attnflow.runs.jobs.work import Job, work
from attnflow.runs.processes import Here, Pool, Trouble, time_left

Progress = Callable[[float, str], None]


def answers(
    plan: Plan, team: Pool | Here, what: str, progress: Progress | None = None
) -> Iterator[tuple[Any, Any]]:
    """Each job but the making of runs, with what came of it, as they are done.

    **Arguments:**

    - `what`: what the jobs are called where progress is told, such as `claims`.
    - `progress`: called with the fraction done and how long the rest may take.
    """
    log = _Log.of(plan, what, progress)
    log.tell()
    said: set[str] = set()
    for job, answer in team.run(work, plan.waiting, pick):
        plan.settle(job)
        is_run = isinstance(job, MakeRun)
        log.add(plan.cost(job), counts=not is_run)
        if isinstance(answer, Trouble):
            if is_run:
                continue
            raise RuntimeError(
                f"{job} could not be {job.verb}. {answer.text}\n{answer.details}"
            )
        for text in answer.warnings:
            if text not in said:
                said.add(text)
                warnings.warn(text, stacklevel=2)
        if not is_run:
            yield job, answer.made


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
        if 0.0 < share < 1.0:
            text += f", {time_left(time.monotonic() - self.begun, share)}"
        self.progress(share, text)
