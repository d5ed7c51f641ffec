"""`attnflow export-claims`: verdicts as folders for referees."""

from pathlib import Path
from typing import Annotated

import typer

from attnflow.cli.output import (
    OTHERWISE,
    Json,
    Output,
    Workers,
    guarded,
    shown_progress,
)
from attnflow.cli.verify import SEEDS, chosen_claims


@guarded
def export_claims(
    target: Annotated[str, typer.Argument(metavar="PAPER[/CLAIM]")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to fill.")],
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = SEEDS,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID*|KIND|SCOPE|ORIGIN|VERDICT",
            help="Such claims alone, as recorded.",
        ),
    ] = None,
    witness: Annotated[
        bool, typer.Option("--witness/--no-witness", help="Run second programs.")
    ] = True,
    runs: Annotated[
        bool, typer.Option("--runs", help="Write whole runs too, as netCDF files.")
    ] = False,
    workers: Workers = None,
    json: Json = None,
) -> int:
    """Write verdicts as folders that a referee can read without attnflow.

    Per claim: statement, conditions, code, numbers, trials, the second program and how
    to run it again. Stored verdicts and runs are read. Killed, it goes on where it was.
    """
    from attnflow.claims import ClaimsTable
    from attnflow.cli.verdicts import is_surprise
    from attnflow.site.export import export_claims as export

    output = Output(json)
    ((paper, claims),) = chosen_claims(target, only or ())
    with shown_progress() as bar:
        exported = export(
            paper,
            claims,
            out,
            seeds=seeds,
            witness=witness,
            runs=runs,
            workers=workers,
            progress=bar,
            report=lambda row: bar.say(f"{row.paper}/{row.id}  {row.words}"),
        )
    table = ClaimsTable(exported.rows)
    folders = [str(folder) for folder in exported.folders]
    output.give({**table.as_json(), "folders": folders, "index": str(exported.index)})
    output.say(table.summary())
    output.say(f"index  {exported.index}")
    return OTHERWISE if any(map(is_surprise, exported.rows)) else 0
