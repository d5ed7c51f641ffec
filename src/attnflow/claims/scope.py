"""The scope of a verdict: computed from the conditions that the judged runs meet.

A claim names the items of its paper's conditions that its statement assumes.

- `theorem`: every judged run meets all of them.
- `experiment`: the judged runs are the paper's own declared settings.
- `beyond`: all else, with the items that are missed.

An observation assumes no theorem, so that its scope is never `theorem`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Protocol

from attnflow.claims.base import Claim, Evidence, Kind, Origin, Scope, Verdict
from attnflow.schema.conditions import Condition, exactly, unread
from attnflow.schema.dataset import setting_of
from attnflow.schema.declarations import Recipe
from attnflow.schema.fields import TRAINING
from attnflow.schema.installation import xr
from attnflow.schema.settings import canonical_json, plain, typed_value

_READING = {
    (Verdict.FAILS, Scope.THEOREM): "refuted as printed",
    (Verdict.FAILS, Scope.EXPERIMENT): "does not hold in the paper's own experiment",
    (Verdict.FAILS, Scope.BEYOND): "does not extend here",
    (Verdict.HOLDS, Scope.THEOREM): "holds under its conditions",
    (Verdict.HOLDS, Scope.EXPERIMENT): "holds in the paper's own experiment",
    (Verdict.HOLDS, Scope.BEYOND): "holds here, beyond its conditions",
}
"""What a definite verdict means at a scope."""
_OF_REPORTS = {Verdict.FAILS: "not reproduced", Verdict.HOLDS: "reproduced"}
"""What it means for what the authors report of their experiment."""
_OF_OURS = {
    Verdict.FAILS: "refuted as we state it",
    Verdict.HOLDS: "holds under the conditions that we state",
}
"""What it means for a statement of ours whose conditions are met."""
NEAR_FLOW = {"flow", "gd", "momentum"}
"""Rules whose limit at small rates is gradient flow."""


def reading(verdict: Verdict, scope: Scope, kind: Kind, origin: Origin) -> str:
    """What a verdict means at its scope, such as `refuted as printed`.

    Only what authors report of an experiment can be reproduced: a lemma that is judged
    there holds there or does not. And what we state is not printed.
    """
    is_reported = kind is Kind.OBSERVATION and origin == "paper"
    if scope is Scope.EXPERIMENT and is_reported:
        return _OF_REPORTS.get(verdict, str(verdict))
    if scope is Scope.THEOREM and origin == "ours":
        return _OF_OURS.get(verdict, str(verdict))
    return _READING.get((verdict, scope), str(verdict))


class Declared(Protocol):
    """What the scope needs of a paper: its conditions and its own settings."""

    @property
    def slug(self) -> str:
        """The paper's short name."""
        ...

    def items(self, run: xr.Dataset) -> list[Condition]:
        """The items of the paper's conditions in a run."""
        ...

    def recipe(self, id: str) -> Recipe:
        """The experiment with this id."""
        ...


@dataclass(frozen=True)
class Missed:
    """An item that judged runs do not meet.

    `slack` is the smallest factor by which they miss it, `None` for an equality;
    `runs` are their names.
    """

    name: str
    what: str
    slack: float | None
    runs: tuple[str, ...]

    def __str__(self) -> str:
        if not self.slack:
            return f"{self.name} ({self.what}) is not met"
        return (
            f"{self.name} ({self.what}) is missed by a factor of {1 / self.slack:.3g}"
        )


@dataclass(frozen=True)
class Circumstances:
    """The scope of a verdict and what it was computed from.

    **Arguments:**

    - `slack`: the smallest factor by which an item is met (below 1: missed); `None`
      where no item is a ratio.
    - `missed`: items that are not met; `unread`: names of items that no number decides.
    """

    scope: Scope
    slack: float | None = None
    missed: tuple[Missed, ...] = ()
    unread: tuple[str, ...] = ()


def declared_runs(claim: Claim, paper: Declared) -> Evidence:
    """The runs that a claim needs as their settings alone, before any is computed."""
    runs = {}
    for name, request in claim.needs.items():
        setting = paper.recipe(request.experiment).with_overrides(request.overrides)
        text = canonical_json(asdict(setting))
        attributes = {"experiment": request.experiment, "setting": text}
        runs[name] = xr.Dataset(attrs=attributes)
    return runs


