"""`attnflow reproduce`: figures and tables of papers, and a site of pages."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attnflow.cli import text
from attnflow.cli.background import in_background
from attnflow.cli.guard import OTHERWISE, guarded
from attnflow.cli.output import Json, Output, shown_progress
from attnflow.cli.target import chosen_papers
from attnflow.cli.text import Table

if TYPE_CHECKING:
    from attnflow.papers.base import Paper
    from attnflow.site.pages import ExhibitResult, Place

OUTPUT = Path("attnflow-output")
QUICK = OUTPUT / "quick"
"""Apart, so that smaller runs never take the place of the papers' own."""


@guarded
def reproduce(
    target: Annotated[str | None, typer.Argument(metavar="[PAPER[/EXHIBIT]]")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller runs.")] = False,
    maps: Annotated[
        bool, typer.Option("--maps", help="Its maps too, which take minutes each.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help=f"Where to; without it {OUTPUT}, or {QUICK} of --quick."
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=0, help="Processes; 0: this one.")
    ] = None,
    json: Json = None,
) -> int:
    """Make papers' figures and tables, beside what the papers print, and a site.

    What is there already and did not change is left. Killed, it goes on where it was.
    Maps are sweeps, which take minutes: they are made by name, or with --maps.
    """
    from attnflow.site.reproduce import Drawing
    from attnflow.site.reproduce import reproduce as reproduce_exhibits
    from attnflow.site.write import write_pages

    output = Output(json)
    drawings, places = [], []
    for paper, id in chosen_papers(target):
        place = output_place(out, paper, alone=target is not None, quick=quick)
        every = paper.shown if maps else paper.exhibits
        exhibits = every if id is None else (paper.exhibit(id),)
        drawings += [Drawing(paper, e, place.directory, quick) for e in exhibits]
        places.append((paper, place))
    with shown_progress() as bar:
        if len(drawings) == 1:
            bar.begin(drawings[0].name)
        results = reproduce_exhibits(
            drawings, workers=workers, progress=bar, call=in_background
        )
    pages = write_pages(places)
    output.give({"exhibits": [as_json(result) for result in results]})
    output.show(exhibit_table(results))
    for page in pages:
        output.say(f"page  {page}")
    return OTHERWISE if any(result.agrees is False for result in results) else 0


def output_place(
    out: Path | None, paper: "Paper", *, alone: bool, quick: bool = False
) -> "Place":
    """Where a paper's files go, made if need be; a paper alone may have any folder."""
    from attnflow.site.pages import Place

    site = out or (QUICK if quick else OUTPUT)
    directory = site if alone and out else site / paper.slug
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ValueError(
            f"{directory} cannot be a folder: a file is in its way. Give another one "
            "with --out DIR."
        ) from error
    return Place(directory, site)


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
