"""Condition 1 and the assumptions of Theorem 4.1, evaluated at a setting.

The small constant that bounds ω is 0.3, as in our claims, and the bias is bounded by 1.
How long the stages last at most is the theorem's conclusion, not a condition; only T1
must be late enough for group tokens to have a value, or stage 2 never begins.
1/ε ≤ poly(m) holds at infinite width.
"""

import math

from attnflow.papers.mixture.formulas import switch_time
from attnflow.papers.mixture.settings import Setting
from attnflow.schema.conditions import (
    Condition,
    at_least,
    at_most,
    exactly,
    gradient_flow,
)

SMALL = 0.3
"""C of Condition 1."""


def conditions(setting: Setting) -> list[Condition]:
    """The conditions at the setting of a training run; none for computations."""
    staged = "T1" in setting
    if not (staged or "trains" in setting):
        return []
    return [
        *_model(setting),
        at_least("samples", "the population loss", _samples(setting), math.inf),
        gradient_flow(setting),
        *(_stages(setting) if staged else _simultaneous(setting)),
    ]


def _model(setting: Setting) -> list[Condition]:
    width, omega = setting["width"], setting["omega"]
    m = math.inf if width == "infinite" else width
    bias = setting["bias"]
    return [
        # Stage 1 alone is of two groups and three tokens, and has no such settings.
        exactly("K", "two groups", setting.get("K", 2), 2),
        exactly("L", "three tokens", setting.get("L", 3), 3),
        at_most("ω", f"ω ≤ C = {SMALL:g}", omega, SMALL),
        at_least("m", "infinite width (Definition 5.1)", m, math.inf),
        Condition("b", "a small positive bias", bias, 0.0, 1.0, strict=True),
    ]


def _samples(setting: Setting) -> float:
    """Number of samples that a step sees: infinite for the population."""
    counts = (setting.get("population"), setting.get("batch"))
    return min((n for n in counts if isinstance(n, int)), default=math.inf)


def _stages(setting: Setting) -> list[Condition]:
    """Condition on T1 in Algorithm 1, whose order and w(0) = 0 are built in."""
    level = setting.get("T1_level")
    if level is not None:
        what = "group tokens have a value at T1"
        return [Condition("T1", what, level, least=0.0, strict=True)]
    least = switch_time(setting["bias"])
    what = "T1 > T_half = b + (e^2b − 1)/2"
    return [Condition("T1", what, setting["T1"], least=least, strict=True)]


def _simultaneous(setting: Setting) -> list[Condition]:
    """Whether training is layer-wise and starts at w = 0, as Algorithm 1 does."""
    parts = 2 if setting["trains"] == "both" else 1
    scale = setting["value_scale"]
    return [
        exactly("layers", "one layer at a time (Algorithm 1)", parts, 1),
        exactly("w(0)", "neurons start at 0", scale, 0.0),
    ]