def circumstances(claim: Claim, evidence: Evidence, paper: Declared) -> Circumstances:
    """The scope of a claim's verdict on this evidence, which may be `declared_runs`.

    Items that only a computed run has are unread where there is none yet, and all of
    them in a user's run without a setting.
    """
    judged = {name: evidence[name] for name in claim.judged or claim.needs}
    by_run = assumed_items(claim, evidence, paper)
    missed = tuple(_missed(by_run))
    items = [item for items in by_run.values() for item in items.values()]
    factors = [item.slack for item in items if item.slack is not None]
    undecided = dict.fromkeys(item.name for item in items if item.met is None)
    return Circumstances(
        _scope(claim, judged.values(), paper, is_met=not missed),
        min(factors, default=None),
        missed,
        tuple(undecided),
    )


def assumed_items(
    claim: Claim, evidence: Evidence, paper: Declared
) -> dict[str, dict[str, Condition]]:
    """By judged run, the items that the statement assumes, by name."""
    names = claim.judged or claim.needs
    return {name: _assumed(claim, evidence[name], paper) for name in names}


def _assumed(claim: Claim, run: xr.Dataset, paper: Declared) -> dict[str, Condition]:
    """The items of a run that the statement assumes."""
    if not claim.under:
        return {}
    items: dict[str, Condition] = {}
    if "setting" in run.attrs:
        items = {item.name: item for item in paper.items(run)}
        foreign = departures(run, paper)
        if foreign:
            # Statements are about the paper's own training, which this is not.
            assumed = [items[name] for name in claim.under if name in items]
            return {item.name: item for item in (*assumed, *foreign)}
    absent = [name for name in claim.under if name not in items]
    if not run.data_vars or "setting" not in run.attrs:
        items |= {name: unread(name, "read from the run") for name in absent}
    elif absent:
        raise ValueError(
            f"{claim.id} assumes {absent}, which the conditions of a run of "
            f"{run.attrs.get('experiment')} do not have. They have {list(items)}."
        )
    return {name: items[name] for name in claim.under}


def departures(run: xr.Dataset, paper: Declared) -> list[Condition]:
    """How a run is trained otherwise than any experiment of the paper, as items missed.

    Whether a step is short enough to be a flow, say, is an item of the paper's own.
    """
    if "experiment" not in run.attrs:
        return []
    recipe = paper.recipe(run.attrs["experiment"])
    setting, own = setting_of(run), asdict(recipe.setting)
    changed = [
        name
        for name in TRAINING
        if name in own
        and name not in recipe.free
        and setting.get(name) != plain(own[name])
        # Descent at a small rate is near a flow: papers say how near it must be.
        and not (name == "rule" and {setting.get(name), own[name]} <= NEAR_FLOW)
    ]
    return [
        exactly(name, f"{name}={typed_value(own[name])}, as in the paper", 0.0, 1.0)
        for name in changed
    ]


def _missed(by_run: Mapping[str, Mapping[str, Condition]]) -> Iterable[Missed]:
    names = dict.fromkeys(name for items in by_run.values() for name in items)
    for name in names:
        runs = {run: items[name] for run, items in by_run.items() if name in items}
        missing = {run: item for run, item in runs.items() if item.met is False}
        if missing:
            factors = [i.slack for i in missing.values() if i.slack is not None]
            what = next(iter(missing.values())).what
            yield Missed(name, what, min(factors, default=None), tuple(missing))


def _scope(
    claim: Claim, runs: Collection[xr.Dataset], paper: Declared, *, is_met: bool
) -> Scope:
    known = all("setting" in run.attrs and not departures(run, paper) for run in runs)
    if claim.kind is not Kind.OBSERVATION and is_met and known:
        return Scope.THEOREM
    stated = all(is_papers_own(run, paper) for run in runs)
    return Scope.EXPERIMENT if stated else Scope.BEYOND


def is_papers_own(run: xr.Dataset, paper: Declared) -> bool:
    """Whether a run has a setting that the paper itself declares.

    Fields that a recipe calls `free` (what is recorded, for how long) may differ.
    """
    if "setting" not in run.attrs or "experiment" not in run.attrs:
        return False
    recipe = paper.recipe(run.attrs["experiment"])
    if not recipe.place:
        return False
    setting, declared = setting_of(run), asdict(recipe.setting)
    return all(
        canonical_json(setting.get(name)) == canonical_json(value)
        for name, value in declared.items()
        if name not in recipe.free
    )
