"""Times of stage 1 in closed form, and steps per unit of flow time."""

import math

from attnflow.papers.mixture import formulas
from attnflow.papers.mixture.settings import Setting


def steps_per_time(setting: Setting) -> float | None:
    """Steps per unit of gradient-flow time; `None` for rules that do not follow it."""
    if setting.get("schedule", "constant") != "constant" or setting.get("batch"):
        return None
    return {"flow": 1.0, "gd": 1 / setting["learning_rate"]}.get(setting["rule"])


def stage_one_time(output: float, bias: float) -> float:
    """When the output on consistent samples reaches `output` in stage 1.

    Until `T_half` the output is 4a, with 4a + e^{4a} = 2t + 1; afterwards it is
    u = c + 2a + b, with u + e^u = 2b + e^{2b} + (5/8)(t − T_half).
    """
    if output <= 2 * bias:
        return (output + math.expm1(output)) / 2
    start = 2 * bias + math.exp(2 * bias)
    return formulas.switch_time(bias) + 1.6 * (output + math.exp(output) - start)


def alignment_time(level: float, bias: float) -> float:
    """When the alignment w₊ᵀv reaches a level in stage 1."""
    early = level <= bias / 2
    output = 4 * level if early else 2 * bias + (level - bias / 2) / 0.4
    return stage_one_time(output, bias)
