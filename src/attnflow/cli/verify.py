"""`attnflow verify`: the claims table."""

from pathlib import Path
from typing import Annotated

import typer

from attnflow.cli.guard import OTHERWISE, complain, guarded
from attnflow.cli.output import Json, Output

SEEDS = 5


@guarded
def verify(
    target: Annotated[str | None, typer.Argument(metavar="[PAPER[/CLAIM]]")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = SEEDS,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID*|SCOPE|ORIGIN|VERDICT", help="Such claims alone, as recorded."
        ),
    ] = None,
    changed: Annotated[
        bool,
        typer.Option("--changed", help="Those not judged since their code changed."),
    ] = False,
    run: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judge this run of yours.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell all of one claim, with a picture.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many processes.")
    ] = None,
    json: Json = None,
) -> int:
    """Check a paper's claims: what is claimed, and what came out.

    What was judged before with the same code is read. Killed, it goes on where it was.
    """
    from attnflow.claims import ClaimsTable
    from attnflow.cli.judging import judge_chosen, judge_file
    from attnflow.cli.target import chosen_claims
    from attnflow.cli.verdicts import (
        explain_claim,
        is_surprise,
        show_claims,
        the_one,
        warning_of,
    )

    output = Output(json)
    chosen = chosen_claims(target, only or ())
    one = the_one(chosen, own=bool(run), changed=changed) if explain else None
    rows = (
        judge_file(chosen, run, seeds=seeds)
        if run
        else judge_chosen(chosen, seeds=seeds, workers=workers, changed=changed)
    )
    table = ClaimsTable(tuple(rows))
    content = table.as_json()
    if one:
        content["explanation"] = explain_claim(output, *one, rows[0], seeds=seeds)
    else:
        show_claims(output, table)
    output.give(content)
    for warning in filter(None, map(warning_of, rows)):
        complain(warning)
    return OTHERWISE if any(map(is_surprise, rows)) else 0
