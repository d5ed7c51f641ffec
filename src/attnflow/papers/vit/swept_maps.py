"""Maps of `vit`: Figure 1 as a sweep and finer, Theorem 4.2's reach, learning rates."""

from typing import Any

import numpy as np
import xarray as xr

from attnflow.maps import Curve, Level, Map, RateMap, boundary
from attnflow.paper import Evidence, SweepRequest
from attnflow.papers.vit.figures import boundaries
from attnflow.papers.vit.figures.runs import MAP_SILENT, SEEDS_SILENT, SMALLER

NAMES = {"snr": "SNR", "samples": "training samples $N$"}
CUT = Level(boundaries.CUT, power=2.0)
CURVE = Curve(
    rf"$N\cdot$SNR$^2 = {boundaries.CURVE:g}$ (paper)",
    lambda snr, count: np.log(boundaries.CURVE) - np.log(count * snr**2),
)
_LAW = "boundary"
PRINTED = {_LAW: {"exponent": boundaries.EXPONENT, "constant": boundaries.CURVE}}
_SMALL = {name: SMALLER[name] for name in ("embed", "key_width", "value_width")}


def _samples(counts: list[int], step: int) -> dict[str, list[int]]:
    """Numbers of samples, drawn with room for more, so that programs are few."""
    return {"samples": counts, "room": [-(-n // step) * step for n in counts]}


def test_losses(evidence: Evidence) -> xr.DataArray:
    """The test loss when the training loss is ε."""
    return evidence["map"]["test_loss"].transpose("samples", "snr", "seed")


def _figure1(counts: list[int], step: int, **rest: Any) -> SweepRequest:
    settings = {**_samples(counts, step), "records": 0, **rest.pop("settings")}
    return SweepRequest(
        "figure1", settings, ("test_loss",), zip=(("samples", "room"),), **rest
    )


def _near(evidence: Evidence) -> bool:
    """Whether the interval of the exponent has −1/2 and neither 0 nor −1 in it."""
    low, high = boundary(CUT, test_losses(evidence)).exponent_interval
    return bool(-1 < low <= boundaries.EXPONENT <= high < 0)


def _seen_published(evidence: Evidence) -> dict[str, bool]:
    fit = boundary(CUT, test_losses(evidence))
    return {
        "the exponent of SNR in N is neither 0 nor −1, by its interval": bool(
            fit.exponent_interval[0] > -1 and fit.exponent_interval[1] < 0
        ),
        "N·SNR² along the boundary is 1000 to 25%": bool(
            abs(fit.constant / boundaries.CURVE - 1) < boundaries.TOLERANCE
        ),
    }


PUBLISHED = Map(
    id="map",
    title="Figure 1 as a sweep, at the paper's resolution",
    caption=(
        "Mean test loss when the training loss is ε, over the paper's own cells and at "
        "its sizes; three seeds. Dots: where it crosses 0.2; line: a power law through "
        "them, with its exponent's interval over resampled seeds. It is the run of "
        "`figure1a` by another way: cells are batches of a sweep, which resumes."
    ),
    sweeps={
        "map": _figure1(
            list(range(2, 21, 2)),
            4,
            settings={"snr": "0.16..15.6:12"},
            seeds=3,
            quick={
                **_samples([6, 8, 10, 12], 4),
                **_SMALL,
                "length": 4,
                "snr": "3..18:8",
            },
            quick_seeds=2,
        )
    },
    table=test_losses,
    label="test loss, mean over seeds",
    names=NAMES,
    curves=lambda evidence, panel: (CURVE,),
    level=CUT,
    limits=(0.0, 0.75),
    seen=_seen_published,
    printed=PRINTED,
    tolerance=boundaries.TOLERANCE,
    silent=MAP_SILENT,
)


def _seen_fine(evidence: Evidence) -> dict[str, bool]:
    found = evidence["map"]
    return {
        "the boundary took at most a fifth of the grid's cells": bool(
            found.attrs["cells_computed"] <= found.attrs["cells_full"] / 5
        ),
        "the interval of its exponent has −1/2 in it, and neither 0 nor −1": _near(
            evidence
        ),
    }


FINE = Map(
    id="map-fine",
    title="Figure 1's boundary on 64 × 64 cells",
    caption=(
        "The boundary of Figure 1 at a resolution and up to numbers of samples that "
        "the paper has not: a sweep that computes cells along it alone (pale cells "
        "were not needed), four seeds, with M = 8 and d_h = d_v = 128 for speed; all "
        "else as in Section 6."
    ),
    sweeps={
        "map": _figure1(
            list(range(2, 66)),
            8,
            settings={
                "snr": "2..24:64",
                "length": 8,
                "key_width": 128,
                "value_width": 128,
            },
            seeds=4,
            refine=boundaries.CUT,
            quick={
                **_samples(list(range(4, 20)), 20),
                **_SMALL,
                "length": 4,
                "snr": "3..18:16",
            },
            quick_seeds=2,
        )
    },
    table=test_losses,
    label="test loss, mean over seeds",
    names=NAMES,
    curves=lambda evidence, panel: (CURVE,),
    level=CUT,
    limits=(0.0, 0.75),
    seen=_seen_fine,
    printed=PRINTED,
    tolerance=boundaries.TOLERANCE,
    silent=MAP_SILENT,
)

HARMFUL = "D-LemE.6"
CONTROL = 2.3
"""N‖μ‖²/(σ̃_p²d) at the boundary, the middle of what figure `control` finds."""


def _reach(evidence: Evidence, panel: Any) -> tuple[Curve, ...]:
    return (
        Curve(
            r"$N\cdot$SNR$^2 = 1$ (Theorem 4.2)",
            lambda ratio, strength: -np.log(strength) + 0 * ratio,
        ),
        Curve(
            rf"$N\cdot$SNR$^2 = {CONTROL:g}\,C_p^2$ (ours)",
            lambda ratio, strength: np.log(CONTROL * ratio**2) - np.log(strength),
        ),
    )


def verdicts(evidence: Evidence) -> xr.DataArray:
    """The verdict on Lemma E.6 in each cell; texts that were not computed are empty."""
    found = evidence["map"]
    return found[f"{HARMFUL}_verdict"].transpose("strength", "ratio")


def _seen_reach(evidence: Evidence) -> dict[str, bool]:
    found = evidence["map"]
    inside = found["inside"].transpose("strength", "ratio")
    weak = inside["strength"] <= 1
    highest = inside["strength"].where(inside).max("strength")
    growth = np.polyfit(np.log(inside["ratio"]), np.log(highest), 1)[0]
    return {
        "it holds wherever Theorem 4.2's condition N·SNR² ≤ 1 does": bool(
            inside.where(weak, other=True).all()
        ),
        "how far beyond it holds grows with C_p, with a power above 1": bool(
            growth > 1
        ),
    }


REACH = Map(
    id="map-harmful",
    title="Where Theorem 4.2's harmful test loss holds",
    caption=(
        "A validity map: in every cell Lemma E.6 (the test loss is at least 0.1 when "
        "the training loss is ε) is judged on its own ten seeds, at d = 4·10¹⁸ and "
        "d_h = 10¹². Dashed: the theorem's condition with its constant read as 1. "
        "Dotted: N‖μ‖² = 2.3 σ̃_p²d, where figure `control` has the boundary."
    ),
    sweeps={
        "map": SweepRequest(
            "theory-harmful",
            {"strength": "0.1..10000:16:log", "ratio": "2..30:12:log", "samples": 8},
            (HARMFUL,),
            refine="holds",
            coarse=4,
            batch=8,
            quick={"strength": "0.1..10000:5:log", "ratio": "3..30:3:log"},
        )
    },
    table=verdicts,
    label="verdict",
    names={"strength": r"$N\cdot$SNR$^2$", "ratio": r"$C_p = \tilde\sigma_p/\sigma_p$"},
    curves=_reach,
    seen=_seen_reach,
    silent=(
        "The constants of the condition are not stated: read as 1.",
        SEEDS_SILENT,
    ),
)

RATES = RateMap(
    "figure1",
    time=2.0,
    counts=(2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128),
    key="snr",
    values="4..16:7:log",
    named="SNR",
    settings={"length": 8, "samples": 16, "target": 1e-12, "dense": 0},
    seeds=3,
    quick={**_SMALL, "samples": 8, "length": 4},
    quick_counts=(4, 8, 16, 32, 64),
    quick_values=[8.0, 16.0],
)


LEAVES = RATES.map(
    "map-rates",
    caption=(
        "How far descent's training loss at t = ηk = 2 is from that of steps an eighth "
        "of the smallest, which stand for the flow, over the SNR; N = 16, M = 8, three "
        "seeds. Dots: a tenth. Dashed: 2/λ at the sharpest point of the way."
    ),
    within=(0.02, 1.0),
    silent=("How η was chosen is not stated.", SEEDS_SILENT),
)

MAPS = tuple(map.exhibit() for map in (PUBLISHED, FINE, REACH, LEAVES))
