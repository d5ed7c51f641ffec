"""The judgement of a claim: gather its runs, judge, decide, try the correction."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace

from attnflow.claims.base import Claim, Evidence, Finding, Scope, Unchecked, Verdict
from attnflow.claims.decision import Decision, decide
from attnflow.claims.table import Row
from attnflow.schema.declarations import Numbers, Request
from attnflow.schema.installation import MissingData as MissingData
from attnflow.schema.plain_values import plain

Gather = Callable[[Mapping[str, Request]], Evidence]
"""A function that computes or reads the runs that a claim needs."""
OPTIONAL_PACKAGES = ("torch",)


@dataclass(frozen=True)
class Judgement:
    """The decision on a claim, and the correction by which it holds, if by one."""

    decision: Decision
    numbers: Numbers
    correction: str = ""


def judge(claim: Claim, evidence: Evidence, scope: Scope | None = None) -> Judgement:
    """The decision on a claim; where it does not hold, on its correction.

    A `scope` replaces the claim's, for runs with other settings.
    """
    scope = scope or claim.scope
    finding = claim.judge(evidence)
    decision = decide(finding, scope)
    may_be_corrected = decision.verdict in (Verdict.FAILS, Verdict.INCONCLUSIVE)
    if claim.correction is None or not may_be_corrected:
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
    """The row of a claim, from runs that `gather` computes or reads.

    Missing data or a missing optional package gives `unchecked` with the reason;
    every other error is a bug and is raised.

    **Arguments:**

    - `paper`: its slug.
    - `gather`: such as `partial(Runner().gather, paper)`.
    - `seeds`: how many, or which ones, for the runs that leave it open.
    - `scope`: instead of the claim's, for runs with other settings.
    """
    start = time.perf_counter()
    try:
        judgement = judge(claim, gather(with_seeds(claim.needs, seeds)), scope)
    except MissingData as error:
        judgement = _unchecked(claim, str(error))
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in OPTIONAL_PACKAGES:
            raise
        reason = f"{package} is not installed: pip install 'attnflow[{package}]'."
        judgement = _unchecked(claim, reason)
    seconds = time.perf_counter() - start
    return make_row(claim, paper, judgement, seconds=seconds, scope=scope)


def make_row(
    claim: Claim,
    paper: str,
    judgement: Judgement,
    *,
    seconds: float,
    scope: Scope | None = None,
) -> Row:
    """The row of a claim that was judged already."""
    return Row(
        id=claim.id,
        paper=paper,
        place=claim.place,
        statement=claim.statement,
        origin=claim.origin,
        scope=scope or claim.scope,
        expected=claim.expected,
        seconds=seconds,
        numbers=plain(judgement.numbers),
        what=claim.predicate,
        correction=judgement.correction,
        **asdict(judgement.decision),
    )


def with_seeds(
    needs: Mapping[str, Request], seeds: int | tuple[int, ...] | None
) -> dict[str, Request]:
    """The runs that a claim needs, with `seeds` where it leaves them open."""
    return {
        name: request if request.seeds is not None else replace(request, seeds=seeds)
        for name, request in needs.items()
    }


def _unchecked(claim: Claim, reason: str) -> Judgement:
    return Judgement(decide(Finding((Unchecked(reason),)), claim.scope), {})
