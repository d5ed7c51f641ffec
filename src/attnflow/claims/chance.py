"""What chance alone would do: to one check, and to a whole claims table.

How likely chance passes a rule, how many more seeds would decide it, and how many of
a table's verdicts chance alone would have given.
"""

import itertools
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from attnflow.claims.base import Verdict
from attnflow.claims.statistics import fit_line
from attnflow.schema.installation import scipy
from attnflow.schema.settings import JsonObject

if TYPE_CHECKING:
    from attnflow.claims.table import Row

MOST_SEEDS = 10_000
"""The most seeds that we advise: a share this near to q decides nothing."""
DRIFT = 0.025
"""The chance that a slope beyond the band passes: one end of a 95% interval."""
BOUND = 0.05
"""The chance that a one-sided 95% bound allows."""
TWO_RUNGS = 0.25
"""The chance that two fair coins both show heads."""
_ORDERS = 5040
LEVEL = 0.05
ASSUMED = (
    "checks of an error against a tolerance never pass by chance",
    "over seeds, each seed has the property like a fair coin, apart from the others",
    "a slope over a ladder just misses its band, with Gaussian residuals: 2.5%",
    "an estimate just misses its range: one end of a 95% interval, 2.5%",
    "a fitted slope has its values in any order with equal probability",
    "failures are just more frequent than stated: 5%",
    "of 'large enough', the largest two sizes hold like fair coins: 25%",
    "of several checks of a claim, the one that chance passes least counts",
)
"""The assumptions behind `Row.chance`, check by check."""


def of_coins(needed: int, seeds: int) -> float:
    """The probability that `needed` or more of so many fair coins show heads.

    P[Binomial(seeds, ½) ≥ needed], which is the regularised incomplete beta function
    at ½.

    `of_coins(5, 5)` is `0.03125`.
    """
    if needed <= 0:
        return 1.0
    return float(scipy.special.betainc(needed, seeds - needed + 1, 0.5))


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
    # The observed order counts too, even if rounding changes the last digit of its
    # slope.
    slack = 1e-12 * max(1.0, abs(fit_line(np.array(x), np.array(y)).slope))
    return float(np.mean(np.abs(slopes - expected) <= tolerance + slack))


def seeds_to_decide(
    held: int, seeds: int, q: float, *, level: float = 0.95
) -> int | None:
    """How many seeds would decide, if the share that holds stays the same.

    The least number at which the Clopper–Pearson interval of that share leaves out
    `q`; `None` where it does so already, so that seeds are not what is lacking, or
    where the number is above `MOST_SEEDS`.

    `seeds_to_decide(2, 3, 0.9)` is `11`.
    """
    number = np.arange(seeds, MOST_SEEDS + 1)
    holding = np.rint(number * (held / seeds))
    tail = (1.0 - level) / 2.0
    with np.errstate(invalid="ignore"):
        low = scipy.special.betaincinv(holding, number - holding + 1, tail)
        high = scipy.special.betaincinv(holding + 1, number - holding, 1.0 - tail)
    decided = (np.nan_to_num(low) > q) | (np.nan_to_num(high, nan=1.0) < q)
    first = int(np.argmax(decided))
    return int(number[first]) if decided.any() and first > 0 else None


@dataclass(frozen=True)
class Family:
    """The claims of a table as one family of checks.

    **Arguments:**

    - `claims`: how many were checked; `exact`: of these, by arithmetic alone.
    - `held`: how many of the others hold.
    - `by_chance`: how many of these would hold by chance alone, on average.
    - `any_by_chance`: an upper bound of the probability that one does at all, whatever
      the claims have to do with one another.
    - `beyond_chance`: how many hold of which chance can be excluded for all together
      at the level 5% (Holm).
    """

    claims: int
    exact: int
    held: int
    by_chance: float
    any_by_chance: float
    beyond_chance: int

    @property
    def words(self) -> str:
        """What chance would have done, in words, without the assumptions."""
        if not self.others:
            return f"All {self.claims} checked claims are decided by arithmetic alone."
        return (
            f"{self.exact} of {self.claims} checked claims are decided by arithmetic "
            f"alone. Of the other {self.others}, {self.held} hold; chance alone would "
            f"have given {self.by_chance:.3g} of these on average, and for "
            f"{self.beyond_chance} of them it is excluded at 5% for all together."
        )

    @property
    def others(self) -> int:
        """How many checked claims chance might have decided."""
        return self.claims - self.exact

    def __str__(self) -> str:
        assumed = f" Assumed: {'; '.join(ASSUMED)}." if self.others else ""
        return f"{self.words}{assumed}"

    def as_json(self) -> JsonObject:
        """The numbers, and what they assume."""
        return {**asdict(self), "level": LEVEL, "assumed": list(ASSUMED)}


def family_of(rows: "Iterable[Row]") -> Family:
    """The family-wise view of a claims table; unchecked claims do not count."""
    checked = [row for row in rows if row.verdict is not Verdict.UNCHECKED]
    others = [row for row in checked if row.chance > 0.0]
    expected = sum(row.chance for row in others)
    # S. Holm, A simple sequentially rejective multiple test procedure, Scand. J.
    # Statist. 6 (1979) 65–70; claims that do not hold have the chance 1.
    held = [row.verdict is Verdict.HOLDS for row in others]
    chances = sorted(
        row.chance if holds else 1.0 for row, holds in zip(others, held, strict=True)
    )
    levels = [LEVEL / (len(chances) - rank) for rank in range(len(chances))]
    exceeds = [chance > level for chance, level in zip(chances, levels, strict=True)]
    return Family(
        claims=len(checked),
        exact=len(checked) - len(others),
        held=sum(held),
        by_chance=expected,
        any_by_chance=min(1.0, expected),
        beyond_chance=int(np.argmax([*exceeds, True])),
    )
