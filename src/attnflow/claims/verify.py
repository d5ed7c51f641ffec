"""From a claim to a row of the claims table: gather, judge, decide, correct."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from attnflow.claims.base import Claim, Evidence, Finding, Scope, Unchecked, Verdict
from attnflow.claims.decide import Decision, decide
from attnflow.claims.table import ClaimsTable as ClaimsTable
from attnflow.claims.table import as_expected as as_expected
from attnflow.schema.declarations import Request
from attnflow.schema.installation import MissingData

Gather = Callable[[Mapping[str, Request]], Evidence]
"""What makes or reads the runs that a claim needs."""

OPTIONAL_PACKAGES = ("torch",)


@dataclass(frozen=True)
class Row:
    """One line of the claims table, with the fields of `attnflow verify --json`.

    **Arguments:**

    - `held`, `seeds`, `interval`, `margin`: see `attnflow.claims.Decision`.
    - `seconds`: for the judgement, and for runs that were not there yet.
    - `what`: the predicate in words; `note`: the numbers behind the verdict.
    - `numbers`: what the claim measured, name → number or list.
    - `correction`: the statement that holds instead; empty unless `holds-corrected`.
    - `chance`, `more`: what chance alone would do, and how many seeds would decide; see
      `attnflow.claims.Decision`.
    """

    id: str
    paper: str
    place: str
    statement: str
    origin: str
    scope: Scope
    verdict: Verdict
    expected: Verdict
    held: int
    seeds: int
    interval: tuple[float, float] | None
    margin: float
    seconds: float
    numbers: Mapping[str, Any] = field(default_factory=dict)
    what: str = ""
    note: str = ""
    correction: str = ""
    chance: float = 0.0
    more: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The row in plain Python: texts, finite numbers, lists and `None`."""
        return {f.name: plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Row":
        """The row that `as_json` gave; fields that it did not give are passed over."""
        known = {f.name for f in fields(cls)}
        try:
            values = {name: value for name, value in content.items() if name in known}
            values |= {name: Verdict(values[name]) for name in ("verdict", "expected")}
            interval = values["interval"]
            values["interval"] = None if interval is None else tuple(interval)
            return cls(**{**values, "scope": Scope(values["scope"])})
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{str(content)[:60]} is no row of a claims table ({error!r}). Give "
                "what `attnflow verify --json` writes."
            ) from error


@dataclass(frozen=True)
class Judgement:
    """What evidence says about a claim, and by which statement it holds."""

    decision: Decision
    numbers: Mapping[str, Any]
    correction: str = ""


def judge(claim: Claim, evidence: Evidence, scope: Scope | None = None) -> Judgement:
    """The decision on a claim; where it does not hold, on its correction.

    **Arguments:**

    - `scope`: in the place of the claim's own, for runs with other settings.
    """
    scope = scope or claim.scope
    finding = claim.judge(evidence)
    decision = decide(finding, scope)
    tried = decision.verdict in (Verdict.FAILS, Verdict.INCONCLUSIVE)
    if claim.correction is None or not tried:
        return Judgement(decision, finding.numbers)
    corrected = claim.correction.judge(evidence)
    second = decide(corrected, scope)
    if second.verdict is not Verdict.HOLDS:
        return Judgement(decision, {**corrected.numbers, **finding.numbers})
    return Judgement(
        replace(
            second,
            verdict=Verdict.HOLDS_CORRECTED,
            note=f"as printed: {decision.note}; corrected: {second.note}",
        ),
        {**finding.numbers, **corrected.numbers},
        claim.correction.statement,
    )


def verify(
    claim: Claim,
    paper: str,
    gather: Gather,
    seeds: int | tuple[int, ...] | None = None,
    *,
    scope: Scope | None = None,
) -> Row:
    """Check one claim of a paper.

    Missing data or a missing optional package gives `unchecked` with the reason;
    every other error is a bug and is raised.

    **Arguments:**

    - `paper`: its slug.
    - `gather`: makes or reads the runs, such as `partial(Runner().gather, paper)`.
    - `seeds`: how many, or which ones, for the runs that leave it open.
    - `scope`: in the place of the claim's own, for runs with other settings.
    """
    start = time.perf_counter()
    try:
        found = judge(claim, gather(with_seeds(claim.needs, seeds)), scope)
    except (MissingData, ImportError) as error:
        finding = Finding((Unchecked(_reason(error)),))
        found = Judgement(decide(finding, claim.scope), {})
    seconds = time.perf_counter() - start
    return make_row(claim, paper, found, seconds=seconds, scope=scope)


def make_row(
    claim: Claim,
    paper: str,
    found: Judgement,
    *,
    seconds: float,
    scope: Scope | None = None,
) -> Row:
    """The row of a claim that was judged already."""
    decision = found.decision
    return Row(
        id=claim.id,
        paper=paper,
        place=claim.place,
        statement=claim.statement,
        origin=claim.origin,
        scope=scope or claim.scope,
        verdict=decision.verdict,
        expected=claim.expected,
        held=decision.held,
        seeds=decision.seeds,
        interval=decision.interval,
        margin=decision.margin,
        seconds=seconds,
        numbers=plain(found.numbers),
        what=claim.predicate,
        note=decision.note,
        correction=found.correction,
        chance=decision.chance,
        more=decision.more,
    )


def plain(value: Any) -> Any:
    """A value in plain Python for JSON; numbers that are not finite become `None`."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray) or hasattr(value, "to_numpy"):
        return plain(np.asarray(value).tolist())
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return None if value is None else str(value)


def with_seeds(
    needs: Mapping[str, Request], seeds: int | tuple[int, ...] | None
) -> dict[str, Request]:
    """The runs that a claim needs, with `seeds` where it leaves them open."""
    return {
        name: request if request.seeds is not None else replace(request, seeds=seeds)
        for name, request in needs.items()
    }


def _reason(error: MissingData | ImportError) -> str:
    """Why a claim is unchecked; an import error of our own making is raised again."""
    if isinstance(error, MissingData):
        return str(error)
    package = (error.name or "").partition(".")[0]
    if package not in OPTIONAL_PACKAGES:
        raise error
    return f"{package} is not installed: pip install 'attnflow[{package}]'."
