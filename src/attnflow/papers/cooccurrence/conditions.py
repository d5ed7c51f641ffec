"""Condition 1, Assumption 2.3 and the training of Theorems 3.1 to 3.3, as numbers.

Logarithms that a ~ hides are read as 1; that m1 and L are at least ~1 is met by all of
them then. No size decides that weights are normal, which `law` says, nor 1/δ ≤ poly(m).
"""

import math
from collections.abc import Mapping
from typing import Any

from attnflow.papers.cooccurrence.readings import Scales, scales
from attnflow.schema.conditions import (
    Condition,
    at_least,
    exactly,
    gradient_flow,
    of_order,
)

NAMED = 3
"""Tokens that are no fillers."""
_SIZES = ("length", "width", "neurons", "c0", "c1")


def conditions(setting: Mapping[str, Any]) -> list[Condition]:
    """The conditions at the setting of a run that trains; none for what is computed."""
    given = {name: setting[name] for name in _SIZES if name in setting}
    if "reading" in setting:
        drawn = scales(setting["reading"], embed=setting["embed"], **given)
        return [*_sizes(setting, drawn), *_data(setting), gradient_flow(setting)]
    if "unseen" in setting:
        # Without noise, shares are exact and fillers distinct whatever n is.
        drawn = scales("theory", embed=0, **given)
        return [*_sizes(setting, drawn), gradient_flow(setting)]
    return []


def _sizes(setting: Mapping[str, Any], drawn: Scales) -> list[Condition]:
    """Condition 1, and the output layer of signs that its model has."""
    m, m1 = setting["width"], setting["neurons"]
    n, L = setting["samples"], setting["length"]
    first, inner = drawn.first * math.sqrt(L * m), drawn.inner * math.sqrt(m1)
    return [
        at_least("m", "m ≥ ~max(m1, L²)", m, max(m1, L**2)),
        of_order("σ0", "σ0 √(L m) = ~Θ(1)", first, 1.0),
        of_order("σ1", "σ1 √m1 = ~Θ(1)", inner, 1.0),
        at_least("n", "n ≥ ~L²", n, L**2),
        exactly("a", "|a_j| = 1, in root mean square", drawn.output, 1.0),
    ]


def _data(setting: Mapping[str, Any]) -> list[Condition]:
    """Assumption 2.3, by what drawing a training set leaves to chance."""
    exact = setting["shares"] == "exact"
    shares = 0.0 if exact else 0.5 / math.sqrt(setting["samples"])
    pairs = 0.0 if setting["fillers"] == "distinct" else coinciding_fillers(setting)
    return [
        exactly("2.3(i)", "deviation of |I1|/n from 1/2 over draws", shares, 0.0),
        exactly("2.3(ii)", "pairs of equal fillers, in the mean", pairs, 0.0),
    ]


def coinciding_fillers(setting: Mapping[str, Any]) -> float:
    """How many pairs of slots hold the same filler in the mean, each slot uniform.

    Samples have L − 3, L − 2, L − 2 and L − 1 slots for fillers, in shares of 1/2 and
    three times 1/6: n (L − 7/3) slots in all.
    """
    slots = setting["samples"] * (setting["length"] - 7 / 3)
    return slots * (slots - 1) / 2 / (setting["embed"] - NAMED)
