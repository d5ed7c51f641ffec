"""The explanation of a verdict: conditions, code, settings, and when it would fail."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypedDict

from attnflow.claims import (
    Claim,
    Evidence,
    Measurement,
    Row,
    Rule,
    Seeds,
    Verdict,
    assumed_items,
    recorded_words,
)
from attnflow.claims.base import Judge, Mutation
from attnflow.claims.judgement import corrected_rule_of, rule_of
from attnflow.claims.source_code import Source, sources
from attnflow.claims.table import as_stated
from attnflow.claims.trials import Reading, attempt, try_out, watch
from attnflow.papers.base import Paper
from attnflow.papers.inventory import statements_with, users_of
from attnflow.papers.replies import Reply
from attnflow.runs.trials import Trials
from attnflow.schema import setting_of
from attnflow.schema.conditions import Condition
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr
from attnflow.schema.settings import JsonObject, canonical_json, plain
from attnflow.site.explain.failing import fails_where

Items = Mapping[str, Mapping[str, Condition]]
"""By judged run, items of conditions by name."""
AS_CORRECTED = "as corrected"
ERROR = "no verdict"
"""What is said where a judge ends in an error on changed runs."""


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
class Neighbour:
    """A statement of the paper, and the recorded verdicts of its claims by their ids.

    `claims` is empty where nothing judges it.
    """

    id: str
    claims: dict[str, str]


@dataclass(frozen=True)
class Neighbourhood:
    """The statements that a claim judges, those they rest on, and those that use them.

    The first are ids: the claim itself is one of those that judge them.
    """

    judges: tuple[str, ...]
    uses: tuple[Neighbour, ...]
    used_by: tuple[Neighbour, ...]


@dataclass(frozen=True)
class Tried:
    """The verdicts on a statement under changes of the runs it was judged on.

    **Arguments:**

    - `statement`: `as printed` (`as stated` if it is ours), or `as corrected` where
      that one holds.
    - `failing`: generated changes under which it fails; `changes`: how many were tried;
      `generated`: the verdict under each of them.
    - `inert`: variables that it reads and that no change of makes matter.
    - `unknown`: verdicts on runs that are untrained, cut, or have holes.
    - `mutations`: verdicts under the changes that the claim itself names; `mends`: of
      the printed statement under those that are to mend it.
    """

    statement: str
    failing: tuple[str, ...]
    changes: int
    inert: tuple[str, ...]
    unknown: Mapping[str, str]
    mutations: Mapping[str, str]
    mends: Mapping[str, str]
    generated: Mapping[str, str]


@dataclass(frozen=True)
class Explanation:
    """A verdict on a claim with everything that led to it.

    **Arguments:**

    - `row`: its line of the claims table.
    - `items`: by judged run, the items of the conditions that the statement assumes.
    - `around`: the statements that it rests on, and those that use it.
    - `settings`: by run its experiment, what was changed there, and the seeds.
    - `printed`, `corrected`: what the judges of both statements gave and read.
    - `seeds`: by check over seeds, held and margin of each seed.
    - `fails_where`: by check, which numbers would make it fail.
    - `tried`: the verdicts under changes of the runs.
    - `replies`: what the paper's authors answered.
    """

    claim: Claim
    row: Row
    items: Items
    around: Neighbourhood
    code: list[Source]
    settings: dict[str, RunSetting]
    printed: Reading
    corrected: Reading | None
    seeds: dict[str, list[SeedResult]]
    fails_where: list[str]
    tried: Tried
    replies: tuple[Reply, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The variables of the runs that the judges read."""
        both = (self.printed, self.corrected)
        pairs = [pair for reading in both if reading for pair in reading.reads]
        return tuple(dict.fromkeys(name for _, name in pairs))

    def as_json(self) -> JsonObject:
        """The explanation in plain Python, without the fields of its row."""
        names = ("settings", "reads", "seeds", "fails_where")
        return {
            "words": self.row.words,
            "reading": self.row.reading,
            "assumes": list(self.claim.under),
            "items": {
                run: [plain(item.as_json()) for item in items.values()]
                for run, items in self.items.items()
            },
            "around": plain(asdict(self.around)),
            "predicate": self.claim.check,
            "system": self.claim.system,
            "source": self.claim.source,
            **{name: plain(getattr(self, name)) for name in names},
            "code": [asdict(source) for source in self.code],
            "tried": plain(asdict(self.tried)),
            "replies": [reply.as_json() for reply in self.replies],
        }


