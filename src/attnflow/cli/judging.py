"""Claims judged one after the other: with runs of ours, or with a user's own."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import xarray as xr

from attnflow.claims import Claim, Row, Scope
from attnflow.claims.verify import verify
from attnflow.cli.progress import Bar
from attnflow.ledger import judge_all
from attnflow.paper import Evidence, Paper, Request
from attnflow.runner import Runner
from attnflow.schema import setting_of
from attnflow.setting import canonical_json
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


def judge_file(chosen: Chosen, path: Path) -> list[Row]:
    """Rows of those claims that need one run, with the user's run in its place."""
    run = read_run_file(path)
    rows = [
        _judge(run, path, paper, claim)
        for paper, claims in chosen
        for claim in claims
        if _is_about(claim, paper, run)
    ]
    if not rows:
        raise ValueError(
            f"None of the claims needs one run alone, of the experiment that {path} is "
            "of. `attnflow list` shows claims and experiments; name another claim."
        )
    return rows


def _judge(run: xr.Dataset, path: Path, paper: Paper, claim: Claim) -> Row:
    (request,) = claim.needs.values()
    # Elsewhere than where the claim speaks of, a failure refutes nothing.
    scope = None if _has_setting(run, paper, request) else Scope.BEYOND
    try:
        return verify(claim, paper.slug, partial(_give, run), scope=scope)
    except KeyError as error:
        raise ValueError(
            f"{path} lacks what {claim.id} looks at. {error.args[0]} Record it with: "
            f"attnflow run {paper.slug}/{request.experiment} --record NAME --out FILE"
        ) from error


def _is_about(claim: Claim, paper: Paper, run: xr.Dataset) -> bool:
    if len(claim.needs) != 1 or run.attrs.get("paper", paper.slug) != paper.slug:
        return False
    (request,) = claim.needs.values()
    return run.attrs.get("experiment", request.experiment) == request.experiment


def _has_setting(run: xr.Dataset, paper: Paper, request: Request) -> bool:
    setting = paper.recipe(request.experiment).with_overrides(request.overrides)
    ours = json.loads(canonical_json(asdict(setting)))
    return "setting" in run.attrs and setting_of(run) == ours


def _give(run: xr.Dataset, needs: Mapping[str, Request]) -> Evidence:
    return dict.fromkeys(needs, run)
