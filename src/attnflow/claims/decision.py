"""The rules that turn checks into verdicts, fixed before anything is run.

Each rule gives a `margin` in units of the claim's own scale: it is not negative where
the check holds, and at most 1 where its scale is a tolerance (1 means no error at
all, 0 just within, −1 twice the tolerance).

| check | scale of the margin |
|---|---|
| `Exact` | the tolerance: 1 − error / tolerance |
| `Seeds` | the claim's own; that of the seed on which the verdict depends |
| `Ladder` | the band ±0.05 of the slope, and the logarithm of the constant |
| `Slope` | the tolerance: 1 − abs(slope − expected) / tolerance |
| `HighProbability` | delta: 1 − bound / delta |
| `LargeEnough` | decades between the smallest rung that holds and the largest |

The verdict is `fails` in two cases alone: an exact counterexample, and at scope
`theorem` a trend away from the statement at the top rungs of a ladder. Everything else
that does not hold is `inconclusive`: more seeds or larger sizes may show it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from attnflow.claims import chance, statistics
from attnflow.claims.base import (
    Exact,
    Finding,
    HighProbability,
    Ladder,
    LargeEnough,
    Measurement,
    Scope,
    Seeds,
    Slope,
    Unchecked,
    Verdict,
)
from attnflow.claims.ladder import bends_away, climb, too_short

# JSON has no infinity; a margin this large says as much.
LARGEST = 1e6

_NOT_SEEN = {
    Scope.THEOREM: "not seen, which alone does not refute it",
    Scope.EXPERIMENT: "not seen at the paper's sizes",
    Scope.BEYOND: "not seen here, beyond the paper's conditions",
}


@dataclass(frozen=True)
class Decision:
    """A verdict with the numbers behind it.

    **Arguments:**

    - `held`, `seeds`: in how many seeds, out of how many; deterministic checks count
      as one.
    - `interval`: of the proportion of seeds, or of a slope; `None` for exact checks.
    - `margin`: how far inside (positive) or outside the rule, finite.
    - `note`: the numbers behind it, in words.
    - `chance`: the probability that chance alone passes the rule; see
      `attnflow.claims.chance.ASSUMED`.
    - `more`: seeds that would decide an inconclusive check; `None` where seeds do not
      decide, or too many would be needed.
    """

    verdict: Verdict
    held: int
    seeds: int
    interval: tuple[float, float] | None
    margin: float
    note: str
    chance: float = 0.0
    more: int | None = None


def decide(finding: Finding, scope: Scope) -> Decision:
    """The verdict on all checks of a finding together.

    All must hold. A failure outweighs an inconclusive check, and that an unchecked
    one; the margin is the smallest.
    """
    checks = finding.checks or (Unchecked("the claim's judge gave no check"),)
    return combine([decide_check(check, scope) for check in checks])


def combine(decisions: Sequence[Decision]) -> Decision:
    """The decision on several checks together, which must all hold."""
    ranks = (Verdict.FAILS, Verdict.INCONCLUSIVE, Verdict.UNCHECKED, Verdict.HOLDS)
    verdict = min((d.verdict for d in decisions), key=ranks.index)
    deciding = [d for d in decisions if d.verdict == verdict]
    measured = [d for d in decisions if d.verdict != Verdict.UNCHECKED] or deciding
    with_interval = [d for d in deciding if d.interval]
    with_interval = with_interval or [d for d in decisions if d.interval]
    weakest = min(measured, key=lambda d: (d.held / max(d.seeds, 1), -d.seeds))
    return Decision(
        verdict,
        weakest.held,
        weakest.seeds,
        min(with_interval, key=lambda d: d.margin).interval if with_interval else None,
        min(d.margin for d in measured),
        "; ".join(d.note for d in deciding),
        min(d.chance for d in measured),
        max((d.more for d in deciding if d.more), default=None),
    )


@singledispatch
def decide_check(check: Measurement, scope: Scope) -> Decision:
    """The verdict on a single check at a scope."""
    raise TypeError(f"{check!r} is no check: give one of attnflow.claims.base.")


@decide_check.register
def _(check: Unchecked, scope: Scope) -> Decision:
    return Decision(Verdict.UNCHECKED, 0, 0, None, 0.0, check.reason)


@decide_check.register
def _(check: Exact, scope: Scope) -> Decision:
    if math.isnan(check.error):
        return _inconclusive(f"{check.what}: the error is not a number")
    holds = check.error <= check.tolerance
    sign = "≤" if holds else ">"
    note = f"{check.what}: {check.error:.3g} {sign} {check.tolerance:.3g}"
    margin = 1.0 if check.error <= 0.0 else -LARGEST
    if check.tolerance > 0.0:
        margin = 1.0 - check.error / check.tolerance
    return _decision(holds, check.counterexample, scope, margin=margin, note=note)


@decide_check.register
def _(check: Seeds, scope: Scope) -> Decision:
    held, seeds = int(sum(check.held)), len(check.held)
    if seeds == 0:
        return _inconclusive(f"{check.what}: there are no seeds")
    interval = statistics.clopper_pearson
    if check.on_demand:
        interval = statistics.confidence_sequence
    # The rounding is that of q, a decimal: 0.9 · 10 seeds are 9 seeds.
    needed = max(1, math.ceil(check.q * seeds - 1e-9))
    known = [-LARGEST if math.isnan(m) else m for m in check.margin]
    return _decision(
        held >= needed,
        False,
        scope,
        margin=sorted(known, reverse=True)[needed - 1],
        note=f"{check.what}: in {held} of {seeds} seeds, {needed} needed",
        interval=interval(held, seeds),
        count=(held, seeds),
        chance=chance.of_coins(needed, seeds),
        more=None if held >= needed else chance.seeds_to_decide(held, seeds, check.q),
    )


@decide_check.register
def _(check: Ladder, scope: Scope) -> Decision:
    if reason := too_short(check.size):
        return _inconclusive(f"{check.what}: {reason}", check.seeds)
    trend = climb(check)
    if trend is None:
        reason = "the ratio is not a positive number at every size"
        return _inconclusive(f"{check.what}: {reason}", check.seeds)
    return _decision(
        trend.holds,
        trend.away and scope is Scope.THEOREM,
        scope,
        margin=trend.margin,
        note=f"{check.what}: {trend.note}",
        interval=trend.interval,
        count=(check.seeds * trend.holds, check.seeds),
        chance=chance.DRIFT,
    )


@decide_check.register
def _(check: Slope, scope: Scope) -> Decision:
    x, y = np.array(check.x), np.array(check.y)
    usable = np.isfinite(x).all() and np.isfinite(y).all()
    if len(x) < 3 or not usable or np.ptp(x) == 0.0:
        reason = "a slope needs three finite points, not all at the same x"
        return _inconclusive(f"{check.what}: {reason}", check.seeds)
    slope = statistics.fit_line(x, y).slope
    holds = abs(slope - check.expected) <= check.tolerance
    return _decision(
        holds,
        scope is Scope.THEOREM and bends_away(check),
        scope,
        margin=1.0 - abs(slope - check.expected) / check.tolerance,
        note=f"{check.what}: slope {slope:.4g}, stated {check.expected:.4g} "
        f"± {check.tolerance:.2g}",
        interval=statistics.bootstrap_slope(x, y, generator=np.random.default_rng(0)),
        count=(check.seeds * holds, check.seeds),
        chance=chance.of_orders(check.x, check.y, check.expected, check.tolerance),
    )


@decide_check.register
def _(check: HighProbability, scope: Scope) -> Decision:
    failures, draws = check.failures[-1], check.draws[-1]
    bound = statistics.upper_bound(failures, draws)
    rates = [f / n for f, n in zip(check.failures, check.draws, strict=True)]
    grows = len(rates) > 1 and rates[-1] >= rates[-2]
    away = grows and statistics.lower_bound(failures, draws) > check.delta
    more, successes = None, draws - failures
    if bound > check.delta:
        # Level 0.9: one one-sided 95% bound or the other decides.
        more = chance.seeds_to_decide(successes, draws, 1 - check.delta, level=0.9)
    return _decision(
        bound <= check.delta,
        away and scope is Scope.THEOREM,
        scope,
        margin=1.0 - bound / check.delta,
        note=f"{check.what}: {failures} failures in {draws} draws, so at most "
        f"{bound:.3g} (95%), stated {check.delta:.3g}",
        interval=statistics.clopper_pearson(successes, draws),
        count=(successes, draws),
        chance=chance.BOUND,
        more=more,
    )


@decide_check.register
def _(check: LargeEnough, scope: Scope) -> Decision:
    rungs = sorted(zip(check.size, check.held, strict=True))
    failing = [i for i, (_, held) in enumerate(rungs) if not held]
    first = failing[-1] + 1 if failing else 0
    if reason := too_short(check.size):
        return _inconclusive(f"{check.what}: {reason}", check.seeds)
    holds = len(rungs) - first >= 2
    note = "not at the largest two sizes"
    if holds:
        note = f"from size {rungs[first][0]:.4g} on, up to {rungs[-1][0]:.4g}"
    return _decision(
        holds,
        False,
        scope,
        margin=math.log10(rungs[-1][0] / rungs[first][0]) if holds else -1.0,
        note=f"{check.what}: {note}",
        count=(check.seeds * holds, check.seeds),
        chance=chance.TWO_RUNGS,
    )


def _decision(
    holds: bool,
    fails: bool,
    scope: Scope,
    *,
    margin: float,
    note: str,
    interval: tuple[float, float] | None = None,
    count: tuple[int, int] | None = None,
    chance: float = 0.0,
    more: int | None = None,
) -> Decision:
    held, seeds = map(int, count or (holds, 1))
    finite = min(max(float(margin), -LARGEST), LARGEST)
    if holds or fails:
        verdict, more = Verdict.HOLDS if holds else Verdict.FAILS, None
    else:
        verdict, note = Verdict.INCONCLUSIVE, f"{note}; {_NOT_SEEN[scope]}"
    return Decision(verdict, held, seeds, interval, finite, note, chance, more)


def _inconclusive(note: str, seeds: int = 1) -> Decision:
    return Decision(Verdict.INCONCLUSIVE, 0, seeds, None, 0.0, note)
