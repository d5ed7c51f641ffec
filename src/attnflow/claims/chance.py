"""What chance alone would do: pass a rule, or leave it open for want of seeds."""

import itertools
import math

import numpy as np
from scipy import special

from attnflow.claims.statistics import fit_line

MOST_SEEDS = 10_000
"""Beyond so many seeds we say `more`: a share this near to q decides nothing."""
DRIFT = 0.025
"""One end of a 95% interval: what a slope beyond the band has to slip under it."""
BOUND = 0.05
"""What a one-sided 95% bound allows."""
TWO_RUNGS = 0.25
"""Two fair coins."""
_ORDERS = 5040


def of_coins(needed: int, seeds: int) -> float:
    """The probability that `needed` or more of so many fair coins show heads.

    P[Binomial(seeds, ½) ≥ needed], which is the regularised incomplete beta function
    at ½.

    !!! example

        ```python
        of_coins(5, 5)  # 0.03125
        ```
    """
    if needed <= 0:
        return 1.0
    return float(special.betainc(needed, seeds - needed + 1, 0.5))


def of_orders(
    x: tuple[float, ...], y: tuple[float, ...], expected: float, tolerance: float
) -> float:
    """The share of orders of the y whose slope is within `tolerance` of `expected`.

    That is the probability of the slope if y had nothing to do with x. All orders of
    up to 7 points; of more, as many at random, the same each time.
    """
    points = len(x)
    if math.factorial(points) <= _ORDERS:
        orders = np.array(list(itertools.permutations(range(points))))
    else:
        draw = np.random.default_rng(0)
        orders = draw.permuted(np.tile(np.arange(points), (_ORDERS, 1)), axis=1)
    centred = np.array(x) - np.mean(x)
    slopes = np.array(y)[orders] @ centred / (centred @ centred)
    # What was seen is one of the orders, whatever its last digit.
    slack = 1e-12 * max(1.0, abs(fit_line(np.array(x), np.array(y)).slope))
    return float(np.mean(np.abs(slopes - expected) <= tolerance + slack))


def seeds_to_decide(
    held: int, seeds: int, q: float, *, level: float = 0.95
) -> int | None:
    """How many seeds would decide, if the share that holds stays what it is.

    The least number at which the Clopper–Pearson interval of that share leaves out
    `q`; `None` where it does so already, so that seeds are not what is lacking, or
    where the number is above `MOST_SEEDS`.

    !!! example

        ```python
        seeds_to_decide(2, 3, 0.9)  # 11
        ```
    """
    number = np.arange(seeds, MOST_SEEDS + 1)
    kept = np.rint(number * (held / seeds))
    tail = (1.0 - level) / 2.0
    with np.errstate(invalid="ignore"):
        low = special.betaincinv(kept, number - kept + 1, tail)
        high = special.betaincinv(kept + 1, number - kept, 1.0 - tail)
    decided = (np.nan_to_num(low) > q) | (np.nan_to_num(high, nan=1.0) < q)
    first = int(np.argmax(decided))
    return int(number[first]) if decided.any() and first > 0 else None
