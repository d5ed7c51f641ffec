"""`attnflow verify`: the claims table."""

from pathlib import Path
from typing import Annotated

import typer

from attnflow.cli.background import in_background
from attnflow.cli.guard import OTHERWISE, complain, guarded
from attnflow.cli.output import Json, Output
from attnflow.cli.progress import shown_progress
from attnflow.cli.target import chosen_papers

SEEDS = 5


@guarded
def verify(
    target: Annotated[str | None, typer.Argument(metavar="[PAPER[/CLAIM]]")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = SEEDS,
    run: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judge this run of yours.")
    ] = None,
    json: Json = None,
) -> int:
    """Check a paper's claims: what is claimed, and what came out."""
    from attnflow.claims import ClaimsTable
    from attnflow.cli.judging import judge_chosen, judge_file
    from attnflow.cli.show_claims import claims_table, is_surprise, warning_of
    from attnflow.runner import Runner

    output = Output(json)
    chosen = [
        (paper, paper.claim_list if id is None else (paper.claim(id),))
        for paper, id in chosen_papers(target)
    ]
    with shown_progress() as bar:
        runner = Runner(seeds=seeds, progress=bar, call=in_background)
        rows = (
            judge_file(chosen, run, runner, seeds=seeds)
            if run
            else judge_chosen(chosen, runner, bar, seeds=seeds)
        )
    output.give({"claims": [row.as_json() for row in rows]})
    output.show(claims_table(rows))
    output.say(ClaimsTable(tuple(rows)).summary())
    for warning in filter(None, map(warning_of, rows)):
        complain(warning)
    return OTHERWISE if any(map(is_surprise, rows)) else 0
