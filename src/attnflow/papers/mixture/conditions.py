"""Condition 1 and the assumptions of Theorem 4.1, at a setting and in a run.

How long the stages last at most is the theorem's conclusion, not a condition; only T1
must be late enough for group tokens to have a value, or stage 2 never begins.
"""

from __future__ import annotations

import math
from dataclasses import replace

from attnflow.papers.mixture.formulas import switch_time
from attnflow.papers.mixture.settings import Setting
from attnflow.schema.conditions import (
    Condition,
    at_least,
    at_most,
    exactly,
    gradient_flow,
)
from attnflow.schema.dataset import setting_of
from attnflow.schema.installation import xr

SMALL = 0.3
"""C of Condition 1."""
BOUNDED = 1.0
"""C of Lemmas E.1, E.2 and E.4."""

ALGORITHM = ("K", "L", "samples", "flow", "layers", "w(0)", "b")
"""Algorithm 1 on the task of two groups."""
STAGE_ONE = (*ALGORITHM, "Definition 5.1")
STAGE_TWO = (*STAGE_ONE, "ω", "m", "T1", "bounded scores")
"""Condition 1, infinite width, and scores as small as the lemmas of stage 2 ask."""
THEOREM = (*STAGE_TWO, "ε")


def conditions(setting: Setting) -> list[Condition]:
    """The conditions at the setting of training or of initial weights; else none."""
    if "omegas" in setting:
        omegas, width = setting["omegas"], min(setting["widths"])
        sizes = (_small(max(omegas)), _wide(width, min(omegas)))
        return [*sizes, _bias(setting)]
    staged = "T1" in setting
    if not (staged or "trains" in setting):
        return []
    return [
        *_model(setting),
        at_least("samples", "the population loss", _samples(setting), math.inf),
        gradient_flow(setting),
        *(_stages(setting) if staged else _simultaneous(setting)),
    ]


def run_conditions(run: xr.Dataset) -> list[Condition]:
    """The bound on the scores in stage 2, in runs of Algorithm 1 that record them."""
    setting = setting_of(run)
    if "stages" not in setting or "score_at_end" not in run or setting["stages"] < 2:
        return []
    # Main scores grow all through stage 2, and do not move in stage 3.
    largest = float(abs(run["score_at_end"].isel(stage=1)).max())
    what = "max |score| ≤ C up to T2"
    item = at_most("bounded scores", what, largest, BOUNDED)
    return [replace(item, reading=f"'some constant C' read as {BOUNDED:g}")]


def _model(setting: Setting) -> list[Condition]:
    omega, width = setting["omega"], _width(setting)
    return [
        # Stage 1 alone is of two groups and three tokens, and has no such settings.
        exactly("K", "two groups", setting.get("K", 2), 2),
        exactly("L", "three tokens", setting.get("L", 3), 3),
        _small(omega),
        _wide(width, omega),
        at_least("Definition 5.1", "infinite width", width, math.inf),
        _bias(setting),
    ]


def _small(omega: float) -> Condition:
    item = at_most("ω", "ω < C < 1", omega, SMALL)
    return replace(item, reading=f"'sufficiently small' C read as {SMALL:g}")


def _wide(width: float, omega: float) -> Condition:
    least = math.log(1 / min(omega, 1.0)) if omega else math.inf
    item = at_least("m", "m ≥ Ω̃(1)", width, least)
    return replace(item, reading="the hidden logarithm read as ln(1/ω)")


def _bias(setting: Setting) -> Condition:
    reading = "'sufficiently small, such as 1/2' read as below 1"
    what = "a small positive bias"
    return Condition("b", what, setting["bias"], 0.0, 1.0, strict=True, reading=reading)


def _width(setting: Setting) -> float:
    return math.inf if setting["width"] == "infinite" else setting["width"]


def _samples(setting: Setting) -> float:
    """Number of samples that a step sees: infinite for the population."""
    counts = (setting.get("population"), setting.get("batch"))
    return min((n for n in counts if isinstance(n, int)), default=math.inf)


def _stages(setting: Setting) -> list[Condition]:
    """Condition on T1 and ε in Algorithm 1, whose order and w(0) = 0 are built in."""
    level = setting.get("T1_level")
    least = switch_time(setting["bias"])
    late = Condition("T1", "T1 > T_half = b + (e^2b − 1)/2", setting["T1"], least)
    if level is not None:
        late = Condition("T1", "group tokens have a value at T1", level, 0.0)
    # Stage 1 alone has no ε.
    accuracy = at_most(
        "ε",
        "1/ε ≤ O(poly(m))",
        1 / (setting.get("epsilon") or 1.0),
        _width(setting) ** 2,
    )
    return [
        exactly("layers", "one layer at a time (Algorithm 1)", 1, 1),
        exactly("w(0)", "neurons start at 0", 0.0, 0.0),
        replace(late, strict=True),
        replace(accuracy, reading="poly(m) read as m²"),
    ]


def _simultaneous(setting: Setting) -> list[Condition]:
    """Whether training is layer-wise and starts at w = 0, as Algorithm 1 does."""
    parts = 1 if setting["trains"] in ("scores", "values") else 2
    scale = setting["value_scale"]
    return [
        exactly("layers", "one layer at a time (Algorithm 1)", parts, 1),
        exactly("w(0)", "neurons start at 0", scale, 0.0),
    ]
