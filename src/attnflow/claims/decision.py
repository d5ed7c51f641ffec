"""The rules that turn checks into verdicts by the kind of the statement.

They are fixed before anything is run, and each of them can give `fails`, at any scope.

| check | holds where | fails where |
|---|---|---|
| `Exact` | error ≤ tolerance | error > 10 · tolerance |
| `Seeds`, identity or universal | no seed violates it | one seed violates it |
| `Seeds`, observation or asymptotic | 90% of seeds have it | 90% have the contrary |
| `Seeds`, probability | bound on the failures ≤ delta | lower bound > delta |
| `HighProbability` | the same, in draws | the same, in draws |
| `Ladder` | the rule of `attnflow.claims.ladder` | the top rungs leave the band |
| `Slope` | fitted slope within the tolerance | its interval and the top lie beyond |
| `Estimate` | the estimate is within the tolerance | its interval lies beyond |
| `LargeEnough` | the largest two sizes have it | neither of them has it |

Bounds are one-sided 95% bounds. What is not known (NaN) never counts as held, nor as
the contrary. Everything else is `inconclusive`: more seeds or larger sizes may decide.

Each rule gives a `margin` in units of the claim's own scale: it is not negative where
the check holds, and at most 1 where its scale is a tolerance (1 means no error at
all, 0 just within, −1 twice the tolerance).

| check | scale of the margin |
|---|---|
| `Exact` | the tolerance: 1 − error / tolerance |
| `Seeds` | the claim's own; that of the seed on which the verdict depends |
| `Ladder` | the band ±0.05 of the slope, and the logarithm of the constant |
| `Slope` | the tolerance: 1 − abs(slope − expected) / tolerance |
| `Estimate` | the tolerance: 1 − abs(estimate − expected) / tolerance |
| `HighProbability` | delta: 1 − bound / delta |
| `LargeEnough` | decades between the smallest rung that holds and the largest |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from attnflow.claims import chance, statistics
from attnflow.claims.base import Kind, Verdict
from attnflow.claims.checks import (
    Estimate,
    Exact,
    Finding,
    HighProbability,
    Ladder,
    LargeEnough,
    Measurement,
    Seeds,
    Slope,
    Unchecked,
)
from attnflow.claims.ladder import bends_away, climb, too_short

# JSON has no infinity; a margin this large means the same.
LARGEST = 1e6
SHARE = 0.9
"""The share of planned seeds that decides on an observation."""
BEYOND = 10.0
"""How many tolerances off an equality fails."""


@dataclass(frozen=True)
class Rule:
    """The kind of a statement, and the share of failures that a probability allows."""

    kind: Kind
    delta: float | None = None


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


def decide(finding: Finding, rule: Rule) -> Decision:
    """The verdict on all checks of a finding together.

    All must hold. A failure outweighs an inconclusive check, and that an unchecked
    one; the margin is the smallest.
    """
    checks = finding.checks or (Unchecked("the claim's judge gave no check"),)
    _require_ladder(checks, rule)
    return combine([decide_check(check, rule) for check in checks])


def _require_ladder(checks: Sequence[Measurement], rule: Rule) -> None:
    """Refuse an asymptotic statement that is judged at one size."""
    along_sizes = Ladder | Slope | LargeEnough | Unchecked | HighProbability
    if rule.kind is Kind.ASYMPTOTIC and not any(
        isinstance(check, along_sizes) for check in checks
    ):
        raise ValueError(
            "An asymptotic statement is judged along sizes, and there is no Ladder, "
            "Slope or LargeEnough among its checks. Give one, or call the statement "
            "universal and state its constants."
        )


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
def decide_check(check: Measurement, rule: Rule) -> Decision:
    """The verdict on a single check of a statement."""
    raise TypeError(f"{check!r} is not a check: give one of attnflow.claims.checks.")


@decide_check.register
def _(check: Unchecked, rule: Rule) -> Decision:
    return Decision(Verdict.UNCHECKED, 0, 0, None, 0.0, check.reason)


@decide_check.register
def _(check: Exact, rule: Rule) -> Decision:
    if math.isnan(check.error):
        return _inconclusive(f"{check.what}: the error is not a number")
    holds = check.error <= check.tolerance
    fails = check.error > BEYOND * check.tolerance
    sign = "≤" if holds else ">"
    note = f"{check.what}: {check.error:.3g} {sign} {check.tolerance:.3g}"
    margin = 1.0 if check.error <= 0.0 else -LARGEST
    if check.tolerance > 0.0:
        margin = 1.0 - check.error / check.tolerance
    return _decision(holds, fails, margin=margin, note=note)


@decide_check.register
def _(check: Seeds, rule: Rule) -> Decision:
    if not check.margin:
        return _inconclusive(f"{check.what}: there are no seeds")
    if rule.kind in (Kind.IDENTITY, Kind.UNIVERSAL):
        return _decide_every(check)
    if rule.kind is Kind.PROBABILITY:
        return _decide_rate(check, rule.delta)
    return _decide_share(check)


def _decide_every(check: Seeds) -> Decision:
    """The rule for statements about all runs: one counterexample refutes them."""
    held, seeds, violated = sum(check.held), len(check.margin), sum(check.violated)
    note = f"{check.what}: in {held} of {seeds} seeds"
    if violated:
        note = f"{note}, violated in {violated}"
    elif held < seeds:
        note = f"{note}, not known in {seeds - held}"
    return _decision(
        held == seeds,
        violated > 0,
        margin=min(map(_known, check.margin)),
        note=note,
        interval=statistics.clopper_pearson(held, seeds),
        count=(held, seeds),
        chance=chance.of_coins(seeds, seeds),
    )


def _decide_share(check: Seeds) -> Decision:
    """The rule for observations: 90% of the seeds have it, or have the contrary."""
    held, seeds, violated = sum(check.held), len(check.margin), sum(check.violated)
    # The rounding is that of 0.9, a decimal: 0.9 · 10 seeds are 9 seeds.
    needed = max(1, math.ceil(SHARE * seeds - 1e-9))
    contrary = f", the contrary in {violated}" if violated else ""
    return _decision(
        held >= needed,
        violated >= needed,
        margin=sorted(map(_known, check.margin), reverse=True)[needed - 1],
        note=f"{check.what}: in {held} of {seeds} seeds, {needed} needed{contrary}",
        interval=statistics.clopper_pearson(held, seeds),
        count=(held, seeds),
        chance=chance.of_coins(needed, seeds),
        more=None if held >= needed else chance.seeds_to_decide(held, seeds, SHARE),
    )


def _decide_rate(check: Seeds, delta: float | None) -> Decision:
    """The rule for probabilities: each seed is a draw, which may fail or be unknown."""
    if delta is None:
        raise ValueError(
            f"{check.what!r} is judged over seeds as a probability, and its claim has "
            "no delta. Give delta, the probability of failure that the paper allows."
        )
    seeds, failures = len(check.margin), len(check.margin) - sum(check.held)
    return _decide_failures(check.what, failures, sum(check.violated), seeds, delta)


@decide_check.register
def _(check: HighProbability, rule: Rule) -> Decision:
    failures, draws = check.failures[-1], check.draws[-1]
    return _decide_failures(check.what, failures, failures, draws, check.delta)


def _decide_failures(
    what: str, failures: int, certain: int, draws: int, delta: float
) -> Decision:
    """Failures in draws against δ; `certain` are those that are not just unknown."""
    bound = statistics.upper_bound(failures, draws)
    more, successes = None, draws - failures
    if bound > delta:
        # Level 0.9: one one-sided 95% bound or the other decides.
        more = chance.seeds_to_decide(successes, draws, 1 - delta, level=0.9)
    return _decision(
        bound <= delta,
        statistics.lower_bound(certain, draws) > delta,
        margin=1.0 - bound / delta,
        note=f"{what}: {failures} failures in {draws} draws, so at most "
        f"{bound:.3g} (95%), stated {delta:.3g}",
        interval=statistics.clopper_pearson(successes, draws),
        count=(successes, draws),
        chance=chance.BOUND,
        more=more,
    )


@decide_check.register
def _(check: Ladder, rule: Rule) -> Decision:
    if reason := too_short(check.size):
        return _inconclusive(f"{check.what}: {reason}", check.seeds)
    trend = climb(check)
    if trend is None:
        reason = "the ratio is not a positive number at every size"
        return _inconclusive(f"{check.what}: {reason}", check.seeds)
    return _decision(
        trend.holds,
        trend.away,
        margin=trend.margin,
        note=f"{check.what}: {trend.note}",
        interval=trend.interval,
        count=(check.seeds * trend.holds, check.seeds),
        chance=chance.DRIFT,
    )


@decide_check.register
def _(check: Slope, rule: Rule) -> Decision:
    x, y = np.array(check.x), np.array(check.y)
    usable = np.isfinite(x).all() and np.isfinite(y).all()
    if len(x) < 3 or not usable or np.ptp(x) == 0.0:
        reason = "a slope needs three finite points, not all at the same x"
        return _inconclusive(f"{check.what}: {reason}", check.seeds)
    slope = statistics.fit_line(x, y).slope
    holds = abs(slope - check.expected) <= check.tolerance
    return _decision(
        holds,
        bends_away(check),
        margin=1.0 - abs(slope - check.expected) / check.tolerance,
        note=f"{check.what}: slope {slope:.4g}, stated {check.expected:.4g} "
        f"± {check.tolerance:.2g}",
        interval=statistics.bootstrap_slope(x, y, generator=np.random.default_rng(0)),
        count=(check.seeds * holds, check.seeds),
        chance=chance.of_orders(check.x, check.y, check.expected, check.tolerance),
    )


@decide_check.register
def _(check: Estimate, rule: Rule) -> Decision:
    if not np.isfinite((check.value, *check.interval)).all():
        return _inconclusive(f"{check.what}: the estimate is not known", check.seeds)
    off = abs(check.value - check.expected)
    least, most = check.expected - check.tolerance, check.expected + check.tolerance
    low, high = check.interval
    holds = off <= check.tolerance
    return _decision(
        holds,
        not holds and (low > most or high < least),
        margin=1.0 - off / check.tolerance,
        note=f"{check.what}: {check.value:.4g} in [{low:.4g}, {high:.4g}], stated "
        f"{check.expected:.4g} ± {check.tolerance:.2g}",
        interval=check.interval,
        count=(check.seeds * holds, check.seeds),
        chance=chance.DRIFT,
    )


@decide_check.register
def _(check: LargeEnough, rule: Rule) -> Decision:
    if reason := too_short(check.size):
        return _inconclusive(f"{check.what}: {reason}", check.seeds)
    rungs = sorted(zip(check.size, check.held, strict=True), key=lambda r: r[0])
    failing = [i for i, (_, held) in enumerate(rungs) if not held]
    first = failing[-1] + 1 if failing else 0
    holds = len(rungs) - first >= 2
    note = "not at the largest two sizes"
    if holds:
        note = f"from size {rungs[first][0]:.4g} on, up to {rungs[-1][0]:.4g}"
    return _decision(
        holds,
        all(held is not None and not held for _, held in rungs[-2:]),
        margin=math.log10(rungs[-1][0] / rungs[first][0]) if holds else -1.0,
        note=f"{check.what}: {note}",
        count=(check.seeds * holds, check.seeds),
        chance=chance.TWO_RUNGS,
    )


def _known(margin: float) -> float:
    return -LARGEST if math.isnan(margin) else margin


def _decision(
    holds: bool,
    fails: bool,
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
    verdict = Verdict.INCONCLUSIVE
    if holds or fails:
        verdict, more = Verdict.HOLDS if holds else Verdict.FAILS, None
    return Decision(verdict, held, seeds, interval, finite, note, chance, more)


def _inconclusive(note: str, seeds: int = 1) -> Decision:
    return Decision(Verdict.INCONCLUSIVE, 0, seeds, None, 0.0, note)
