"""A user's run judged by the claims of a paper, in the place of one of ours.

A judge is written for runs of ours and may end in an error on any other. Where the run
has not recorded what a run of its experiment records, or differs from one of ours in
its setting, seeds, times or outcome, that is the reason, and the claim is `unchecked`.
All else is a mistake of the judge: a `JudgeError`, with what led to it.
"""

import json
import traceback
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import xarray as xr

from attnflow.claims import (
    Claim,
    Evidence,
    Finding,
    Gather,
    MissingData,
    Row,
    Verdict,
    circumstances,
    declared_runs,
    make_row,
    unchecked,
    verify,
    with_seeds,
)
from attnflow.claims.source_code import functions_in
from attnflow.papers.base import Paper
from attnflow.runs.runner import Runner
from attnflow.schema import left_out_of, may_hold, outcomes_of, setting_of
from attnflow.schema.conditions import Condition, unread
from attnflow.schema.declarations import Recipe, Request
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.settings import canonical_json, seed_numbers

Changes = Mapping[str, tuple[Any, Any]]
"""By key the user's setting, and ours."""

_ERRORS = (KeyError, IndexError, ValueError)
"""What numpy and xarray raise where something is not there or of another shape."""


@dataclass(frozen=True)
class Place:
    """Where a user's run stands: `names` are those of the runs that it replaces.

    `changes` are settings that differ from the claim's own; `None`: the run has none.
    """

    names: tuple[str, ...]
    changes: Changes | None


def place_of(claim: Claim, paper: Paper, run: xr.Dataset) -> Place | str:
    """Where the run stands in a claim's evidence, or why it stands nowhere."""
    near = {name: r for name, r in claim.needs.items() if is_of(run, r)}
    changes = {name: _changes(run, paper, request) for name, request in near.items()}
    same = tuple(name for name, differing in changes.items() if differing == {})
    if same:
        return Place(same, {})
    if len(claim.needs) == 1:
        return Place(tuple(near), *changes.values())
    name, fewest = min(changes.items(), key=lambda item: len(item[1] or ()))
    return (
        f"it compares the runs {'; '.join(claim.needs)}, and yours has the setting of "
        f"none of them; nearest is {name!r}, beside which yours has {_written(fewest)}"
    )


def is_of(run: xr.Dataset, request: Request) -> bool:
    """Whether a run is of the experiment that is asked for."""
    return run.attrs.get("experiment", request.experiment) == request.experiment


def differences(
    run: xr.Dataset, place: Place, *, ours: Any, seeds: Sequence[int] | None
) -> str:
    """In words, how a run differs from one of ours in its place; empty: not at all.

    **Arguments:**

    - `ours`: the experiment that a run of ours is of.
    - `seeds`: those that a run of ours would have; `None`: any would do.
    """
    parts = [] if place.changes == {} else [_written(place.changes)]
    numbers = [int(seed) for seed in run[SEED].values]
    if seeds is not None and numbers != list(seeds):
        parts.append(f"the seeds {numbers} for {list(seeds)}")
    if missing := _missing_times(run, ours):
        parts.append(f"not {missing}")
    ends = {outcome.label for outcome in outcomes_of(run) if not outcome.complete}
    return ", ".join([*parts, *(f"the outcome {label}" for label in sorted(ends))])


def _missing_times(run: xr.Dataset, ours: Any) -> str:
    """Which records of the experiment a run lacks; none are known of computations."""
    if TIME not in run.dims or not hasattr(ours, "grid"):
        return ""
    # Experiments and observables need JAX; judging alone does not.
    from attnflow.runs.checkpoints.records import missing_times

    return missing_times(ours, run[TIME].values)


def _changes(run: xr.Dataset, paper: Paper, request: Request) -> Changes | None:
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


def _written(changes: Changes | None) -> str:
    if changes is None:
        return "no setting"
    return ", ".join(f"{key}={a} for {b}" for key, (a, b) in changes.items())


class JudgeError(RuntimeError):
    """A judge ended in an error on a run that has all it was promised."""


class NotRecorded(KeyError):
    """A run was asked for a variable that it does not have."""

    def __init__(self, name: str):
        super().__init__(name)
        self.name = name


