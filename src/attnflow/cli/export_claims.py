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
    target: Annotated[
        str,
        typer.Argument(
            metavar="PAPER[/CLAIM]", help="mixture, say, or mixture/B-L6.1."
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output directory.")],
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of seeds.")
    ] = SEEDS,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TRAIT",
            help="Export only claims with one of these ids (B-Thm4.1*), and of this "
            "kind, scope, origin or recorded verdict; repeatable.",
        ),
    ] = None,
    witness: Annotated[
        bool, typer.Option("--witness/--no-witness", help="Run witness scripts.")
    ] = True,
    runs: Annotated[
        bool, typer.Option("--runs", help="Also write the runs as netCDF.")
    ] = False,
    workers: Workers = None,
    json: Json = None,
) -> int:
    """Write verdicts as folders that a referee can read without attnflow.

    Each has the statement, its conditions, code, numbers by seed, trials,
    the witness script and how to run it again. An interrupted command resumes.
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
