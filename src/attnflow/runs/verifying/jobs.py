"""Claims as jobs."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from attnflow.claims import Row, verify
from attnflow.papers import paper as find_paper
from attnflow.runs.jobs import runner_of
from attnflow.runs.verifying.verdicts import Verdicts


@dataclass(frozen=True)
class Judge:
    """Judge a claim and store the row under `key`."""

    slug: str
    id: str
    seeds: int
    root: Path
    key: str

    # As measured over the claims of five papers.
    usual_seconds = 0.1
    verb = "judged"

    def __str__(self) -> str:
        return f"{self.slug}/{self.id}"

    def do(self) -> Row:
        """The row; runs are read, or made where making them apart had failed."""
        paper = find_paper(self.slug)
        gather = partial(runner_of(self.root).gather, paper)
        row = verify(paper.claim(self.id), paper.slug, gather, self.seeds)
        Verdicts(self.root).write(self.key, row)
        return row
