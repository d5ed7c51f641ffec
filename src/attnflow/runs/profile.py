"""Where the time of many jobs goes, and their memory: `verify --profile`."""

import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from attnflow.schema.clock import COUNTS, SPENT, measured

PHASES = {
    "imported": "imports of a worker's first runs, and building experiments",
    "traced": "Python functions traced by JAX",
    "lowered": "traces translated for XLA",
    "compiled": "programs compiled by XLA, or read where they are kept",
    "computed": "the runs themselves, with draws and set-up",
    "stored": "runs written, with their stages and summaries",
    "read": "runs read from the store",
    "judged": "claims judged",
    "drawn": "exhibits drawn and their files written",
    "written": "explorers: kernels compiled, and played beside `af.run`",
}
"""What is done, in the order in which it is done."""


@dataclass
class Spent:
    """What a job took.

    - `seconds` by what was done; they add up to all of its time. `cpu`: those in which
      its process had a core, which other programs beside it do not change.
    - `programs` that were compiled, and those of them that were `kept` and only read.
    - `peak`: the most memory, in bytes, that its process has had so far, which the job
      has `grown` by so much; `process` is that process.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    programs: int = 0
    kept: int = 0
    peak: int = 0
    grown: int = 0
    process: int = 0
    cpu: float = 0.0

    @property
    def total(self) -> float:
        """All of its seconds."""
        return sum(self.seconds.values())


@contextmanager
def spending(what: str) -> Generator[Spent]:
    """Measure what the context takes; what nothing else accounts for is `what`."""
    spent = Spent(process=os.getpid())
    seconds, counts, peak = dict(SPENT), Counter(COUNTS), _peak()
    begun = time.process_time()
    try:
        with measured(what):
            yield spent
    finally:
        spent.seconds = {
            name: own
            for name, now in SPENT.items()
            if (own := now - seconds.get(name, 0.0)) > 0
        }
        spent.cpu = time.process_time() - begun
        spent.programs = COUNTS["compiled"] - counts["compiled"]
        spent.kept = COUNTS["kept"] - counts["kept"]
        spent.peak = _peak()
        spent.grown = spent.peak - peak


@dataclass
class Profile:
    """What jobs took: runs by their keys, and what waited for runs.

    - `jobs`: what each took, by its name, in the order in which they were done.
    - `runs`: seconds of runs by their keys; `needs`: keys of the runs of other jobs.
    - `begun`: when, on the clock of this process.
    """

    jobs: list[tuple[str, Spent]] = field(default_factory=list)
    runs: dict[str, float] = field(default_factory=dict)
    needs: dict[str, set[str]] = field(default_factory=dict)
    begun: float = field(default_factory=time.perf_counter)

    def add(self, name: str, key: str | None, spent: Spent) -> None:
        """Take down a job; `key` is that of a run."""
        self.jobs.append((name, spent))
        if key is not None:
            self.runs[key] = spent.total

    @property
    def phases(self) -> dict[str, float]:
        """Seconds of all jobs by what was done."""
        every = [spent.seconds for _, spent in self.jobs]
        total = {name: sum(s.get(name, 0.0) for s in every) for name in PHASES}
        return {name: seconds for name, seconds in total.items() if seconds}

    @property
    def experiments(self) -> dict[str, tuple[int, float, int]]:
        """Runs, seconds and programs of each experiment, the dearest first."""
        each: dict[str, tuple[int, float, int]] = {}
        for name, spent in self.jobs:
            if "computed" in spent.seconds:
                first = name.partition(" ")[0]
                runs, seconds, programs = each.get(first, (0, 0.0, 0))
                each[first] = runs + 1, seconds + spent.total, programs + spent.programs
        return dict(sorted(each.items(), key=lambda item: -item[1][1]))

    @property
    def with_runs(self) -> dict[str, float]:
        """Seconds of claims and exhibits with all of their runs, the dearest first.

        Runs that several of them need count for each.
        """
        own = {name: spent.total for name, spent in self.jobs if name in self.needs}
        total = {
            name: seconds + sum(self.runs.get(key, 0.0) for key in self.needs[name])
            for name, seconds in own.items()
        }
        return dict(sorted(total.items(), key=lambda item: -item[1]))

    @property
    def peak(self) -> int:
        """The most memory that one worker had, in bytes."""
        return max((spent.peak for _, spent in self.jobs), default=0)

    def as_json(self) -> Mapping[str, Any]:
        """All of it as plain values."""
        jobs = [{"job": n, "total": s.total, **asdict(s)} for n, s in self.jobs]
        return {
            "wall": time.perf_counter() - self.begun,
            "cpu": sum(spent.cpu for _, spent in self.jobs),
            "phases": self.phases,
            "programs": sum(spent.programs for _, spent in self.jobs),
            "kept": sum(spent.kept for _, spent in self.jobs),
            "peak": self.peak,
            "experiments": {
                name: {"runs": runs, "seconds": seconds, "programs": programs}
                for name, (runs, seconds, programs) in self.experiments.items()
            },
            "with_runs": self.with_runs,
            "jobs": sorted(jobs, key=lambda job: -job["total"]),
        }


def _peak() -> int:
    """The most memory that this process has had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most
