"""From figures and tables that are wanted to their files: side by side, or here."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnflow.papers import paper as find_paper
from attnflow.papers.base import Paper
from attnflow.runs.jobs import Needs, answers, make_plan, runner_of
from attnflow.runs.processes import Here, Pool
from attnflow.runs.runner import Runner
from attnflow.runs.store import Store
from attnflow.schema.declarations import Exhibit, Request
from attnflow.schema.installation import MissingData
from attnflow.site.gathering import gather
from attnflow.site.pages import ExhibitResult, earlier_result, keep_reason, make_exhibit
from attnflow.site.reproducing.identity import exhibit_key, requests_of

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Wanted:
    """A figure or table of a paper, and the folder for its files."""

    paper: Paper
    exhibit: Exhibit
    directory: Path

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        return f"{self.paper.slug}/{self.exhibit.id}"

    def key(self, *, quick: bool) -> str:
        """What it hangs on."""
        return exhibit_key(self.paper, self.exhibit, quick=quick)

    def job(self, root: Path, *, quick: bool) -> "Draw":
        """The job of drawing it."""
        return Draw(self.paper.slug, self.exhibit.id, self.directory, root, quick)

    def needs(self, *, quick: bool) -> tuple[Paper, list[Request]]:
        """The runs that it waits for."""
        return self.paper, list(requests_of(self.exhibit, quick=quick).values())


@dataclass(frozen=True)
class Draw:
    """Draw an exhibit from its runs and write its files."""

    slug: str
    id: str
    directory: Path
    root: Path
    quick: bool

    # As measured over the exhibits of five papers, each drawn for light and dark.
    usual_seconds = 2.0
    verb = "drawn"

    def __str__(self) -> str:
        return f"{self.slug}/{self.id}"

    def do(self) -> ExhibitResult | None:
        """The result; runs are read, or made where making them apart had failed."""
        paper = find_paper(self.slug)
        wanted = Wanted(paper, paper.exhibit(self.id), self.directory)
        return draw_or_leave(wanted, runner_of(self.root, quick=self.quick))


def reproduce_exhibits(
    wanted: Sequence[Wanted],
    team: Pool | Here,
    *,
    quick: bool = False,
    store: Store | None = None,
    progress: Progress | None = None,
) -> list[ExhibitResult]:
    """Make figures and tables side by side, from runs that are made once for all.

    Runs are stored, and each exhibit's files are complete or absent: what was done when
    it was interrupted or killed is not done again, nor what did not change since.

    **Returns:** the results, in the order of what is wanted; what needs a data set that
    is not here is left out with a warning.
    """
    root = (store or Store()).root
    found = {item.name: up_to_date(item, quick=quick) for item in wanted}
    needs: Needs = {
        item.job(root, quick=quick): item.needs(quick=quick)
        for item in wanted
        if found[item.name] is None
    }
    for job, result in answers(make_plan(needs, root), team, "exhibits", progress):
        found[str(job)] = result
    return [result for item in wanted if (result := found[item.name]) is not None]


def up_to_date(wanted: Wanted, *, quick: bool) -> ExhibitResult | None:
    """What lies in the folder already, made from the same settings by the same code."""
    earlier = earlier_result(wanted.paper.slug, wanted.exhibit.id, wanted.directory)
    same = earlier is not None and earlier.key == wanted.key(quick=quick)
    return earlier if same else None


def draw_or_leave(wanted: Wanted, runner: Runner) -> ExhibitResult | None:
    """Draw an exhibit; one whose data set is not here is left out with a warning.

    The reason is kept in its folder, so that its page says it.
    """
    try:
        return draw(wanted, runner)
    except MissingData as error:
        keep_reason(wanted.exhibit.id, error.what, wanted.directory)
        warnings.warn(f"{wanted.name} is left out: {error}", stacklevel=2)
        return None


def draw(wanted: Wanted, runner: Runner) -> ExhibitResult:
    """Draw an exhibit from runs and sweeps that the `runner` makes or reads."""
    evidence = gather(runner, wanted.paper, wanted.exhibit)
    # A runner with seeds of its own makes something else, which nobody asks for again.
    key = wanted.key(quick=runner.quick) if runner.seeds is None else ""
    return make_exhibit(
        wanted.paper,
        wanted.exhibit,
        evidence,
        wanted.directory,
        quick=runner.quick,
        key=key,
    )
