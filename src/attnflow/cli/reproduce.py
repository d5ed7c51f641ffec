"""`attnflow reproduce`: figures and tables of papers, and a site of pages."""

import warnings
from contextlib import closing
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
    from collections.abc import Sequence

    from attnflow.papers.base import Paper
    from attnflow.site.pages import ExhibitResult, Place
    from attnflow.site.reproducing import Wanted

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
        int | None, typer.Option(min=1, help="How many processes.")
    ] = None,
    json: Json = None,
) -> int:
    """Make papers' figures and tables, beside what the papers print, and a site.

    What is there already and did not change is left. Killed, it goes on where it was.
    Maps are sweeps, which take minutes: they are made by name, or with --maps.
    """
    from attnflow.site.reproducing import Wanted, write_pages

    output = Output(json)
    wanted, places = [], []
    for paper, id in chosen_papers(target):
        place = output_place(out, paper, alone=target is not None, quick=quick)
        every = paper.shown if maps else paper.exhibits
        exhibits = every if id is None else (paper.exhibit(id),)
        wanted += [Wanted(paper, exhibit, place.directory) for exhibit in exhibits]
        places.append((paper, place))
    made = make_exhibits(wanted, quick=quick, workers=workers)
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


def make_exhibits(
    wanted: "Sequence[Wanted]", *, quick: bool, workers: int | None
) -> "list[ExhibitResult]":
    """The results of what is wanted, made by processes.

    An exhibit of one run that is wanted alone is made here; so is each map, whose cells
    are shared out instead. Of several, what needs a data set that is not here is left
    out with a warning.
    """
    from attnflow.cli.judging import make_team
    from attnflow.runs.runner import Runner
    from attnflow.site.reproducing import (
        draw,
        draw_or_leave,
        reproduce_exhibits,
        up_to_date,
    )

    alone = len(wanted) == 1
    shared, here = [], []
    for item in wanted:
        is_one = alone and len(item.exhibit.needs) < 2
        (here if item.exhibit.sweeps or is_one else shared).append(item)
    made: list[ExhibitResult | None] = []
    with shown_progress() as bar:
        if shared:
            with closing(make_team(workers)) as team, warnings.catch_warnings():
                if alone:
                    warnings.filterwarnings("ignore", message=".* is left out: ")
                made += reproduce_exhibits(shared, team, quick=quick, progress=bar)
        runner = Runner(quick=quick, progress=bar, call=in_background)
        make = draw if alone else draw_or_leave
        # What is wanted alone and lacks its data set says so here, as an error.
        for item in wanted if alone and not made else here:
            bar.begin(item.name)
            made.append(up_to_date(item, quick=quick) or make(item, runner))
    return [result for result in made if result is not None]


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
