"""Conditions of theorems as numbers: values, and bounds between which they must lie.

Theorems hide constants. Papers declare their conditions with the same readings of them:

| printed | read as |
|---|---|
| `x ≤ O(y)`, `x ≥ Ω(y)`, with or without logarithms | `x ≤ y`, `x ≥ y` |
| `x = Θ(y)` | `y/10 ≤ x ≤ 10 y` |
| `x ≪ y`, `x = o(y)` | `x ≤ y/10` |

What a condition names without a number (`poly`, `polylog`, "small enough") is read by
the paper that declares it, in the item's `reading`; or it is `unread`.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from attnflow.schema.settings import JsonObject

MUCH = 10.0
"""How much more `≫` means, and how far `Θ` reaches either way."""
READING = "hidden constants and logarithms read as 1, ≪ and Θ as a factor of ten"

# Products such as 5√M are rounded: a bound met with equality is met.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Condition:
    """An item of a theorem's conditions at a setting or in a run.

    It is a number between two bounds, an equality, or what no number decides.

    **Arguments:**

    - `name`: the paper's own name or symbol for it; `what`: the item in a formula.
    - `value`, `least`, `most`: what the setting has, and what is allowed. The value of
      an item that no number decides is NaN.
    - `strict`: the bounds themselves are not allowed.
    - `reading`: how its constants and logarithms were read, where that is not as usual.
    """

    name: str
    what: str
    value: float
    least: float = -math.inf
    most: float = math.inf
    strict: bool = False
    reading: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the value lies between the bounds; `None` where none decides."""
        if math.isnan(self.value):
            return None
        if self.strict:
            return self.least < self.value < self.most
        bounds = (self.least, self.most)
        if any(math.isclose(self.value, b, rel_tol=ROUNDING) for b in bounds):
            return True
        return self.least <= self.value <= self.most

    @property
    def slack(self) -> float | None:
        """By which factor it is met, below 1 where it is not: value ÷ bound.

        The smaller one of two bounds; `None` for equalities and limits, which are met
        or not.
        """
        if self.least == self.most or math.isnan(self.value):
            return None
        factors: list[float] = []
        if 0.0 < self.least < math.inf:
            factors.append(max(self.value, 0.0) / self.least)
        if 0.0 < self.most < math.inf:
            factors.append(self.most / self.value if self.value > 0.0 else math.inf)
        return min(factors, default=None)

    def as_json(self) -> JsonObject:
        """The fields, whether it is met, and by which factor."""
        return {**asdict(self), "met": self.met, "slack": self.slack}


def unread(name: str, what: str) -> Condition:
    """An item that no number decides: it is listed, and neither met nor missed."""
    return Condition(name, what, math.nan)


def exactly(name: str, what: str, value: float, bound: float) -> Condition:
    """`value = bound`."""
    return Condition(name, what, value, bound, bound)


def at_least(name: str, what: str, value: float, least: float) -> Condition:
    """`value = Ω(least)`."""
    return Condition(name, what, value, least=least)


def at_most(name: str, what: str, value: float, most: float) -> Condition:
    """`value = O(most)`."""
    return Condition(name, what, value, most=most)


def of_order(name: str, what: str, value: float, order: float) -> Condition:
    """`value = Θ(order)`."""
    return Condition(name, what, value, order / MUCH, order * MUCH)


def much_more(name: str, what: str, value: float, than: float) -> Condition:
    """`value ≫ than`."""
    return Condition(name, what, value, least=MUCH * than)


def much_less(name: str, what: str, value: float, than: float) -> Condition:
    """`value ≪ than`, or `value = o(than)`."""
    return Condition(name, what, value, most=than / MUCH)


def gradient_flow(setting: Mapping[str, Any]) -> Condition:
    """Training without steps: a setting's learning rate, 0 where its rule is `flow`."""
    flows = setting.get("rule", "flow") == "flow"
    rate = 0.0 if flows else setting["learning_rate"]
    return exactly("flow", "steps of no length: gradient flow", rate, 0.0)
