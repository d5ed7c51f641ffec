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
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many processes.")
    ] = None,
    json: Json = None,
) -> int:
    """Check a paper's claims: what is claimed, and what came out.

    What was judged before with the same code is read. Killed, it goes on where it was.
    """
    from attnflow.claims import ClaimsTable
    from attnflow.cli.choosing import chosen_claims
    from attnflow.cli.judging import judge_chosen, judge_file
    from attnflow.cli.show_claims import (
        claims_table,
        is_surprise,
        summary_table,
        warning_of,
    )

    output = Output(json)
    chosen = chosen_claims(target, only or ())
    rows = (
        judge_file(chosen, run, seeds=seeds)
        if run
        else judge_chosen(chosen, seeds=seeds, workers=workers, changed=changed)
    )
    table = ClaimsTable(tuple(rows))
    output.give(table.as_json())
    output.show(summary_table(rows))
    output.show(claims_table(rows))
    output.say(table.summary())
    output.say(str(table.family))
    for warning in filter(None, map(warning_of, rows)):
        complain(warning)
    return OTHERWISE if any(map(is_surprise, rows)) else 0
