"""`attnflow verify`: the claims table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from attnflow.cli.background import in_background
from attnflow.cli.guard import OTHERWISE, complain, guarded
from attnflow.cli.output import Json, Output
from attnflow.cli.progress import Bar, shown_progress
from attnflow.cli.target import chosen_papers

if TYPE_CHECKING:
    from attnflow.claims import Claim
    from attnflow.claims.verify import Row
    from attnflow.paper import Paper

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
    from attnflow.cli.show_claims import claims_table, is_surprise, warning_of

    output = Output(json)
    chosen = [
        (paper, paper.claim_list if id is None else (paper.claim(id),))
        for paper, id in chosen_papers(target)
    ]
    with shown_progress() as bar:
        rows = _judged_run(run, chosen, seeds) if run else _judged(chosen, seeds, bar)
    output.give({"claims": rows})
    output.show(claims_table(rows))
    output.say("Verdicts are numerical checks over the printed range, not proofs.")
    for warning in filter(None, map(warning_of, rows)):
        complain(warning)
    return OTHERWISE if any(map(is_surprise, rows)) else 0


def _judged(
    chosen: "list[tuple[Paper, tuple[Claim, ...]]]", seeds: int, bar: Bar
) -> "list[Row]":
    from attnflow.ledger import judge
    from attnflow.runner import Runner

    runner = Runner(seeds=seeds, progress=bar, call=in_background)
    return [
        row
        for paper, claims in chosen
        for row in judge(paper, claims, runner.gather, seeds=seeds, tell=bar.begin)
    ]


def _judged_run(path: Path, chosen: Any, seeds: int) -> "list[Row]":
    from attnflow.ledger import claims_about, gather_only, judge
    from attnflow.store import read_run_file

    run = read_run_file(path)
    rows = [
        row
        for paper, claims in chosen
        for row in judge(
            paper, claims_about(run, paper, claims), gather_only(run), seeds=seeds
        )
    ]
    if not rows:
        raise ValueError(
            f"No claim that is asked for needs a single run such as {path}. "
            "`attnflow list` shows the claims; name one that needs one run."
        )
    return rows
