"""`attnflow reproduce`: a paper's figures and tables."""

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
    from attnflow.report import ExhibitResult
    from attnflow.runner import Runner

OUTPUT = Path("attnflow-output")


@guarded
def reproduce(
    target: Annotated[str | None, typer.Argument(metavar="[PAPER[/EXHIBIT]]")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller runs.")] = False,
    maps: Annotated[
        bool, typer.Option("--maps", help="Its maps too, which take minutes each.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help=f"Where to; without it {OUTPUT}/PAPER."),
    ] = None,
    json: Json = None,
) -> int:
    """Make a paper's figures and tables, beside what the paper prints.

    Maps are sweeps: they are made by name or with --maps, and resume where they were.
    """
    from attnflow.report import write_page
    from attnflow.runner import Runner

    output = Output(json)
    made, pages = [], []
    with shown_progress() as bar:
        runner = Runner(quick=quick, progress=bar, call=in_background)
        chosen = chosen_papers(target)
        for paper, id in chosen:
            directory = output_directory(out, paper, alone=len(chosen) == 1)
            exhibits = (paper.exhibit(id),) if id else paper.exhibits
            exhibits = paper.shown if maps and not id else exhibits
            results = make_exhibits(paper, exhibits, runner, directory, bar)
            commands = {r.id: command_of(r, quick=quick) for r in results}
            pages.append(write_page(paper, results, [], directory, commands=commands))
            made += results
    output.give({"exhibits": [as_json(result) for result in made]})
    output.show(exhibit_table(made))
    for page in pages:
        output.say(f"page  {page}")
    return OTHERWISE if any(result.agrees is False for result in made) else 0


def output_directory(out: Path | None, paper: "Paper", *, alone: bool) -> Path:
    """The directory for a paper's files, made if need be."""
    directory = (out or OUTPUT) if alone and out else (out or OUTPUT) / paper.slug
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def make_exhibits(
    paper: "Paper",
    exhibits: "Sequence[Exhibit]",
    runner: "Runner",
    directory: Path,
    bar: Bar,
) -> "list[ExhibitResult]":
    """Exhibits of a paper as files."""
    from attnflow.gathering import gather
    from attnflow.report import make_exhibit

    made = []
    for k, exhibit in enumerate(exhibits):
        bar.begin(f"{paper.slug}/{exhibit.id} ({k + 1} of {len(exhibits)})")
        evidence = gather(runner, paper, exhibit)
        made.append(make_exhibit(paper, exhibit, evidence, directory))
    return made


def command_of(result: "ExhibitResult", *, quick: bool) -> str:
    """The command that makes this exhibit, for its page."""
    return f"attnflow reproduce {result.paper}/{result.id}" + " --quick" * quick


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
