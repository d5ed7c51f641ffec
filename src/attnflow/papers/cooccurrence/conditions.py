"""Conditions of the theorems as numbers: Condition 1, Assumption 2.3, Lemma D.8.

A tilde hides powers of logarithms: Ω̃(x) is read as x ln m, and Θ̃(1) as a number
between 1/(10 ln m) and 10 ln m.
"""

import math
from collections.abc import Sequence

from attnflow.papers.cooccurrence.readings import Scales
from attnflow.papers.cooccurrence.settings import Fields
from attnflow.papers.cooccurrence.stages.formulas import initial_scales
from attnflow.schema.conditions import (
    MUCH,
    Condition,
    at_most,
    exactly,
    gradient_flow,
    unread,
)

NAMED = 3
"""Number of tokens that are not fillers."""
SMALL_OUTPUT = 0.01
"""What Lemma D.8 makes of initial outputs, by the constants of Condition 1."""
WEIGHTS = ("normal", "a")
"""Weights as the model draws them."""
CONDITION_1 = ("m", "m1", "σ0", "σ1", "n", "L", "δ")
DATA = ("2.3(i)", "2.3(ii)")
THEOREM = (*WEIGHTS, *CONDITION_1, "F(0)", *DATA, "trained", "flow")
"""All that the theorems about training assume."""
_LOG = "the tilde read as one factor ln m"


def conditions(setting: Fields) -> list[Condition]:
    """Items at a setting of training or of initial draws; none for computations."""
    if "reading" in setting:
        is_drawn = setting["draw"] not in ("limit", "expected")
        items = _initial(setting, initial_scales(setting), is_drawn=is_drawn)
        return [*items, *_data(setting), _trained(setting), gradient_flow(setting)]
    if "unseen" in setting:
        items = _initial(setting, initial_scales(setting), is_drawn=False)
        return [*items, *_exact_data(), _trained(setting), gradient_flow(setting)]
    if "scale0" in setting:
        at_widths = [_drawn(setting, width) for width in setting["widths"]]
        items = [_worst(same) for same in zip(*at_widths, strict=True)]
        return [*items, *_exact_data()]
    return []


def _trained(setting: Fields) -> Condition:
    parts = 2.0 if setting["trains"] == "both" else 1.0
    return exactly("trained", "attention and the linear layer, both", parts, 2.0)


def _drawn(setting: Fields, width: int) -> list[Condition]:
    """Items of initial draws at one of their widths."""
    named = {"width": width, "c0": setting["scale0"], "c1": setting["scale1"]}
    sizes = {**setting, **named}
    return _initial(sizes, initial_scales(sizes), is_drawn=True)


def _worst(items: Sequence[Condition]) -> Condition:
    """The item of several widths that is met by the least factor."""
    return min(items, key=lambda item: math.inf if item.slack is None else item.slack)


def _initial(setting: Fields, deviations: Scales, *, is_drawn: bool) -> list[Condition]:
    """The model's random weights, Condition 1, and small initial outputs."""
    m, m1 = setting["width"], setting["neurons"]
    n, L = setting["samples"], setting["length"]
    is_normal = deviations.law == "normal" or setting.get("law") == "normal"
    log = math.log(m)
    first, inner = deviations.first * math.sqrt(L * m), deviations.inner * math.sqrt(m1)
    return [
        exactly(
            "normal",
            "weights drawn from a normal law (1: yes)",
            float(is_drawn and is_normal),
            1.0,
        ),
        exactly("a", "|a_j| = 1, in root mean square", deviations.output, 1.0),
        _logarithmic("m", "m ≥ Ω̃(max(m1, L²))", m, max(m1, L**2) * log),
        _logarithmic("m1", "m1 ≥ Ω̃(1)", m1, log),
        _order("σ0", "σ0 √(L m) = 1/Θ̃(1)", first, log),
        _order("σ1", "σ1 √m1 = 1/Θ̃(1)", inner, log),
        _logarithmic("n", "n ≥ Ω̃(L²)", n, L**2 * log),
        _logarithmic("L", "L ≥ Ω̃(1)", L, log),
        unread("δ", "1/δ ≤ poly(m): a probability of failure of our choice"),
        at_most(
            "F(0)",
            f"largest |F(0)| of n samples ≤ {SMALL_OUTPUT:g} (Lemma D.8); typically "
            "σ0 σ1 |a| √(2 L m ln n)",
            _typical_output(setting, deviations) if is_drawn else 0.0,
            SMALL_OUTPUT,
        ),
    ]


def _typical_output(setting: Fields, deviations: Scales) -> float:
    """Size of the largest of n outputs at time 0, which are nearly normal.

    At uniform attention an output is the sum of L values read by aᵀW.
    """
    spread = deviations.first * deviations.inner * deviations.output
    count = setting["length"] * setting["width"] * setting["neurons"]
    return spread * math.sqrt(2 * count * math.log(setting["samples"]))


def _logarithmic(name: str, what: str, value: float, least: float) -> Condition:
    return Condition(name, what, value, least, reading=_LOG)


def _order(name: str, what: str, value: float, log: float) -> Condition:
    reading = f"{_LOG}, and Θ as a factor of ten, either way"
    least, most = 1 / (MUCH * log), MUCH * log
    return Condition(name, what, value, least, most, reading=reading)


def _exact_data() -> list[Condition]:
    """Assumption 2.3 where the data have it by construction."""
    return _data({"shares": "exact", "fillers": "distinct"})


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
