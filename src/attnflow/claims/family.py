"""The whole table at once: how many of its verdicts chance alone would have given."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from attnflow.claims.base import Verdict

if TYPE_CHECKING:
    from attnflow.claims.verify import Row

LEVEL = 0.05
HELD = (Verdict.HOLDS, Verdict.HOLDS_CORRECTED)
ASSUMED = (
    "checks of an error against a tolerance never pass by chance",
    "over seeds, each seed has the property like a fair coin, apart from the others",
    "a slope over a ladder just misses its band, with Gaussian residuals: 2.5%",
    "a fitted slope has its values in any order with equal probability",
    "failures are just more frequent than stated: 5%",
    "of 'large enough', the largest two sizes hold like fair coins: 25%",
    "of several checks of a claim, the one that chance passes least counts",
)
"""What `Row.chance` rests on, check by check."""


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
        """What chance would have done, in words, without what that assumes."""
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

    def as_json(self) -> dict[str, Any]:
        """The numbers, and what they assume."""
        return {**asdict(self), "level": LEVEL, "assumed": list(ASSUMED)}


def family_of(rows: "Iterable[Row]") -> Family:
    """The family-wise view of a claims table; what is unchecked does not count."""
    checked = [row for row in rows if row.verdict is not Verdict.UNCHECKED]
    others = [row for row in checked if row.chance > 0.0]
    expected = sum(row.chance for row in others)
    return Family(
        claims=len(checked),
        exact=len(checked) - len(others),
        held=sum(row.verdict in HELD for row in others),
        by_chance=expected,
        any_by_chance=min(1.0, expected),
        beyond_chance=_holm(others),
    )


def _holm(rows: "list[Row]") -> int:
    """How many claims stand by Holm's procedure, those that do not hold counting as 1.

    S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist.
    6 (1979) 65–70.
    """
    chances = sorted(row.chance if row.verdict in HELD else 1.0 for row in rows)
    for rank, chance in enumerate(chances):
        if chance > LEVEL / (len(chances) - rank):
            return rank
    return len(chances)
