"""The map of `signgd`: where its four stages keep their order."""

import math
from typing import Any

import numpy as np
import xarray as xr

from attnflow.figures.swept import Curve, Level, Map
from attnflow.schema.declarations import Evidence, SweepRequest

NEURONS = 40
SMALLEST = 0.1
"""σ_0 √d, as in Table 3."""
SHARE = 0.04
"""s/d of Table 3's rows (a) and (b)."""


def gaps(evidence: Evidence) -> xr.DataArray:
    """The least log of a stage's end over the one before it."""
    found = evidence["map"]["stage_gap"]
    return found.transpose("sigma_p", "embed", "samples", "seed")


def printed_gap(embed: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """The log of T4⁻/T3 by the paper's formulas, with β_μ = σ_0 √(2 log 2m_k).

    T3 = 3β_μ/η and T4⁻ = √(1.01 (π/2) log(σ_p s))/(η √m_k σ_p s); where σ_p s is
    below 1 there is no T4⁻, and the order is not kept.
    """
    strength = sigma * SHARE * embed
    third = 3 * SMALLEST / np.sqrt(embed) * math.sqrt(2 * math.log(2 * NEURONS))
    grown = np.log(np.maximum(strength, 1 + 1e-12))
    fourth = np.sqrt(1.01 * np.pi / 2 * grown) / (math.sqrt(NEURONS) * strength)
    with np.errstate(divide="ignore"):
        return np.log(fourth / third)


def _curves(evidence: Evidence, panel: Any) -> tuple[Curve, ...]:
    return (Curve("$T_3 = T_4^-$ by the paper's formulas", printed_gap),)


def _kept(evidence: Evidence) -> xr.DataArray:
    """Where the stages are in order in every seed."""
    return (gaps(evidence) > 0).all("seed")


def _seen(evidence: Evidence) -> dict[str, bool]:
    kept = _kept(evidence)
    embed, sigma = np.meshgrid(kept["embed"], kept["sigma_p"])
    said = printed_gap(embed, sigma) > 0
    inside = kept.transpose("samples", "sigma_p", "embed").values[:, said]
    return {
        "there are cells where the order is kept, and others where it is not": bool(
            kept.any() and not kept.all()
        ),
        "with the strongest noise it is lost at every d and n": bool(
            not kept.isel(sigma_p=-1).any()
        ),
        "where the formulas have it kept it is, in seven of ten cells or more": bool(
            inside.size and inside.mean() >= 0.7
        ),
    }


def _more(evidence: Evidence) -> dict[str, Any]:
    kept = _kept(evidence)
    return {
        "share of cells in order": {
            f"n = {n}": float(kept.sel(samples=n).mean())
            for n in kept["samples"].values.tolist()
        }
    }


ORDER = Map(
    id="map-order",
    title="Where the four stages keep their order, over d, σ_p and n",
    caption=(
        "The least logarithm of a stage's end over the one before it, T1, T2, T3, T4⁻ "
        "and T4 as detected: the stages are in order where it is positive. SignGD on "
        "disjoint supports, s = 0.04 d, m_k = 40, m_v = 20, σ_0 = 0.1/√d, learning "
        "rate 10⁻⁴. Dots: where it is 0. Dashed: where the paper's formulas for T3 "
        "and T4⁻ are equal; below it they are in order. Of two other ends the "
        "formulas say nothing: where noise is so weak that T4 is not reached, and "
        "where d is so large that the first stages take a few steps each."
    ),
    sweeps={
        "map": SweepRequest(
            "disjoint",
            {
                "sigma_p": "0.1..6.4:7:log",
                "embed": [500, 1000, 2000, 4000, 8000],
                "samples": [4, 16],
                "key_neurons": NEURONS,
                "value_neurons": 20,
                "test_samples": 0,
                "steps": 3000,
                "dense": 100,
            },
            ("stage_gap",),
            seeds=2,
            batch=6,
            quick={
                "sigma_p": [0.2, 0.8, 6.4],
                "embed": [500, 1250],
                "samples": [8],
                "steps": 2000,
            },
        )
    },
    table=gaps,
    label="least log of a stage's end over the one before",
    names={"sigma_p": r"$\sigma_p$", "embed": "$d$", "samples": "$n$"},
    curves=_curves,
    level=Level(0.0, fitted=False),
    over="samples",
    limits=(-1.0, 1.0),
    kind="match",
    more=_more,
    seen=_seen,
    silent=(
        "Condition 3.1's constants are not stated: read as 1 in the formulas.",
        "Table 3 has drawn supports, which overlap; the theory's are disjoint.",
    ),
)

MAPS = (ORDER.exhibit(),)