class _GuardedRun(xr.Dataset):
    """A user's run: variables that it lacks raise an error of their own."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError as error:
            names = [key] if isinstance(key, Hashable) else list(key)
            for name in names:
                if name not in self.variables:
                    raise NotRecorded(str(name)) from error
            raise


def guarded_run(run: xr.Dataset) -> xr.Dataset:
    """The run, which raises `NotRecorded` for what it does not have."""
    return _GuardedRun(run.data_vars, coords=run.coords, attrs=run.attrs)


@dataclass(frozen=True)
class Lacks:
    """Why a judge's error is the run's and not the judge's.

    **Arguments:**

    - `run`: the user's.
    - `record`: observables that a run of its experiment records; `None`: not declared.
    - `differences`: tells how the run differs from one of ours; empty: not at all.
    """

    run: xr.Dataset
    record: Collection[str] | None
    differences: Callable[[], str]

    def guard(self, claim: Claim) -> Claim:
        """The claim, whose judges raise `MissingData` or `JudgeError` for errors."""
        fixed = claim.correction
        if fixed is not None:
            fixed = replace(fixed, judge=partial(self._judge, claim.id, fixed.judge))
        judge = partial(self._judge, claim.id, claim.judge)
        return replace(claim, judge=judge, correction=fixed)

    def reason(self, error: Exception, place: str = "") -> str | None:
        """What the run lacks; `None` where nothing explains the error, raised there."""
        if isinstance(error, NotRecorded) and self._should_have(error.name):
            return self._not_recorded(error.name)
        differences = self.differences()
        if not differences:
            return None
        said = f"{type(error).__name__}: {error.args[0] if error.args else ''}"
        return (
            f"its judge is for runs like ours, beside which yours has "
            f"{differences}, and ended in {said} ({place})"
        )

    def _judge(
        self, id: str, judge: Callable[[Evidence], Finding], evidence: Evidence
    ) -> Finding:
        try:
            return judge(evidence)
        except _ERRORS as error:
            place = _raised_at(error, judge)
            if reason := self.reason(error, place):
                raise MissingData(reason) from error
            raise JudgeError(
                f"The judge of {id} ended in {error!r} ({place}) on a run that differs "
                "from ours in nothing that it says of itself. Please report it; if you "
                "changed the run or its samples, undo that."
            ) from error

    def _should_have(self, name: str) -> bool:
        return self.record is None or may_hold(name, self.record)

    def _not_recorded(self, name: str) -> str:
        why = left_out_of(self.run).get(name)
        if why is not None:
            return f"the run has no {name}: {why}"
        return f"the run has no {name}. Record it too (`attnflow run --record NAME`)."


def _raised_at(error: Exception, judge: Callable[..., Any]) -> str:
    """The last line of the judge's own package that led to an error."""
    packages = {str(f.__module__).partition(".")[0] for f in functions_in(judge)}
    places = [
        f"{frame.f_code.co_filename}:{line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] in packages
    ]
    return places[-1] if places else "outside its package"


def judge_user_run(
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
        return _unchecked(claim, paper, place, {})
    yours = dict.fromkeys(place.names, guarded_run(run))
    if missing := run.attrs.get("missing_times"):
        return _unchecked(claim, paper, f"the run lacks {missing}", yours)
    guarded = _lacks(claim, paper, run, place, seeds=seeds).guard(claim)
    gather = partial(_beside, yours, partial(runner.gather, paper))
    row = verify(guarded, _Conditions(paper, claim), gather, seeds)
    if row.verdict is Verdict.UNCHECKED:
        return _unchecked(claim, paper, row.note, yours)
    ours = [name for name in claim.needs if name not in place.names]
    if not ours:
        return row
    names = " and ".join(place.names)
    note = f"{row.note} (your run as {names}; ours as {', '.join(ours)})"
    return replace(row, note=note)


def _lacks(
    claim: Claim, paper: Paper, run: xr.Dataset, place: Place, *, seeds: int | None
) -> Lacks:
    """What may be wanting in a run that stands in the place of one of ours."""
    request = claim.needs[place.names[0]]
    recipe = paper.recipe(request.experiment)
    setting = recipe.with_overrides(request.overrides)
    alone = len(place.names) == len(claim.needs) and request.seeds is None
    planned = seeds if request.seeds is None else request.seeds
    return Lacks(
        run,
        getattr(setting, "record", None),
        lambda: differences(
            run,
            place,
            ours=recipe.experiment(setting),
            seeds=None if alone else seed_numbers(planned),
        ),
    )


def gather_beside(
    claim: Claim, paper: Paper, run: xr.Dataset, gather: Gather, *, seeds: int | None
) -> Evidence:
    """The evidence of a claim with a user's run in it; others are gathered."""
    place = place_of(claim, paper, run)
    if isinstance(place, str):
        raise ValueError(f"{claim.id} cannot be judged from this run: {place}.")
    return _beside(
        dict.fromkeys(place.names, run), gather, with_seeds(claim.needs, seeds)
    )


def _beside(yours: Evidence, gather: Gather, needs: Mapping[str, Request]) -> Evidence:
    """The evidence of a claim, with the user's run where it stands."""
    others = {name: r for name, r in needs.items() if name not in yours}
    bare = {n: r.drop_vars("training_time", errors="ignore") for n, r in yours.items()}
    return {**gather(others), **bare}


@dataclass(frozen=True)
class _Conditions:
    """A paper's conditions for a user's run, which may lack what they read."""

    paper: Paper
    claim: Claim

    @property
    def slug(self) -> str:
        return self.paper.slug

    def recipe(self, id: str) -> Recipe:
        return self.paper.recipe(id)

    def items(self, run: xr.Dataset) -> list[Condition]:
        """The items; those that cannot be computed are unread."""
        try:
            return self.paper.items(run)
        except KeyError as error:
            what = f"the run has no {error.args[0]}"
            return [unread(name, what) for name in self.claim.under]


def _unchecked(claim: Claim, paper: Paper, reason: str, yours: Evidence) -> Row:
    """The row of a claim that could not be judged from the user's run."""
    judgement, _ = unchecked(claim, paper, reason)
    evidence = {**declared_runs(claim, paper), **yours}
    around = circumstances(claim, evidence, _Conditions(paper, claim))
    return make_row(claim, paper.slug, judgement, around, seconds=0.0)
