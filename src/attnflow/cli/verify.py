"""`attnflow verify`: the claims table."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnflow.cli.guard import OTHERWISE, complain, guarded, in_background
from attnflow.cli.output import Bar, Json, Output, Workers, shown_progress

if TYPE_CHECKING:
    from attnflow.claims import Claim, Row
    from attnflow.runs.verify import Selection

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
    workers: Workers = None,
    json: Json = None,
) -> int:
    """Check a paper's claims: what is claimed, and what came out.

    What was judged before with the same code is read. Killed, it goes on where it was.
    """
    from attnflow.claims import ClaimsTable
    from attnflow.cli.verdicts import (
        explain_claim,
        is_surprise,
        show_claims,
        the_one,
        warning_of,
    )
    from attnflow.runs.verify import verify_claims

    output = Output(json)
    selection = chosen_claims(target, only or ())
    claim = the_one(selection, user_run=bool(run), changed=changed) if explain else None
    with shown_progress() as bar:
        rows = (
            _judge_file(selection, run, seeds, bar)
            if run
            else verify_claims(
                selection, seeds=seeds, workers=workers, changed=changed, progress=bar
            )
        )
    table = ClaimsTable(tuple(rows))
    content = table.as_json()
    if claim:
        content["explanation"] = explain_claim(output, *claim, rows[0], seeds=seeds)
    else:
        show_claims(output, table)
    output.give(content)
    for warning in filter(None, map(warning_of, rows)):
        complain(warning)
    return OTHERWISE if any(map(is_surprise, rows)) else 0


def _judge_file(
    selection: "Selection", path: Path, seeds: int, bar: Bar
) -> "list[Row]":
    """Rows of those claims that look at the experiment that a user's run is of."""
    from attnflow.runs.run_files import read_run_file
    from attnflow.runs.runner import Runner
    from attnflow.runs.user_run import judge_user_run

    run = read_run_file(path)
    runner = Runner(seeds=seeds, progress=bar, call=in_background)
    rows = [
        row
        for paper, claims in selection
        for row in judge_user_run(paper, claims, run, runner, seeds=seeds)
    ]
    if not rows:
        which = "/".join(str(run.attrs.get(n, "?")) for n in ("paper", "experiment"))
        raise ValueError(
            f"{path} is a run of {which}, at which none of these claims looks. "
            "`attnflow list` shows claims and experiments; name another claim."
        )
    return rows


def chosen_claims(target: str | None, only: Sequence[str] = ()) -> "Selection":
    """The claims of a target, by paper.

    `only` are traits that they all must have: an id such as `B-Thm4.1*`, a scope, an
    origin, or a recorded verdict.
    """
    from attnflow.claims import Scope, Verdict
    from attnflow.papers import select_papers
    from attnflow.schema.settings import did_you_mean

    every = [
        (paper, paper.claims if id is None else (paper.claim(id),))
        for paper, id in select_papers(target)
    ]
    kept = [
        (paper, [c for c in claims if all(_has(c, trait) for trait in only)])
        for paper, claims in every
    ]
    if only and not any(claims for _, claims in kept):
        ids = [claim.id for _, claims in every for claim in claims]
        words = (*map(str, Scope), *map(str, Verdict), "paper", "ours")
        raise ValueError(
            f"None of the {len(ids)} claims is {' and '.join(map(repr, only))}."
            f"{did_you_mean(only[0], [*ids, *words])} Give an id, which may have a *, "
            f"or one of {', '.join(words)}."
        )
    return [(paper, claims) for paper, claims in kept if claims]


def _has(claim: "Claim", trait: str) -> bool:
    traits = (claim.scope, claim.origin, claim.expected)
    return trait in traits or fnmatchcase(claim.id, trait)
