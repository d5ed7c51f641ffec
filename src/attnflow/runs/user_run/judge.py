"""The claims that look at a user's own run, judged with it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import xarray as xr

from attnflow.claims import (
    Claim,
    Evidence,
    Finding,
    Gather,
    Judgement,
    Row,
    Scope,
    Unchecked,
    decide,
    make_row,
    verify,
)
from attnflow.papers.base import Paper
from attnflow.runs.runner import Runner
from attnflow.runs.user_run.lacking import Lacks, as_given
from attnflow.runs.user_run.places import Place, differences, is_of, place_of
from attnflow.schema.declarations import Request
from attnflow.schema.settings import seed_numbers


def judge_own_run(
    paper: Paper,
    claims: Iterable[Claim],
    run: xr.Dataset,
    runner: Runner,
    *,
    seeds: int | None = None,
) -> Iterator[Row]:
    """Rows of those claims that look at the experiment that the `run` is of.

    Other runs that a claim looks at are ours, made or read by the `runner`. A claim
    that cannot be judged from the run for something that it lacks is `unchecked`, with
    the reason; an error that nothing of the run explains is a `JudgeError`.
    """
    for claim in claims:
        if is_about(claim, paper, run):
            yield _judge(claim, paper, run, runner, seeds=seeds)


def is_about(claim: Claim, paper: Paper, run: xr.Dataset) -> bool:
    """Whether a claim looks at the experiment that the run is of."""
    if run.attrs.get("paper", paper.slug) != paper.slug:
        return False
    return any(is_of(run, request) for request in claim.needs.values())


def _judge(
    claim: Claim, paper: Paper, run: xr.Dataset, runner: Runner, *, seeds: int | None
) -> Row:
    place = place_of(claim, paper, run)
    if isinstance(place, str):
        return _unchecked(claim, paper, place)
    if missing := run.attrs.get("missing_times"):
        why = f"the run lacks {missing}"
        return _unchecked(claim, paper, why, place.scope)
    guarded = _lacks(claim, paper, run, place, seeds=seeds).guard(claim)
    gather = partial(_beside, place, as_given(run), partial(runner.gather, paper))
    row = verify(guarded, paper.slug, gather, seeds, scope=place.scope)
    ours = [name for name in claim.needs if name not in place.names]
    if not ours:
        return row
    given = " and ".join(place.names)
    note = f"{row.note} (your run as {given}; ours as {', '.join(ours)})"
    return replace(row, note=note)


def _lacks(
    claim: Claim, paper: Paper, run: xr.Dataset, place: Place, *, seeds: int | None
) -> Lacks:
    """What may be wanting in a run that stands in the place of one of ours."""
    request = claim.needs[place.names[0]]
    recipe = paper.recipe(request.experiment)
    setting = recipe.with_overrides(request.overrides)
    alone = len(place.names) == len(claim.needs) and request.seeds is None
    wanted = seeds if request.seeds is None else request.seeds
    return Lacks(
        run,
        getattr(setting, "record", None),
        lambda: differences(
            run,
            place,
            ours=recipe.experiment(setting),
            seeds=None if alone else seed_numbers(wanted),
        ),
    )


def _beside(
    place: Place, run: xr.Dataset, gather: Gather, needs: Mapping[str, Request]
) -> Evidence:
    """The evidence of a claim, with the user's run where it stands."""
    others = {name: r for name, r in needs.items() if name not in place.names}
    return {**gather(others), **dict.fromkeys(place.names, run)}


def _unchecked(
    claim: Claim, paper: Paper, reason: str, scope: Scope | None = None
) -> Row:
    decision = decide(Finding((Unchecked(reason),)), claim.scope)
    found = Judgement(decision, {})
    return make_row(claim, paper.slug, found, seconds=0.0, scope=scope)
