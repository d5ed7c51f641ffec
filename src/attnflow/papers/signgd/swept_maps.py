"""Map over d, σ_p and n: where the four stages occur in their order."""

from __future__ import annotations

import math

import numpy as np

from attnflow.figures.swept import Curve, Level, Map
from attnflow.schema.declarations import Evidence, SweepRequest
from attnflow.schema.installation import xr

NEURONS = 40
SMALLEST = 0.1
"""σ_0 √d, as in Table 3."""
SHARE = 0.04
"""s/d of Table 3's rows (a) and (b)."""


def gaps(evidence: Evidence) -> xr.DataArray:
    """The smallest log ratio of consecutive ends of stages, per cell and seed."""
    gap = evidence["map"]["stage_gap"]
    return gap.transpose("sigma_p", "embed", "samples", "seed")


def printed_gap(embed: np.ndarray, sigma: np.ndarray) -> np.ndarray:
    """log(T4⁻/T3) by the paper's formulas, with β_μ = σ_0 √(2 log 2m_k).

    T3 = 3β_μ/η and T4⁻ = √(1.01 (π/2) log(σ_p s))/(η √m_k σ_p s); where σ_p s is
    below 1 there is no T4⁻, and the result is far below 0.
    """
    strength = sigma * SHARE * embed
    third = 3 * SMALLEST / np.sqrt(embed) * math.sqrt(2 * math.log(2 * NEURONS))
    grown = np.log(np.maximum(strength, 1 + 1e-12))
    fourth = np.sqrt(1.01 * np.pi / 2 * grown) / (math.sqrt(NEURONS) * strength)
    with np.errstate(divide="ignore"):
        return np.log(fourth / third)


def _curves(evidence: Evidence, samples: float) -> tuple[Curve, ...]:
    return (Curve("$T_3 = T_4^-$ by the paper's formulas", printed_gap),)


def _in_order(evidence: Evidence) -> xr.DataArray:
    """Cells in which the stages are in order in every seed."""
    return (gaps(evidence) > 0).all("seed")


def _checks(evidence: Evidence) -> dict[str, bool]:
    in_order = _in_order(evidence)
    embed, sigma = np.meshgrid(in_order["embed"], in_order["sigma_p"])
    predicted = printed_gap(embed, sigma) > 0
    inside = in_order.transpose("samples", "sigma_p", "embed").values[:, predicted]
    return {
        "there are cells where the order is kept, and others where it is not": bool(
            in_order.any() and not in_order.all()
        ),
        "with the strongest noise it is lost at every d and n": bool(
            not in_order.isel(sigma_p=-1).any()
        ),
        "where the formulas have it kept it is, in seven of ten cells or more": bool(
            inside.size and inside.mean() >= 0.7
        ),
    }


def _more(evidence: Evidence) -> dict[str, dict[str, float]]:
    in_order = _in_order(evidence)
    return {
        "share of cells in order": {
            f"n = {n}": float(in_order.sel(samples=n).mean())
            for n in in_order["samples"].values.tolist()
        }
    }


ORDER = Map(
    id="map-order",
    title="Where the four stages keep their order, over d, σ_p and n",
    caption=(
        "The smallest log ratio of consecutive ends of stages, with T1, T2, T3, T4⁻ "
        "and T4 as detected: the stages are in order where it is positive. SignGD on "
        "disjoint supports, s = 0.04 d, m_k = 40, m_v = 20, σ_0 = 0.1/√d, learning "
        "rate 10⁻⁴. Dots: where it is 0. Dashed: where the paper's formulas for T3 and "
        "T4⁻ are equal; below the curve they are in order. The formulas do not capture "
        "two other ways to lose the order: noise so weak that T4 is not reached, and d "
        "so large that the first stages take only a few steps each."
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
    checks=_checks,
    silent=(
        "The constants of Condition 3.1 are not stated. We take 1 in the formulas.",
        "Table 3 has random supports, which overlap; those of the theory are disjoint.",
    ),
)

MAPS = (ORDER.exhibit(),)
