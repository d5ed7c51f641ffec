"""What would make a check fail, in words, by the kind of its statement."""

import math
from functools import singledispatch

from attnflow.claims import (
    Estimate,
    Exact,
    HighProbability,
    Kind,
    Ladder,
    LargeEnough,
    Measurement,
    Rule,
    Seeds,
    Slope,
)
from attnflow.claims.decision import BEYOND, SHARE
from attnflow.claims.ladder import BAND
from attnflow.claims.statistics import lower_bound


@singledispatch
def fails_where(check: Measurement, rule: Rule) -> str:
    """Which numbers would make this check fail, in words."""
    return "it could not be checked"


@fails_where.register
def _(check: Exact, rule: Rule) -> str:
    limit = BEYOND * check.tolerance
    text = f"{check.what}: an error above {limit:.3g}, ten times what is allowed"
    if 0.0 < check.error <= limit:
        text += f"; it is {check.error:.3g}"
    return text


@fails_where.register
def _(check: Seeds, rule: Rule) -> str:
    seeds, held = len(check.margin), sum(check.held)
    if rule.kind in (Kind.IDENTITY, Kind.UNIVERSAL):
        least, beyond = 1, f" beyond {check.rounding:.2g}"
    elif rule.kind is Kind.PROBABILITY and rule.delta is not None:
        least, beyond = _least_failures(seeds, rule.delta), ""
        if least is None:
            return f"{check.what}: {seeds} seeds are too few for {rule.delta:g}, always"
    else:
        least, beyond = max(1, math.ceil(SHARE * seeds - 1e-9)), ""
    nearest = min(check.margin, default=math.nan)
    return (
        f"{check.what}: the contrary{beyond} in {least} of {seeds} seeds; it held in "
        f"{held}, the least margin is {nearest:.3g}"
    )


def _least_failures(draws: int, delta: float) -> int | None:
    """How many failures would show that they are more frequent than δ."""
    enough = [n for n in range(draws + 1) if lower_bound(n, draws) > delta]
    return enough[0] if enough else None


@fails_where.register
def _(check: Ladder, rule: Rule) -> str:
    side = {"O": f"above {BAND}", "Omega": f"below −{BAND}", "o(1)": f"above −{BAND}"}
    slope = side.get(
        check.kind.removesuffix("-tilde"), f"above {BAND} or below −{BAND}"
    )
    return (
        f"{check.what}: a slope of measured / predicted along the largest half of the "
        f"sizes whose interval lies {slope}"
    )


@fails_where.register
def _(check: Slope, rule: Rule) -> str:
    low, high = check.expected - check.tolerance, check.expected + check.tolerance
    return (
        f"{check.what}: an interval of the fitted slope outside [{low:.4g}, "
        f"{high:.4g}], and the slope at the top beyond it too"
    )


@fails_where.register
def _(check: Estimate, rule: Rule) -> str:
    low, high = check.expected - check.tolerance, check.expected + check.tolerance
    return f"{check.what}: a 95% interval that lies outside [{low:.4g}, {high:.4g}]"


@fails_where.register
def _(check: HighProbability, rule: Rule) -> str:
    draws = check.draws[-1]
    least = _least_failures(draws, check.delta)
    if least is None:
        return f"{check.what}: {draws} draws are too few for {check.delta:g}, always"
    return f"{check.what}: {least} failures or more in {draws} draws"


@fails_where.register
def _(check: LargeEnough, rule: Rule) -> str:
    return f"{check.what}: at neither of the largest two sizes"
