"""A user's own run in the place of one of ours, judged by the claims of a paper."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import xarray as xr

from attnflow import _dims
from attnflow.claims import (
    Claim,
    Evidence,
    Finding,
    Gather,
    Judgement,
    Row,
    Scope,
    Unchecked,
    make_row,
)
from attnflow.claims.decide import decide
from attnflow.claims.verify import verify
from attnflow.paper import Paper, Request
from attnflow.runner import Runner
from attnflow.schema import left_out_of, setting_of
from attnflow.setting import canonical_json


@dataclass(frozen=True)
class Place:
    """Where in a claim's evidence a user's run stands.

    `names` are those of the runs that it replaces; `scope` is `beyond` where its
    setting is another than the claim's own, so that a failure refutes nothing.
    """

    names: tuple[str, ...]
    scope: Scope | None


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
    that cannot be judged from the run is `unchecked`, with the reason.
    """
    for claim in claims:
        if is_about(claim, paper, run):
            yield _judge(claim, paper, run, runner, seeds=seeds)


def is_about(claim: Claim, paper: Paper, run: xr.Dataset) -> bool:
    """Whether a claim looks at the experiment that the run is of."""
    if run.attrs.get("paper", paper.slug) != paper.slug:
        return False
    return any(_is_of(run, request) for request in claim.needs.values())


def _judge(
    claim: Claim, paper: Paper, run: xr.Dataset, runner: Runner, *, seeds: int | None
) -> Row:
    place = _place(claim, paper, run)
    if isinstance(place, str):
        return _unchecked(claim, paper, place)
    if missing := run.attrs.get("missing_times"):
        why = f"the run lacks {missing}"
        return _unchecked(claim, paper, why, place.scope)
    gather = partial(_beside, place, run, partial(runner.gather, paper))
    try:
        row = verify(claim, paper.slug, gather, seeds, scope=place.scope)
    except (KeyError, IndexError, ValueError) as error:
        return _unchecked(claim, paper, _reason(error, run), place.scope)
    ours = [name for name in claim.needs if name not in place.names]
    if not ours:
        return row
    given = " and ".join(place.names)
    note = f"{row.note} (your run as {given}; ours as {', '.join(ours)})"
    return replace(row, note=note)


def _place(claim: Claim, paper: Paper, run: xr.Dataset) -> Place | str:
    """Where the run stands in a claim's evidence, or why it stands nowhere."""
    near = {name: r for name, r in claim.needs.items() if _is_of(run, r)}
    changes = {name: _changes(run, paper, request) for name, request in near.items()}
    same = tuple(name for name, found in changes.items() if found == {})
    if same:
        return Place(same, None)
    if len(claim.needs) == 1:
        return Place(tuple(near), Scope.BEYOND)
    name, found = min(changes.items(), key=lambda item: len(item[1] or ()))
    told = "no setting" if found is None else _written(found)
    return (
        f"it compares the runs {'; '.join(claim.needs)}, and yours has the setting of "
        f"none of them; nearest is {name!r}, beside which yours has {told}"
    )


def _is_of(run: xr.Dataset, request: Request) -> bool:
    return run.attrs.get("experiment", request.experiment) == request.experiment


def _changes(
    run: xr.Dataset, paper: Paper, request: Request
) -> dict[str, tuple[Any, Any]] | None:
    """Settings of the run that differ from those asked for; `None`: it has none."""
    if "setting" not in run.attrs:
        return None
    setting = paper.recipe(request.experiment).with_overrides(request.overrides)
    ours, theirs = json.loads(canonical_json(asdict(setting))), setting_of(run)
    return {
        key: (theirs.get(key), ours.get(key))
        for key in sorted({*ours, *theirs})
        if theirs.get(key) != ours.get(key)
    }


def _written(changes: Mapping[str, tuple[Any, Any]]) -> str:
    return ", ".join(f"{key}={a} for {b}" for key, (a, b) in changes.items())


def _beside(
    place: Place, run: xr.Dataset, gather: Gather, needs: Mapping[str, Request]
) -> Evidence:
    """The evidence of a claim, with the user's run where it stands."""
    others = {name: r for name, r in needs.items() if name not in place.names}
    return {**gather(others), **dict.fromkeys(place.names, run)}


def _reason(error: Exception, run: xr.Dataset) -> str:
    """Why a run could not be judged: what it lacks, and why it lacks it."""
    message = str(error.args[0]) if error.args else type(error).__name__
    known = left_out_of(run)
    named = [f"{name}: {why}" for name, why in known.items() if repr(name) in message]
    if named:
        return f"the run has no {'; no '.join(named)}"
    if isinstance(error, KeyError) and "No variable named" in message:
        message += " Record it too (`attnflow run --record NAME`)."
    count = run.sizes.get(_dims.TIME, 0)
    return f"it could not be judged from a run with {count} records: {message}"


def _unchecked(
    claim: Claim, paper: Paper, reason: str, scope: Scope | None = None
) -> Row:
    decision = decide(Finding((Unchecked(reason),)), claim.scope)
    found = Judgement(decision, {})
    return make_row(claim, paper.slug, found, seconds=0.0, scope=scope)
