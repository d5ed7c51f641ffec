"""Assumptions 1 and 2 and the conditions of Theorems 1, 2 and 4, as numbers.

Assumption 2 is checked at initialisation, from the eigenvalues in `geometry`; claims
that need it throughout check it at every record. The absence of positions, the
normalisation without a residual and free Y and Z are no numbers, and not listed. The
theorems are about gradient descent, so that there are no conditions for Adam, nor for
real text and grids. The scalar model C is Theorem 4's condition itself.
"""

import math

from attnflow.papers.scansnap._types import Setting
from attnflow.papers.scansnap.geometry import Geometry, geometry
from attnflow.schema.conditions import Condition, at_least, exactly, much_more


def conditions(setting: Setting) -> list[Condition]:
    """Conditions at the setting of a run of J or Q; none for other settings."""
    layout = geometry(setting)
    if layout is None or setting.get("optimiser") == "adam":
        return []
    return [
        *_assumption_1(setting),
        *_assumption_2(layout),
        *_theorem_1(setting, layout),
        exactly("common", "one common token (Theorems 2(b), 4)", layout.common, 1),
        exactly("queries", "one query (Theorem 4)", layout.queries, 1),
        exactly("momentum", "plain gradients", _momentum(setting), 0.0),
    ]


def _assumption_1(setting: Setting) -> list[Condition]:
    length, scores = setting.get("length"), setting["score_rate"]
    T = math.inf if length is None else length
    ratio = setting["value_rate"] / scores if scores else math.inf
    return [
        at_least("1(b)", "T → ∞", T, math.inf),
        much_more("1(c)", "η_Y ≫ η_Z", ratio, 1.0),
    ]


def _assumption_2(layout: Geometry) -> list[Condition]:
    K, M = layout.classes, layout.vocabulary
    largest, least = layout.extremes
    room = 6 / math.sqrt(M)
    return [
        much_more("2 M", "M ≫ K²", M, K**2),
        Condition("2 λ_1", "|λ_1(E)| < 1/K", largest, most=1 / K, strict=True),
        at_least("2 λ_i", "|λ_i(E)| ≥ 6/√M for all i", least, room),
    ]


def _theorem_1(setting: Setting, layout: Geometry) -> list[Condition]:
    M, K = layout.vocabulary, layout.classes
    rate, slow = setting["value_rate"], M**-0.99
    scores, values = _initial_half_widths(setting, M)
    return [
        much_more("M", "M ≫ 100", M, 100),
        much_more("η_Y", "η_Y ≫ M^−0.99", rate, slow),
        Condition("η_Y < 1", "η_Y < 1", rate, most=1.0, strict=True),
        much_more("t", "t ≫ K² samples", _sample_count(setting), K**2),
        exactly("Y(0)", "the decoder begins at 0", values, 0.0),
        exactly("Z(0)", "attention begins uniform", scores, 0.0),
    ]


def _initial_half_widths(setting: Setting, vocabulary: int) -> tuple[float, float]:
    """Half-widths of the initial Z and Y; 0 for all but descents."""
    width = vocabulary**-0.5 if setting.get("start") == "uniform" else 0.0
    half_widths = (setting.get(f"{part}_start") for part in ("score", "value"))
    scores, values = (
        width if half_width is None else half_width for half_width in half_widths
    )
    return scores, values


def _sample_count(setting: Setting) -> float:
    """Number of samples by the end: of all batches, or the duration of a flow.

    A step on long sequences uses all classes at once, and counts as one sample.
    """
    if "until" in setting:
        return setting["until"]
    return setting["steps"] * (1 if setting["length"] is None else setting["batch"])


def _momentum(setting: Setting) -> float:
    heavy = setting.get("optimiser") == "momentum"
    return setting["momentum"] if heavy else 0.0
