"""Condition 1 and the setting of Theorem 4.1, as numbers.

The small constant that is to bound ω is 0.3, as in our claims, and the one that bounds
the bias is 1. How long the stages are at most is what the theorem says; only T1 must be
late enough for group tokens to have a value, or stage 2 never begins. 1/ε ≤ poly(m) is
met at infinite width.
"""

import math
from collections.abc import Mapping
from typing import Any

from attnflow.papers.mixture.formulas import switch_time
from attnflow.schema.conditions import (
    Condition,
    at_least,
    at_most,
    exactly,
    gradient_flow,
)

SMALL = 0.3
"""C of Condition 1."""


def conditions(setting: Mapping[str, Any]) -> list[Condition]:
    """The conditions at the setting of a run that trains; none for what is computed."""
    staged = "T1" in setting
    if not (staged or "trains" in setting):
        return []
    return [
        *_model(setting),
        at_least("samples", "the population loss", _samples(setting), math.inf),
        gradient_flow(setting),
        *(_stages(setting) if staged else _together(setting)),
    ]


def _model(setting: Mapping[str, Any]) -> list[Condition]:
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


def _samples(setting: Mapping[str, Any]) -> float:
    """Samples that a step sees: all there are, or as many as are drawn."""
    drawn = (setting.get("population"), setting.get("batch"))
    return min((n for n in drawn if isinstance(n, int)), default=math.inf)


def _stages(setting: Mapping[str, Any]) -> list[Condition]:
    """Algorithm 1: one layer after the other, from neurons at 0."""
    level = setting.get("T1_level")
    if level is not None:
        what = "group tokens have a value at T1"
        return [Condition("T1", what, level, least=0.0, strict=True)]
    least = switch_time(setting["bias"])
    what = "T1 > T_half = b + (e^2b − 1)/2"
    return [Condition("T1", what, setting["T1"], least=least, strict=True)]


def _together(setting: Mapping[str, Any]) -> list[Condition]:
    """Algorithm 1's order and start, which other training need not have."""
    parts = 2 if setting["trains"] == "both" else 1
    scale = setting["value_scale"]
    return [
        exactly("layers", "one layer at a time (Algorithm 1)", parts, 1),
        exactly("w(0)", "neurons begin at 0", scale, 0.0),
    ]
