"""`attnflow reproduce`: figures and tables of papers, and a site of pages."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attnflow.cli.output import (
    ABSENT,
    OTHERWISE,
    Json,
    Output,
    Table,
    Workers,
    guarded,
    in_background,
    seconds,
    shown_progress,
)
from attnflow.cli.profiled import Profiled, show_profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from attnflow.site.pages import ExhibitResult

OUTPUT = Path("attnflow-output")
QUICK = OUTPUT / "quick"


@guarded
def reproduce(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="PAPER[/EXHIBIT]", help="mixture/figure1a, say (default: all)."
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Use smaller runs.")] = False,
    maps: Annotated[
        bool, typer.Option("--maps", help="Include maps (minutes each).")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help=f"Output directory (default: {OUTPUT}, or {QUICK})."
        ),
    ] = None,
    profile: Profiled = False,
    workers: Workers = None,
    json: Json = None,
) -> int:
    """Draw figures and tables beside the printed numbers, and write a site.

    Exhibits that are up to date are kept; an interrupted command resumes.
    Maps are sweeps and take minutes: ask for one by name, or for all by --maps.
    """
    from attnflow.runs.profile import Profile
    from attnflow.site.reproduce import reproduce as reproduce_papers

    output = Output(json)
    times = Profile() if profile else None
    with shown_progress() as bar:
        if target is not None and "/" in target:
            bar.begin(target)
        done = reproduce_papers(
            target,
            quick=quick,
            maps=maps,
            out=out,
            workers=workers,
            progress=bar,
            report=lambda result: bar.say(
                f"{result.paper}/{result.id}  {' '.join(map(str, result.files))}"
            ),
            profile=times,
            call=in_background,
        )
    content: dict[str, Any] = {"exhibits": [as_json(result) for result in done.results]}
    output.show(exhibit_table(done.results))
    if times is not None:
        content["profile"] = show_profile(output, times)
    output.give(content)
    for page in done.pages:
        output.say(f"page  {page}")
    return OTHERWISE if any(result.surprises for result in done.results) else 0


def as_json(result: "ExhibitResult") -> dict[str, Any]:
    """An exhibit as `--json` gives it."""
    names = ("paper", "id", "files", "values", "printed", "checks", "agrees", "seconds")
    stated = [asdict(row) for row in result.stated]
    return {**{name: getattr(result, name) for name in names}, "stated": stated}


def exhibit_table(results: "Sequence[ExhibitResult]") -> Table:
    """Exhibits, and whether they are as the paper prints them."""
    rows = [
        (
            f"{result.paper}/{result.id}",
            {True: "agrees", False: "DIFFERS", None: ABSENT}[result.agrees],
            seconds(result.seconds),
            " ".join(map(str, result.files)),
        )
        for result in results
    ]
    return Table(("figure or table", "with the paper", "time", "files"), rows)
