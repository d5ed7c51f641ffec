"""The explanation of a verdict: conditions, code, settings, and when it would fail."""

import math
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from functools import singledispatch
from typing import Any, TypedDict

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import (
    Claim,
    Evidence,
    Exact,
    Finding,
    HighProbability,
    Ladder,
    LargeEnough,
    Measurement,
    Row,
    Scope,
    Seeds,
    Slope,
    Verdict,
    judge,
    make_row,
)
from attnflow.claims.ladder import BAND
from attnflow.claims.source_code import Source, sources
from attnflow.claims.stages import Detection, record_detections
from attnflow.claims.statistics import upper_bound
from attnflow.papers.base import Paper
from attnflow.schema import setting_of
from attnflow.schema.conditions import Condition
from attnflow.schema.declarations import Request
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.plain_values import plain

MET = {
    Scope.THEOREM: "all of them are met, with the constants that are printed there",
    Scope.EXPERIMENT: "not all are met: these are the paper's own sizes",
    Scope.BEYOND: "they are not met: this goes beyond what the paper speaks of",
}


class RunSetting(TypedDict):
    """The experiment of a run, its changed settings, seeds, form and address."""

    experiment: str
    changed: dict[str, object]
    seeds: list[int]
    form: str
    id: str


class SeedResult(TypedDict):
    """Whether a check held in one seed, and by which margin."""

    seed: str
    held: bool
    margin: float


@dataclass(frozen=True)
class Broken:
    """The verdict on a claim after a change of its evidence."""

    change: str
    verdict: Verdict
    note: str


@dataclass(frozen=True)
class Seen:
    """The finding of a claim's judge, and which data it read.

    `detections` are the series that detectors saw; `read` has the names of the
    variables that were read of any run.
    """

    finding: Finding
    detections: tuple[Detection, ...]
    read: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """A verdict on a claim with everything that led to it.

    **Arguments:**

    - `row`: its line of the claims table.
    - `met`: which of its conditions are met; `conditions`: by run, the items that the
      paper gives as numbers.
    - `settings`: by run its experiment, what was changed there, and the seeds.
    - `seeds`: by check over seeds, held and margin of each seed.
    - `broken`: the verdicts on its mutated runs.
    """

    claim: Claim
    row: Row
    met: str
    conditions: dict[str, list[Condition]]
    code: list[Source]
    settings: dict[str, RunSetting]
    seeds: dict[str, list[SeedResult]]
    broken: list[Broken]
    seen: Seen

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The variables of the runs that the judge read."""
        return self.seen.read

    @property
    def fails_where(self) -> list[str]:
        """By check, which numbers would make it fail."""
        return [fails_where(check) for check in self.seen.finding.checks]

    def as_json(self) -> dict[str, object]:
        """The explanation in plain Python, without the fields of its row."""
        names = ("met", "settings", "looked_at", "seeds", "fails_where")
        return {
            "conditions": self.claim.conditions,
            "items": {
                name: [plain(item.as_json()) for item in items]
                for name, items in self.conditions.items()
            },
            "predicate": self.claim.predicate,
            "system": self.claim.system,
            "source": self.claim.source,
            **{name: plain(getattr(self, name)) for name in names},
            "code": [asdict(source) for source in self.code],
            "broken": [plain(asdict(mutated)) for mutated in self.broken],
        }


def explain(paper: Paper, claim: Claim, evidence: Evidence) -> Explanation:
    """Judge a claim on its runs and keep all that led to the verdict."""
    judgement = judge(claim, evidence)
    row = make_row(claim, paper.slug, judgement, seconds=0.0)
    deciding = claim.judge
    if claim.correction and row.verdict is Verdict.HOLDS_CORRECTED:
        deciding = claim.correction.judge
    seen = watch(deciding, evidence)
    return Explanation(
        claim=claim,
        row=row,
        met=f"Scope {row.scope}: {MET[row.scope]}.",
        conditions=_conditions(paper, evidence),
        code=sources(deciding),
        settings={
            name: _setting(run, claim.needs[name]) for name, run in evidence.items()
        },
        seeds=_seeds(seen, evidence),
        broken=broken(claim, evidence),
        seen=seen,
    )


def _conditions(paper: Paper, evidence: Evidence) -> dict[str, list[Condition]]:
    """By run the items of its paper's conditions, where those are numbers."""
    if paper.conditions is None:
        return {}
    items = {name: paper.conditions(setting_of(run)) for name, run in evidence.items()}
    return {name: conditions for name, conditions in items.items() if conditions}


def _setting(run: xr.Dataset, request: Request) -> RunSetting:
    return {
        "experiment": request.experiment,
        "changed": dict(request.overrides),
        "seeds": [int(seed) for seed in run["seed"].values],
        "form": run.attrs.get("form", ""),
        "id": run.attrs.get("id", ""),
    }


def _seeds(seen: Seen, evidence: Evidence) -> dict[str, list[SeedResult]]:
    """By check over seeds, the result of each seed."""
    results: dict[str, list[SeedResult]] = {}
    for check in seen.finding.checks:
        if isinstance(check, Seeds):
            names = seed_names(len(check.held), evidence)
            rows = zip(names, check.held, check.margin, strict=True)
            results[check.what] = [
                {"seed": seed, "held": bool(held), "margin": margin}
                for seed, held, margin in rows
            ]
    return results


