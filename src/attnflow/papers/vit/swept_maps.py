"""Maps of `vit` by sweeps: Figure 1, its boundary, Lemma E.6, learning rates."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from attnflow.figures.swept import Curve, Level, Map, RateMap, boundary
from attnflow.papers.vit import boundary as b
from attnflow.papers.vit._types import Field
from attnflow.papers.vit.digit_sweep import DIGITS
from attnflow.papers.vit.figures.phase_map import BAR, CUT, NAMES, PAPER, TOP
from attnflow.papers.vit.figures.runs import MAP_SILENT, SEEDS_SILENT, SMALLER
from attnflow.schema.declarations import Evidence, SweepRequest
from attnflow.schema.installation import xr

_LAW = "boundary"
PRINTED = {_LAW: {"exponent": b.EXPONENT, "constant": b.CURVE}}
_SMALL = {name: SMALLER[name] for name in ("embed", "key_width", "value_width")}


def _samples(counts: list[int], step: int) -> dict[str, list[int]]:
    """Numbers of samples, padded to multiples of `step`: few programs are compiled."""
    return {"samples": counts, "room": [-(-n // step) * step for n in counts]}


def test_losses(evidence: Evidence) -> xr.DataArray:
    """Test losses when the training loss has reached ε, by N, SNR and seed."""
    return evidence["map"]["test_loss"].transpose("samples", "snr", "seed")


def _figure1(
    counts: list[int],
    step: int,
    *,
    settings: Mapping[str, Field],
    seeds: int,
    quick: Mapping[str, Field],
    refine: float | None = None,
) -> SweepRequest:
    return SweepRequest(
        "figure1",
        {**_samples(counts, step), "records": 0, **settings},
        ("test_loss",),
        zip=(("samples", "room"),),
        seeds=seeds,
        refine=refine,
        quick=quick,
        quick_seeds=2,
    )


def _checks_published(evidence: Evidence) -> dict[str, bool]:
    fit = boundary(CUT, test_losses(evidence))
    return {
        "the exponent of SNR in N is neither 0 nor −1, by its interval": bool(
            fit.exponent_interval[0] > -1 and fit.exponent_interval[1] < 0
        ),
        "N·SNR² along the boundary is 1000 to 25%": bool(
            abs(fit.constant / b.CURVE - 1) < b.TOLERANCE
        ),
    }


_of_figure1 = partial(
    Map,
    table=test_losses,
    label=BAR,
    names=NAMES,
    curves=lambda evidence, panel: (PAPER,),
    level=CUT,
    limits=(0.0, TOP),
    silent=MAP_SILENT,
)


PUBLISHED = _of_figure1(
    id="map",
    title="Figure 1 as a sweep, at the paper's resolution",
    caption=(
        "Mean test loss when the training loss is ε, over N and SNR as in Figure 1. "
        "Dots: where it crosses 0.2; line: a power law through them, with its "
        "exponent's interval over resampled seeds. Dashed: the paper's curve. The "
        "cells are those of `figure1a`, computed in batches of a sweep, which can be "
        "resumed."
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
        )
    },
    checks=_checks_published,
    printed=PRINTED,
    tolerance=b.TOLERANCE,
)


def _checks_fine(evidence: Evidence) -> dict[str, bool]:
    run, fit = evidence["map"], boundary(CUT, test_losses(evidence))
    return {
        "the boundary took at most a fifth of the grid's cells": bool(
            run.attrs["cells_computed"] <= run.attrs["cells_full"] / 5
        ),
        "along it SNR goes as N^−½: exponent −0.5 ± 0.1": bool(
            abs(fit.exponent - b.EXPONENT) < 0.1
        ),
    }


FINE = _of_figure1(
    id="map-fine",
    title="Figure 1's boundary, finer",
    caption=(
        "The boundary of Figure 1 at a finer resolution than the paper's and up to "
        "more samples: the sweep computes only cells along it (pale cells were not "
        "needed), with M = 4 and narrower weights for speed, otherwise as in Section "
        "6. The question is whether the boundary scales as N^−½, and how far its "
        "constant is from the paper's 1000."
    ),
    sweeps={
        "map": _figure1(
            list(range(2, 66)),
            11,
            settings={
                "snr": "2..24:64",
                "length": 4,
                "key_width": 128,
                "value_width": 128,
            },
            seeds=4,
            refine=b.CUT,
            quick={
                **_samples(list(range(4, 20)), 20),
                **_SMALL,
                "length": 4,
                "snr": "3..18:16",
            },
        )
    },
    checks=_checks_fine,
)

HARMFUL = "D-LemE.6"
CONTROL = 2.3
"""N‖μ‖²/(σ̃_p²d) at the boundary, the middle of the range in figure `control`."""
BETWEEN = Level(3.0, power=-2.0)
"""A margin of 3 is a test loss of 0.4, between guessing and benign runs."""


def _reach(evidence: Evidence, panel: float | None) -> tuple[Curve, ...]:
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


def margins(evidence: Evidence) -> xr.DataArray:
    """The margin of Lemma E.6 in each cell, in units of its 0.1."""
    return evidence["map"][f"{HARMFUL}_margin"].transpose("strength", "ratio")


def _checks_reach(evidence: Evidence) -> dict[str, bool]:
    fit = boundary(BETWEEN, margins(evidence))
    verdicts = evidence["map"][f"{HARMFUL}_verdict"]
    return {
        "the lemma holds in every cell, in benign ones too": bool(
            (verdicts == "holds").all()
        ),
        "between the two regimes C_p goes as (N·SNR²)^½: exponent 0.5 ± 0.1": bool(
            abs(fit.exponent - 0.5) < 0.1
        ),
    }


REACH = Map(
    id="map-harmful",
    title="How far beyond its condition Theorem 4.2's test loss holds",
    caption=(
        "A validity map: in every cell Lemma E.6 (the test loss is at least 0.1 when "
        "the training loss is ε) is judged on the claim's ten seeds, at d = 4·10¹⁸ and "
        "d_h = 10¹²; its margin is (test loss − 0.1)/0.1, for guessing 5.9. Dots: a "
        "test loss of 0.4. Dashed: the theorem's condition with its constant read as "
        "1. Dotted: N‖μ‖² = 2.3 σ̃_p²d, where figure `control` has the boundary. The "
        "question is how far beyond the dashed line training stays harmful, and "
        "whether that distance scales with C_p²."
    ),
    sweeps={
        "map": SweepRequest(
            "theory-harmful",
            {
                "strength": "0.1..10000:11:log",
                "ratio": "5..40:5:log",
                "samples": 8,
                "rate": 0.05,
            },
            (HARMFUL,),
            batch=5,
            quick={"strength": "1..10000:3:log", "ratio": "10..40:3:log"},
        )
    },
    table=margins,
    label="margin of Lemma E.6",
    names={"strength": r"$N\cdot$SNR$^2$", "ratio": r"$C_p = \tilde\sigma_p/\sigma_p$"},
    curves=_reach,
    level=BETWEEN,
    limits=(0.0, 6.0),
    checks=_checks_reach,
    silent=(
        "The constants of the condition are not stated: read as 1.",
        SEEDS_SILENT,
    ),
)

RATES = RateMap(
    "figure1",
    time=2.0,
    counts=(4, 8, 11, 16, 23, 32, 45, 64, 91, 128),
    key="snr",
    values="4..16:5:log",
    named="SNR",
    settings={"length": 4, "samples": 16, "target": 1e-12, "dense": 0},
    seeds=3,
    quick={**_SMALL, "samples": 8, "length": 4},
    quick_counts=(4, 8, 16, 32, 64),
    quick_values=[8.0, 16.0],
)


LEAVES = RATES.map(
    "map-rates",
    about=("over the SNR, with M = 4. The paper's η is 0.1."),
    within=(0.5, 1.2),
    silent=("How η was chosen is not stated.", SEEDS_SILENT),
)

MAPS = tuple(map.exhibit() for map in (PUBLISHED, FINE, REACH, LEAVES, DIGITS))
