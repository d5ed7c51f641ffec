"""Assumptions 1 and 2, and what Theorems 1, 2 and 4 ask for, as numbers.

Assumption 2 is about attention at the beginning, of which `geometry` has the
eigenvalues; runs in which it is to hold throughout check it at every record. No size
decides that there are no positions, that outputs of attention are normalised without a
residual, or that Y and Z are free. The theorems speak of gradients: there are no
conditions for Adam, nor for real text and grids; and the scalar model C is Theorem 4's
condition itself.
"""

import math
from collections.abc import Mapping
from typing import Any

from attnflow.papers.scansnap.geometry import Geometry, geometry
from attnflow.schema.conditions import Condition, at_least, exactly, much_more


def conditions(setting: Mapping[str, Any]) -> list[Condition]:
    """The conditions at the setting of a run of J or Q; none for all other settings."""
    found = geometry(setting)
    if found is None or setting.get("optimiser") == "adam":
        return []
    return [
        *_assumption_1(setting),
        *_assumption_2(found),
        *_theorem_1(setting, found),
        exactly("common", "one common token (Theorems 2(b), 4)", found.common, 1),
        exactly("queries", "one query (Theorem 4)", found.queries, 1),
        exactly("momentum", "plain gradients", _momentum(setting), 0.0),
    ]


def _assumption_1(setting: Mapping[str, Any]) -> list[Condition]:
    length, scores = setting.get("length"), setting["score_rate"]
    T = math.inf if length is None else length
    ratio = setting["value_rate"] / scores if scores else math.inf
    return [
        at_least("1(b)", "T → ∞", T, math.inf),
        much_more("1(c)", "η_Y ≫ η_Z", ratio, 1.0),
    ]


def _assumption_2(found: Geometry) -> list[Condition]:
    K, M = found.classes, found.vocabulary
    largest, least = found.extremes
    room = 6 / math.sqrt(M)
    return [
        much_more("2 M", "M ≫ K²", M, K**2),
        Condition("2 λ_1", "|λ_1(E)| < 1/K", largest, most=1 / K, strict=True),
        at_least("2 λ_i", "|λ_i(E)| ≥ 6/√M for all i", least, room),
    ]


def _theorem_1(setting: Mapping[str, Any], found: Geometry) -> list[Condition]:
    M, K = found.vocabulary, found.classes
    rate, slow = setting["value_rate"], M**-0.99
    scores, values = _starts(setting, M)
    return [
        much_more("M", "M ≫ 100", M, 100),
        much_more("η_Y", "η_Y ≫ M^−0.99", rate, slow),
        Condition("η_Y < 1", "η_Y < 1", rate, most=1.0, strict=True),
        much_more("t", "t ≫ K² samples", _seen(setting), K**2),
        exactly("Y(0)", "the decoder begins at 0", values, 0.0),
        exactly("Z(0)", "attention begins uniform", scores, 0.0),
    ]


def _starts(setting: Mapping[str, Any], vocabulary: int) -> tuple[float, float]:
    """Half-widths of the initial Z and Y; all but descents begin at 0."""
    width = vocabulary**-0.5 if setting.get("start") == "uniform" else 0.0
    given = (setting.get(f"{part}_start") for part in ("score", "value"))
    scores, values = (width if one is None else one for one in given)
    return scores, values


def _seen(setting: Mapping[str, Any]) -> float:
    """Samples at the end: of all batches, or the time of a flow, which is in samples.

    A step on long sequences sees all classes at once, and counts as one sample.
    """
    if "until" in setting:
        return setting["until"]
    return setting["steps"] * (1 if setting["length"] is None else setting["batch"])


def _momentum(setting: Mapping[str, Any]) -> float:
    heavy = setting.get("optimiser") == "momentum"
    return setting["momentum"] if heavy else 0.0
