"""Claims judged one after the other: with runs of ours, or with a user's own."""

import itertools
from collections.abc import Sequence
from pathlib import Path

from attnflow.claims import Claim, Row
from attnflow.cli.progress import Bar
from attnflow.ledger import judge_all
from attnflow.own_run import judge_own_run
from attnflow.paper import Paper
from attnflow.runner import Runner
from attnflow.store import read_run_file

Chosen = Sequence[tuple[Paper, Sequence[Claim]]]


def judge_chosen(chosen: Chosen, runner: Runner, bar: Bar, *, seeds: int) -> list[Row]:
    """Rows of the claims, with runs that the `runner` makes or reads."""
    total = sum(len(claims) for _, claims in chosen)
    count = itertools.count(1)
    return [
        row
        for paper, claims in chosen
        for row in judge_all(
            paper,
            claims,
            runner,
            seeds=seeds,
            tell=lambda claim: bar.begin(f"{claim.id} ({next(count)} of {total})"),
        )
    ]


def judge_file(chosen: Chosen, path: Path, runner: Runner, *, seeds: int) -> list[Row]:
    """Rows of those claims that look at the experiment that a user's run is of."""
    run = read_run_file(path)
    rows = [
        row
        for paper, claims in chosen
        for row in judge_own_run(paper, claims, run, runner, seeds=seeds)
    ]
    if not rows:
        which = "/".join(str(run.attrs.get(n, "?")) for n in ("paper", "experiment"))
        raise ValueError(
            f"{path} is a run of {which}, at which none of these claims looks. "
            "`attnflow list` shows claims and experiments; name another claim."
        )
    return rows
