"""`attnflow reproduce`: figures and tables of papers, and a site of pages."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attnflow.cli import text
from attnflow.cli.background import in_background
from attnflow.cli.guard import OTHERWISE, guarded
from attnflow.cli.output import Json, Output
from attnflow.cli.progress import Bar, shown_progress
from attnflow.cli.tables import Table
from attnflow.cli.target import chosen_papers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from attnflow.paper import Exhibit, Paper
    from attnflow.report import ExhibitResult, Place
    from attnflow.runner import Runner

OUTPUT = Path("attnflow-output")
QUICK = OUTPUT / "quick"
"""Apart, so that smaller runs never take the place of the papers' own."""


@guarded
def reproduce(
    target: Annotated[str | None, typer.Argument(metavar="[PAPER[/EXHIBIT]]")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller runs.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help=f"Where to; without it {OUTPUT}, or {QUICK} of --quick."
        ),
    ] = None,
    json: Json = None,
) -> int:
    """Make papers' figures and tables, beside what the papers print, and a site."""
    from attnflow.reproducing import write_pages
    from attnflow.runner import Runner

    output = Output(json)
    made, places = [], []
    with shown_progress() as bar:
        runner = Runner(quick=quick, progress=bar, call=in_background)
        for paper, id in chosen_papers(target):
            place = output_place(out, paper, alone=target is not None, quick=quick)
            exhibits = paper.exhibits if id is None else (paper.exhibit(id),)
            made += make_exhibits(paper, exhibits, runner, place, bar)
            places.append((paper, place))
    pages = write_pages(places)
    output.give({"exhibits": [as_json(result) for result in made]})
    output.show(exhibit_table(made))
    for page in pages:
        output.say(f"page  {page}")
    return OTHERWISE if any(result.agrees is False for result in made) else 0


def output_place(
    out: Path | None, paper: "Paper", *, alone: bool, quick: bool = False
) -> "Place":
    """Where a paper's files go, made if need be; a paper alone may have any folder."""
    from attnflow.report import Place

    site = out or (QUICK if quick else OUTPUT)
    directory = site if alone and out else site / paper.slug
    directory.mkdir(parents=True, exist_ok=True)
    return Place(directory, site)


def make_exhibits(
    paper: "Paper",
    exhibits: "Sequence[Exhibit]",
    runner: "Runner",
    place: "Place",
    bar: Bar,
) -> "list[ExhibitResult]":
    """Exhibits of a paper as files, one after the other."""
    from attnflow.report import make_exhibit

    made = []
    for k, exhibit in enumerate(exhibits):
        bar.begin(f"{paper.slug}/{exhibit.id} ({k + 1} of {len(exhibits)})")
        evidence = runner.gather(paper, exhibit.needs)
        made.append(
            make_exhibit(paper, exhibit, evidence, place.directory, quick=runner.quick)
        )
    return made


def as_json(result: "ExhibitResult") -> dict[str, Any]:
    """An exhibit as `--json` gives it."""
    names = ("paper", "id", "files", "values", "printed", "agrees", "seen", "seconds")
    return {name: getattr(result, name) for name in names}


def exhibit_table(results: "list[ExhibitResult]") -> Table:
    """Exhibits, and whether they are as the paper prints them."""
    rows = [
        (
            f"{result.paper}/{result.id}",
            {True: "agrees", False: "DIFFERS", None: text.ABSENT}[result.agrees],
            text.seconds(result.seconds),
            " ".join(map(str, result.files)),
        )
        for result in results
    ]
    return Table(("figure or table", "with the paper", "time", "files"), rows)
