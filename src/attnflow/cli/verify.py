"""`attnflow verify`: the claims table."""

import fnmatch
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attnflow.cli.output import (
    OTHERWISE,
    Bar,
    Json,
    Output,
    Workers,
    complain,
    guarded,
    in_background,
    shown_progress,
)
from attnflow.cli.profiled import Profiled, show_profile

if TYPE_CHECKING:
    import xarray as xr

    from attnflow.claims import Claim, Evidence, Row
    from attnflow.papers.base import Paper
    from attnflow.runs.verify import Selection

SEEDS = 5


@guarded
def verify(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="PAPER[/CLAIM]", help="mixture/B-L6.1, say (default: all)."
        ),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of seeds.")
    ] = SEEDS,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TRAIT",
            help="Check only claims with one of these ids (B-Thm4.1*), and of this "
            "kind, scope, origin or recorded verdict; repeatable.",
        ),
    ] = None,
    changed: Annotated[
        bool,
        typer.Option("--changed", help="Check only claims whose code has changed."),
    ] = False,
    run: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judge your own run.")
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Explain one verdict in full, with a figure."),
    ] = False,
    witness: Annotated[
        bool, typer.Option("--witness", help="Also run witness scripts.")
    ] = False,
    profile: Profiled = False,
    workers: Workers = None,
    json: Json = None,
) -> int:
    """Check the claims of a paper, of all papers, or one claim.

    Stored verdicts of unchanged code are read; an interrupted command resumes.
    """
    from attnflow.claims import ClaimsTable
    from attnflow.cli.verdicts import is_surprise, show_claims, warning_of
    from attnflow.runs.profile import Profile
    from attnflow.runs.run_files import read_run_file
    from attnflow.runs.verify import verify_claims
    from attnflow.runs.witnesses import with_witnesses

    output = Output(json)
    selection = chosen_claims(target, only or ())
    claim = _the_one(selection, changed=changed) if explain else None
    user_run = read_run_file(run) if run else None
    times = Profile() if profile else None
    with shown_progress() as bar:
        rows = (
            _judge_file(selection, user_run, seeds, bar)
            if user_run is not None
            else verify_claims(
                selection,
                seeds=seeds,
                workers=workers,
                changed=changed,
                progress=bar,
                report=lambda row: bar.say(f"{row.paper}/{row.id}  {row.words}"),
                profile=times,
            )
        )
    if witness:
        rows = with_witnesses(selection, rows, workers)
    table = ClaimsTable(tuple(rows))
    content = table.as_json()
    if claim is None:
        show_claims(output, table)
        output.say(seeds_words(selection, seeds))
    else:
        from attnflow.cli.explained import explain_claim

        gather = partial(_evidence, *claim, user_run, seeds)
        content["explanation"] = explain_claim(output, *claim, rows[0], gather)
    if times is not None:
        content["profile"] = show_profile(output, times)
    output.give(content)
    for warning in filter(None, map(warning_of, rows)):
        complain(warning)
    return OTHERWISE if any(map(is_surprise, rows)) else 0


def seeds_words(selection: "Selection", seeds: int) -> str:
    """How many claims take the user's number of seeds, and how many have their own."""
    claims = [claim for _, claims in selection for claim in claims]
    open_ones = [
        claim
        for claim in claims
        if any(request.seeds is None for request in claim.needs.values())
    ]
    if len(open_ones) == len(claims):
        return f"Seeds: {seeds} for every claim (--seeds)."
    if not open_ones:
        return "Seeds: as many as each claim declares; --seeds does not change that."
    return (
        f"Seeds: {seeds} (--seeds) for {len(open_ones)} of {len(claims)} claims; the "
        "others declare how many they need."
    )


def _the_one(selection: "Selection", *, changed: bool) -> "tuple[Paper, Claim]":
    """The claim to explain, which must be a single one."""
    if changed:
        raise ValueError("--explain does not go with --changed. Leave one of them out.")
    claims = [(paper, claim) for paper, claims in selection for claim in claims]
    if len(claims) != 1:
        raise ValueError(
            f"--explain takes one claim, and {len(claims)} are named. Write for "
            f"example attnflow verify {claims[0][0].slug}/{claims[0][1].id} --explain."
        )
    return claims[0]


def _evidence(
    paper: "Paper", claim: "Claim", user_run: "xr.Dataset | None", seeds: int
) -> "Evidence":
    """The runs that a claim was judged on: ours, with the user's run in its place."""
    from attnflow.claims import with_seeds
    from attnflow.runs.runner import Runner
    from attnflow.runs.user_run import gather_beside

    gather = partial(Runner(seeds=seeds).gather, paper)
    if user_run is None:
        return gather(with_seeds(claim.needs, seeds))
    return gather_beside(claim, paper, user_run, gather, seeds=seeds)


def _judge_file(
    selection: "Selection", run: "xr.Dataset", seeds: int, bar: Bar
) -> "list[Row]":
    """Rows of those claims that look at the experiment that a user's run is of."""
    from attnflow.runs.runner import Runner
    from attnflow.runs.user_run import judge_user_run

    runner = Runner(seeds=seeds, progress=bar, call=in_background)
    rows = [
        row
        for paper, claims in selection
        for row in judge_user_run(paper, claims, run, runner, seeds=seeds)
    ]
    if not rows:
        which = "/".join(str(run.attrs.get(n, "?")) for n in ("paper", "experiment"))
        raise ValueError(
            f"Your file has a run of {which}, and none of these claims is judged on "
            "that experiment. `attnflow list` shows claims and experiments."
        )
    return rows


def chosen_claims(target: str | None, only: Sequence[str] = ()) -> "Selection":
    """The claims of a target, by paper.

    `only` are ids such as `B-Thm4.1*`, of which they must have one, and traits that
    they must all have: a kind, an origin, a recorded verdict, or the scope that the
    declared settings of their runs have.
    """
    from attnflow.claims import Kind, Scope, Verdict
    from attnflow.papers import select_papers
    from attnflow.schema.settings import did_you_mean

    every = [
        (paper, paper.claims if id is None else (paper.claim(id),))
        for paper, id in select_papers(target)
    ]
    words = (*map(str, (*Kind, *Scope, *Verdict)), "paper", "ours")
    traits = [word for word in only if word in words]
    ids = [pattern for pattern in only if pattern not in words]
    known = [claim.id for _, claims in every for claim in claims]
    for pattern in ids:
        if not fnmatch.filter(known, pattern):
            raise ValueError(
                f"None of the {len(known)} claims is {pattern!r}."
                f"{did_you_mean(pattern, [*known, *words])} Give an id, which may have "
                f"a *, or one of {', '.join(words)}."
            )

    def is_chosen(paper: "Paper", claim: "Claim") -> bool:
        named = not ids or any(
            fnmatch.fnmatchcase(claim.id, pattern) for pattern in ids
        )
        return named and all(_has(paper, claim, trait) for trait in traits)

    kept = [
        (paper, [claim for claim in claims if is_chosen(paper, claim)])
        for paper, claims in every
    ]
    if only and not any(claims for _, claims in kept):
        raise ValueError(
            f"None of the {len(known)} claims is {' and '.join(map(repr, only))}. "
            "Leave a trait out."
        )
    return [(paper, claims) for paper, claims in kept if claims]


def _has(paper: "Paper", claim: "Claim", trait: str) -> bool:
    from attnflow.claims import Scope, circumstances, declared_runs

    if trait in set(Scope):
        runs = declared_runs(claim, paper)
        return circumstances(claim, runs, paper).scope == trait
    return trait in (claim.kind, claim.origin, claim.expected)