def seed_names(count: int, evidence: Evidence) -> list[str]:
    """Names of the entries of a check over seeds.

    By the seeds of a run that has as many; by run and seed where that many runs stand
    one after the other; by number otherwise.
    """
    runs = {
        name: [str(seed) for seed in run["seed"].values.tolist()]
        for name, run in evidence.items()
    }
    for seeds in runs.values():
        if len(seeds) == count:
            return seeds
    every = [f"{name}: {seed}" for name, seeds in runs.items() for seed in seeds]
    return every if len(every) == count else [str(n + 1) for n in range(count)]


def broken(claim: Claim, evidence: Evidence) -> list[Broken]:
    """The verdicts on each mutation of the runs, under which a claim must not hold."""
    verdicts = []
    for name, mutation in claim.mutations.items():
        # A mutated value, and its logarithm, may be no number any more.
        with np.errstate(all="ignore"):
            decision = judge(claim, mutation(evidence)).decision
        verdicts.append(Broken(name, decision.verdict, decision.note))
    return verdicts


@singledispatch
def fails_where(check: Measurement) -> str:
    """Which numbers would make this check fail, in words."""
    return "it could not be checked"


@fails_where.register
def _(check: Exact) -> str:
    text = f"{check.what}: an error above {check.tolerance:.3g}"
    if 0.0 < check.error <= check.tolerance:
        text += f", {check.tolerance / check.error:.3g} times what it is"
    return text


@fails_where.register
def _(check: Seeds) -> str:
    needed = max(1, math.ceil(check.q * len(check.held) - 1e-9))
    return (
        f"{check.what}: in fewer than {needed} of {len(check.held)} seeds; it is in "
        f"{sum(check.held)}, the nearest to failing by {min(check.margin):.3g}"
    )


@fails_where.register
def _(check: Ladder) -> str:
    kind = check.kind.removesuffix("-tilde")
    if kind == "o(1)":
        return (
            f"{check.what}: an interval of the slope that reaches above 0, or a last "
            "rung above a quarter of the first"
        )
    side = {"O": f"above {BAND}", "Omega": f"below −{BAND}"}
    return (
        f"{check.what}: an interval of the slope of measured / predicted that reaches "
        f"{side.get(kind, f'outside ±{BAND}')}, or a ratio that changes by more than "
        f"{check.constant:g}"
    )


@fails_where.register
def _(check: Slope) -> str:
    low, high = check.expected - check.tolerance, check.expected + check.tolerance
    return f"{check.what}: a fitted slope outside [{low:.4g}, {high:.4g}]"


@fails_where.register
def _(check: HighProbability) -> str:
    draws = check.draws[-1]
    allowed = [n for n in range(draws + 1) if upper_bound(n, draws) <= check.delta]
    if not allowed:
        return f"{check.what}: {draws} draws are too few for {check.delta:g}, always"
    return f"{check.what}: more than {allowed[-1]} failures in {draws} draws"


@fails_where.register
def _(check: LargeEnough) -> str:
    return f"{check.what}: not at one of the largest two sizes"


_read: ContextVar[list[str]] = ContextVar("read")


class _WatchedRun(xr.Dataset):
    """A run that remembers which of its variables were read."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        names = _read.get([])
        if isinstance(key, Hashable) and str(key) not in names:
            names.append(str(key))
        return super().__getitem__(key)


def watch(judge: Callable[[Evidence], Finding], evidence: Evidence) -> Seen:
    """The finding of a judge, and which data it reads."""
    runs = {
        name: _WatchedRun(run.data_vars, coords=run.coords, attrs=run.attrs)
        for name, run in evidence.items()
    }
    names: list[str] = []
    token = _read.set(names)
    try:
        with record_detections() as detections:
            finding = judge(runs)
    finally:
        _read.reset(token)
    every = {str(name) for run in evidence.values() for name in run}
    ends = {name for name in every if name.endswith(schema.AT_END)}
    # The values at the ends of stages, where all were read together, in bulk.
    bulk = ends if len(ends) > 1 and ends <= set(names) else set()
    hidden = {*schema.BOOKKEEPING, SEED, TIME, *bulk}
    read = tuple(name for name in names if name not in hidden)
    return Seen(finding, tuple(detections), read)


def series_of(seen: Seen, evidence: Evidence) -> tuple[Detection, ...]:
    """Series to show: those with a level first, else recorded variables that were read.

    A variable with further dims is shown by all its entries.
    """
    if seen.detections:
        return tuple(sorted(seen.detections, key=lambda series: series.level is None))
    run = next(iter(evidence.values()))
    names = [name.removesuffix(schema.AT_END) for name in seen.read] or ["loss"]
    return tuple(
        Detection(name, run, run[name].transpose(SEED, TIME, ...), None, ())
        for name in dict.fromkeys(names)
        if name in run and {SEED, TIME} <= set(run[name].dims)
        if run[name].dtype.kind == "f"
    )
