"""Runs as jobs."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from attnflow.papers import paper as find_paper
from attnflow.runs.runner import Runner
from attnflow.runs.store import Store
from attnflow.schema.declarations import Request

AT_HAND = 2**29
"""Bytes of runs that a worker keeps: those of all claims are some gigabytes."""


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
    verb = "made"

    def __hash__(self) -> int:
        return hash(self.key)

    def do(self) -> None:
        """Make it; this worker has it at hand from then on."""
        runner_of(self.root).run(find_paper(self.slug), self.request)


@cache
def runner_of(root: Path, *, quick: bool = False) -> Runner:
    """The runner of this process for a store, which keeps the last runs at hand."""
    return Runner(Store(root), quick=quick, memory=AT_HAND)
