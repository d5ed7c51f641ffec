"""What a worker is asked for: to make a run, or to judge a claim with its runs."""

import time
import warnings
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from attnflow.claims import Row
from attnflow.claims.verify import verify
from attnflow.paper import Request
from attnflow.papers import paper as find_paper
from attnflow.runner import Runner
from attnflow.store import Store
from attnflow.verifying.verdicts import Verdicts


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

    def do(self) -> None:
        """Make it; this worker has it at hand from then on."""
        _runner(self.root).run(find_paper(self.slug), self.request)


@dataclass(frozen=True)
class Judge:
    """Judge a claim and store the row under `key`."""

    slug: str
    id: str
    seeds: int
    root: Path
    key: str

    def do(self) -> Row:
        """The row; runs are read, or made where making them apart had failed."""
        paper = find_paper(self.slug)
        gather = partial(_runner(self.root).gather, paper)
        row = verify(paper.claim(self.id), paper.slug, gather, self.seeds)
        Verdicts(self.root).write(self.key, row)
        return row


Job = MakeRun | Judge


@dataclass(frozen=True)
class Done:
    """What came of a job: a row where a claim was judged, time, and warnings."""

    row: Row | None
    seconds: float
    warnings: tuple[str, ...]


def work(job: Job) -> Done:
    """Do a job."""
    begun = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        row = job.do()
    # Nobody reads a worker's terminal: the driver says each of them once.
    texts = dict.fromkeys(str(warning.message) for warning in caught)
    return Done(row, time.perf_counter() - begun, tuple(texts))


@cache
def _runner(root: Path) -> Runner:
    return Runner(Store(root))
