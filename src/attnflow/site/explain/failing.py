"""What would have made a claim fail: by how much, and under which changes."""

import math
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from attnflow.claims import (
    Claim,
    Evidence,
    Exact,
    HighProbability,
    Ladder,
    LargeEnough,
    Measurement,
    Seeds,
    Slope,
    Verdict,
    judge,
)
from attnflow.claims.ladder import BAND
from attnflow.claims.statistics import upper_bound


@dataclass(frozen=True)
class Broken:
    """What a claim comes to on evidence that was changed."""

    change: str
    verdict: Verdict
    note: str


def broken(claim: Claim, evidence: Evidence) -> list[Broken]:
    """The claim on each of its mutated runs, on which it must not hold."""
    found = []
    for name, mutation in claim.mutations.items():
        # What was measured may be no number any more, and its logarithm too.
        with np.errstate(all="ignore"):
            decision = judge(claim, mutation(evidence)).decision
        found.append(Broken(name, decision.verdict, decision.note))
    return found


@singledispatch
def fails_where(check: Measurement) -> str:
    """What would have to be measured for this check not to hold, in words."""
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
    side = {"O": f"above {BAND}", "Omega": f"below −{BAND}", "o(1)": "above 0"}
    kind = check.kind.removesuffix("-tilde")
    slope = side.get(kind, f"outside ±{BAND}")
    if kind == "o(1)":
        return (
            f"{check.what}: an interval of the slope that reaches {slope}, or a last "
            "rung above a quarter of the first"
        )
    return (
        f"{check.what}: an interval of the slope of measured / predicted that reaches "
        f"{slope}, or a ratio that changes by more than {check.constant:g}"
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
