"""The paper's times, and ours, in the time of a run.

| name | formula | |
|---|---|---|
| `scan_end` | t₀' = K ln M/η_Y | up to which γ = O(η_Y t/K) |
| `decoder_snap` | (K/η_Y)(e^u + (M − 1)u − 1)/M, u = 1 + W₀((M − 1)/e) | γ's peak |
| `snap` | t₀ = 2(1 + ω₁) K ln M/η_Y | from which γ = O(K ln(M η_Y t/K)/(η_Y t)) |

Time counts samples in a flow. A step of descent moves as far as a unit of it, and one
of heavy ball in the long run as far as 1/(1 − μ).
"""

from typing import Any

import xarray as xr

from attnflow import schema
from attnflow.papers.scansnap.systems.decoder import Decoder


def decoder_of(run: xr.Dataset) -> Decoder | None:
    """Sizes of the closed forms; none where the values have no rate."""
    setting = schema.setting_of(run)
    if not setting.get("value_rate"):
        return None
    return Decoder(
        classes=classes_of(setting),
        vocabulary=vocabulary_of(setting),
        value_rate=setting["value_rate"],
        score_rate=setting["score_rate"],
    )


def classes_of(setting: dict[str, Any]) -> int:
    """K of a setting."""
    if "classes" in setting:
        return setting["classes"]
    return setting["queries"] * setting["classes_per_query"]


def vocabulary_of(setting: dict[str, Any]) -> int:
    """M of a setting; that of Syn-Small and Syn-Medium is counted."""
    if "vocabulary" in setting:
        return setting["vocabulary"]
    classes, queries = classes_of(setting), setting["queries"]
    context = setting["common"] + setting["common_per_query"] * queries
    return context + (setting["distinct"] + 1) * classes + queries


def pace(setting: dict[str, Any]) -> float:
    """How much of a flow's time passes in a unit of the run's."""
    if setting.get("optimiser") == "momentum":
        return 1 / (1 - setting["momentum"])
    return 1.0


def stage_times(run: xr.Dataset) -> dict[str, float]:
    """The times by name; none under Adam, whose steps are no time of a flow."""
    decoder, setting = decoder_of(run), schema.setting_of(run)
    if decoder is None or setting.get("optimiser") == "adam":
        return {}
    times = {
        "scan_end": decoder.scan_end,
        "decoder_snap": decoder.peak,
        "snap": decoder.snap,
    }
    return {name: time / pace(setting) for name, time in times.items()}
