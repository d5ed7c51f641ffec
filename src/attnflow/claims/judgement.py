"""The judgement of a claim: gather its runs, judge, decide, compute the scope."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from attnflow.claims.base import Claim, Evidence, Verdict
from attnflow.claims.checks import Finding, Unchecked
from attnflow.claims.decision import Decision, Rule, decide
from attnflow.claims.scope import Circumstances, Declared, circumstances, declared_runs
from attnflow.claims.table import Row, make_row
from attnflow.schema.declarations import Numbers, Request
from attnflow.schema.installation import MissingData as MissingData

Gather = Callable[[Mapping[str, Request]], Evidence]
"""A function that computes or reads the runs that a claim needs."""
OPTIONAL_PACKAGES = ("torch",)


@dataclass(frozen=True)
class Judgement:
    """The decision on a printed statement, and on its correction where it has one."""

    decision: Decision
    numbers: Numbers
    correction: Decision | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict on the printed statement."""
        return self.decision.verdict


def rule_of(claim: Claim) -> Rule:
    """The rule for the printed statement."""
    return Rule(claim.kind, claim.delta)


def corrected_rule_of(claim: Claim) -> Rule:
    """The rule for the corrected statement, whose kind may be another one."""
    assert claim.correction is not None
    return Rule(
        claim.correction.claim_kind or claim.kind, claim.correction.delta or claim.delta
    )


def judge(claim: Claim, evidence: Evidence) -> Judgement:
    """The decisions on a claim as printed and as corrected."""
    finding = claim.judge(evidence)
    decision = decide(finding, rule_of(claim))
    if claim.correction is None:
        return Judgement(decision, finding.numbers)
    corrected = claim.correction.judge(evidence)
    return Judgement(
        decision,
        {**corrected.numbers, **finding.numbers},
        decide(corrected, corrected_rule_of(claim)),
    )


def verify(
    claim: Claim,
    paper: Declared,
    gather: Gather,
    seeds: int | tuple[int, ...] | None = None,
) -> Row:
    """The row of a claim, from runs that `gather` computes or reads.

    Missing data or a missing optional package gives `unchecked` with the reason;
    every other error is a bug and is raised.

    **Arguments:**

    - `gather`: such as `partial(Runner().gather, paper)`.
    - `seeds`: how many, or which ones, for the runs that leave it open.
    """
    start = time.perf_counter()
    try:
        evidence = gather(with_seeds(claim.needs, seeds))
        judgement = judge(claim, evidence)
        around = circumstances(claim, evidence, paper)
    except MissingData as error:
        judgement, around = unchecked(claim, paper, str(error))
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in OPTIONAL_PACKAGES:
            raise
        reason = f"{package} is not installed: pip install 'attnflow[{package}]'."
        judgement, around = unchecked(claim, paper, reason)
    seconds = time.perf_counter() - start
    return make_row(claim, paper.slug, judgement, around, seconds=seconds)


def with_seeds(
    needs: Mapping[str, Request], seeds: int | tuple[int, ...] | None
) -> dict[str, Request]:
    """The runs that a claim needs, with `seeds` where it leaves them open."""
    return {
        name: request if request.seeds is not None else replace(request, seeds=seeds)
        for name, request in needs.items()
    }


def unchecked(
    claim: Claim, paper: Declared, reason: str
) -> tuple[Judgement, Circumstances]:
    """The judgement on a claim that could not be checked, for this reason."""
    decision = decide(Finding((Unchecked(reason),)), rule_of(claim))
    around = circumstances(claim, declared_runs(claim, paper), paper)
    return Judgement(decision, {}, decision), around
