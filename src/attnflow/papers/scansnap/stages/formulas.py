"""Formulas for the times of stages: the paper's, and ours.

| name | formula | |
|---|---|---|
| `scan_end` | t₀' = K ln M/η_Y | up to which γ = O(η_Y t/K) |
| `decoder_snap` | (K/η_Y)(e^u + (M − 1)u − 1)/M, u = 1 + W₀((M − 1)/e) | γ's peak |
| `snap` | t₀ = 2(1 + ω₁) K ln M/η_Y | from which γ = O(K ln(M η_Y t/K)/(η_Y t)) |

Time counts samples in a flow. A step of descent is one unit of it, and a step of heavy
ball, in the long run, 1/(1 − μ) units.
"""

from __future__ import annotations

import numpy as np

from attnflow import schema
from attnflow.papers.scansnap._types import Setting
from attnflow.papers.scansnap.systems.decoder import Decoder
from attnflow.schema.installation import xr


def decoder_of(run: xr.Dataset) -> Decoder:
    """Closed forms of the decoder at the sizes of a run."""
    return _decoder(schema.setting_of(run))


def _decoder(setting: Setting) -> Decoder:
    if not setting.get("value_rate"):
        raise ValueError(
            "The run has value_rate=0, for which the decoder's closed forms have no "
            "clock: use a positive rate."
        )
    return Decoder(
        classes=classes_of(setting),
        vocabulary=vocabulary_of(setting),
        value_rate=setting["value_rate"],
        score_rate=setting["score_rate"],
    )


def classes_of(setting: Setting) -> int:
    """Number of classes K of a setting."""
    if "classes" in setting:
        return setting["classes"]
    return setting["queries"] * setting["classes_per_query"]


def vocabulary_of(setting: Setting) -> int:
    """Vocabulary size M of a setting, or the number of tokens if it sets none."""
    if "vocabulary" in setting:
        return setting["vocabulary"]
    classes, queries = classes_of(setting), setting["queries"]
    context = setting["common"] + setting["common_per_query"] * queries
    return context + (setting["distinct"] + 1) * classes + queries


def scale_of(setting: Setting) -> float:
    """C₀ of the scalar model: `scale`, or ρ₀⁴/K if `printed`, else ρ₀⁴/(K − 1).

    ρ₀² is the sum of a class's squared weights.
    """
    if setting.get("scale") is not None:
        return setting["scale"]
    square = setting["common"] + float(np.square(setting["distinct"]).sum())
    return square**2 / (setting["classes"] - (not setting["printed"]))


def pace(setting: Setting) -> float:
    """Flow time per unit of the run's time."""
    if setting.get("rule") in ("momentum", "nesterov"):
        return 1 / (1 - setting["momentum"])
    return 1.0


def formula_times(setting: Setting) -> dict[str, float]:
    """Times of stages by name; none for rules whose steps are no flow time."""
    follows = setting.get("rule", "flow") in ("flow", "gd", "momentum", "nesterov")
    if not setting.get("value_rate") or not follows:
        return {}
    decoder = _decoder(setting)
    times = {
        "scan_end": decoder.scan_end,
        "decoder_snap": decoder.peak,
        "snap": decoder.snap,
    }
    return {name: time / pace(setting) for name, time in times.items()}