def explain(
    paper: Paper,
    claim: Claim,
    evidence: Evidence,
    row: Row,
    trials: Trials | None = None,
) -> Explanation:
    """Judge a claim once more on its runs and keep all that led to its row.

    `trials`: those that a store keeps, where the runs are those of a stored verdict.
    """
    printed = watch(claim.judge, evidence)
    checks = [("", check, rule_of(claim)) for check in printed.finding.checks]
    code, corrected = sources(claim.judge), None
    if claim.correction is not None:
        corrected = watch(claim.correction.judge, evidence)
        rule = corrected_rule_of(claim)
        checks += [(AS_CORRECTED, check, rule) for check in corrected.finding.checks]
        known = {source.name for source in code}
        more = sources(claim.correction.judge)
        code += [source for source in more if source.name not in known]
    return Explanation(
        claim=claim,
        row=row,
        items=assumed_items(claim, evidence, paper),
        around=_neighbourhood(paper, claim.id),
        code=code,
        settings={
            name: _setting(run, claim.needs[name], paper)
            for name, run in evidence.items()
        },
        printed=printed,
        corrected=corrected,
        seeds={
            _labelled(which, check): _seeds(check, evidence)
            for which, check, _ in checks
            if isinstance(check, Seeds)
        },
        fails_where=[
            _prefixed(w, fails_where(check, rule)) for w, check, rule in checks
        ],
        tried=_try_claim(claim, evidence, trials),
        replies=paper.replies_to(claim.id),
    )


def _neighbourhood(paper: Paper, claim: str) -> Neighbourhood:
    """The statements around a claim, from the paper's inventory."""
    statements = paper.statements
    return Neighbourhood(
        tuple(statement.id for statement in statements_with(statements, claim)),
        _neighbours(paper, paper.uses_of(claim)),
        _neighbours(paper, users_of(statements, claim)),
    )


def _neighbours(paper: Paper, ids: Iterable[str]) -> tuple[Neighbour, ...]:
    claims = {statement.id: statement.claims for statement in paper.statements}
    recorded = {claim.id: recorded_words(claim) for claim in paper.claims}
    return tuple(
        Neighbour(id, {c: recorded[c] for c in claims.get(id, ()) if c in recorded})
        for id in ids
    )


def _try_claim(claim: Claim, evidence: Evidence, trials: Trials | None) -> Tried:
    """Try the statement that holds: the printed one, or else its correction."""
    statement, judge, rule = _statement(claim)
    compute = partial(try_out, judge, rule, evidence)
    trial = compute() if trials is None else trials.recall(statement, compute)
    groups = (*trial.variables.values(), trial.settings)
    generated = {name: _word(v) for group in groups for name, v in group.items()}
    return Tried(
        statement,
        trial.failing,
        len(generated),
        trial.inert,
        {name: _word(verdict) for name, verdict in trial.unknown.items()},
        _verdicts(judge, rule, evidence, claim.mutations),
        _verdicts(claim.judge, rule_of(claim), evidence, claim.mends),
        generated,
    )


def over_seeds(value: Any) -> Any:
    """Three equal numbers, of the least, the median and the largest seed, as one."""
    is_one = isinstance(value, list) and len(value) == 3 and value == value[:1] * 3
    return value[0] if is_one else value


def _statement(claim: Claim) -> tuple[str, Judge, Rule]:
    if claim.expected is Verdict.HOLDS or claim.correction is None:
        return as_stated(claim.origin), claim.judge, rule_of(claim)
    return AS_CORRECTED, claim.correction.judge, corrected_rule_of(claim)


def _verdicts(
    judge: Judge, rule: Rule, evidence: Evidence, changes: Mapping[str, Mutation]
) -> dict[str, str]:
    return {
        name: _word(attempt(judge, rule, evidence, change))
        for name, change in changes.items()
    }


def _word(verdict: Verdict | None) -> str:
    return ERROR if verdict is None else str(verdict)


def _labelled(which: str, check: Measurement) -> str:
    return _prefixed(which, getattr(check, "what", ""))


def _prefixed(which: str, text: str) -> str:
    return f"{which}: {text}" if which else text


def _setting(run: xr.Dataset, request: Request, paper: Paper) -> RunSetting:
    """What a run is of; its own setting counts where it is a user's."""
    own = paper.recipe(request.experiment).setting
    ours = json.loads(canonical_json(asdict(own)))
    setting = setting_of(run) if "setting" in run.attrs else ours
    return {
        "experiment": request.experiment,
        "changed": {k: v for k, v in setting.items() if v != ours.get(k)},
        "seeds": [int(seed) for seed in run["seed"].values],
        "form": run.attrs.get("form", ""),
        "id": run.attrs.get("id", ""),
    }


def _seeds(check: Seeds, evidence: Evidence) -> list[SeedResult]:
    """The result of each seed of a check."""
    names = seed_names(len(check.held), evidence)
    rows = zip(names, check.held, check.margin, strict=True)
    return [
        {"seed": seed, "held": bool(held), "margin": margin}
        for seed, held, margin in rows
    ]


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
