"""Conditions of Theorems 3.1 to 3.3 as numbers: Condition 1, Assumption 2.3, flow.

Hidden logarithms are read as 1, so that every m1 and L is at least ~1. Two items depend
on no size and are left out: normal weights, which `law` sets, and 1/δ ≤ poly(m).
"""

import math

from attnflow.papers.cooccurrence.readings import Scales, scales
from attnflow.papers.cooccurrence.settings import Fields
from attnflow.schema.conditions import (
    Condition,
    at_least,
    exactly,
    gradient_flow,
    of_order,
)

NAMED = 3
"""Number of tokens that are not fillers."""
_SIZES = ("length", "width", "neurons", "c0", "c1")


def conditions(setting: Fields) -> list[Condition]:
    """Conditions at a training run's setting; none for computations."""
    sizes = {name: setting[name] for name in _SIZES if name in setting}
    if "reading" in setting:
        deviations = scales(setting["reading"], embed=setting["embed"], **sizes)
        return [*_sizes(setting, deviations), *_data(setting), gradient_flow(setting)]
    if "unseen" in setting:
        # Without noise, shares are exact and fillers distinct whatever n is.
        deviations = scales("theory", embed=0, **sizes)
        return [*_sizes(setting, deviations), gradient_flow(setting)]
    return []


def _sizes(setting: Fields, deviations: Scales) -> list[Condition]:
    """Condition 1, and output weights ±1 as in the paper's model."""
    m, m1 = setting["width"], setting["neurons"]
    n, L = setting["samples"], setting["length"]
    first, inner = deviations.first * math.sqrt(L * m), deviations.inner * math.sqrt(m1)
    return [
        at_least("m", "m ≥ ~max(m1, L²)", m, max(m1, L**2)),
        of_order("σ0", "σ0 √(L m) = ~Θ(1)", first, 1.0),
        of_order("σ1", "σ1 √m1 = ~Θ(1)", inner, 1.0),
        at_least("n", "n ≥ ~L²", n, L**2),
        exactly("a", "|a_j| = 1, in root mean square", deviations.output, 1.0),
    ]


def _data(setting: Fields) -> list[Condition]:
    """Assumption 2.3, by the expected deviations of a random training set."""
    exact = setting["shares"] == "exact"
    shares = 0.0 if exact else 0.5 / math.sqrt(setting["samples"])
    pairs = 0.0 if setting["fillers"] == "distinct" else coinciding_fillers(setting)
    return [
        exactly("2.3(i)", "deviation of |I1|/n from 1/2 over draws", shares, 0.0),
        exactly("2.3(ii)", "pairs of equal fillers, in the mean", pairs, 0.0),
    ]


def coinciding_fillers(setting: Fields) -> float:
    """Expected number of pairs of slots with the same filler, each slot uniform.

    Samples have L − 3, L − 2, L − 2 and L − 1 slots for fillers, in shares of 1/2 and
    three times 1/6: n (L − 7/3) slots in all.
    """
    slots = setting["samples"] * (setting["length"] - 7 / 3)
    return slots * (slots - 1) / 2 / (setting["embed"] - NAMED)
