"""Maps over settings: sufficient numbers of samples, and learning rates."""

from __future__ import annotations

import numpy as np

from attnflow.figures.swept import Curve, Level, Map, RateMap, boundary
from attnflow.papers.cooccurrence.figures.runs import SILENT_THEORY
from attnflow.papers.cooccurrence.statistics import LEVEL, sufficient_samples
from attnflow.schema.declarations import Evidence, SweepRequest
from attnflow.schema.installation import xr

LOSS = "test_loss_at_level"
FOLLOWS = 10.0
"""The test loss follows the training loss where it is less than this times it."""
CUT = Level(float(np.log10(FOLLOWS)), power=-2.0)
LENGTHS = (4, 5, 6, 7, 8, 10, 12, 14, 17, 20)
SILENT = (
    *SILENT_THEORY,
    "The constant in 'n at least L²', up to logarithms, is not stated.",
)


def test_losses(evidence: Evidence) -> xr.DataArray:
    """log₁₀ of test over training loss, when the training loss is 2·10⁻⁶."""
    losses = evidence["map"][LOSS]
    ratio = losses.copy(data=np.log10(losses.values / LEVEL))
    return ratio.transpose("samples", "length", "seed")


def _curves(evidence: Evidence, panel: None) -> tuple[Curve, ...]:
    lengths = evidence["map"]["length"].values
    logs = np.log([sufficient_samples(int(length)) for length in lengths])

    def wrong(length: np.ndarray, samples: np.ndarray) -> np.ndarray:
        return np.interp(length, lengths, logs) - np.log(samples)

    return (
        Curve("$n = L^2$ (Theorem 3.3)", lambda L, n: 2 * np.log(L) - np.log(n)),
        Curve("$n^*(L)$, no sample stays wrong (ours)", wrong),
    )


def _checks(evidence: Evidence) -> dict[str, bool]:
    table = test_losses(evidence).isel(seed=0)
    fit = boundary(CUT, test_losses(evidence))
    return {
        "the test loss falls with n at every length": bool(
            (table.diff("samples") < 0).all()
        ),
        "and grows with the length at every n": bool((table.diff("length") > 0).all()),
        "the length up to which it follows the training loss grows faster than √n": (
            fit.exponent > 0.5
        ),
    }


def _more(evidence: Evidence) -> dict[str, dict[str, float]]:
    """Sufficient numbers of samples over L²: least and largest over lengths."""
    table = test_losses(evidence)
    times = table["samples"].values / boundary(CUT, table).places ** 2
    finite = times[np.isfinite(times)]
    ends = {"least": finite.min(), "largest": finite.max()} if finite.size else {}
    return {"n/L² where the test loss follows": ends}


SAMPLES = Map(
    id="map-samples",
    title="How many samples are enough, over n and L",
    caption=(
        "Expected test loss divided by the training loss, when the latter is 2·10⁻⁶, "
        "in the noise-free flow, where n can be any real number. Dots: a ratio "
        "of ten. Dashed: n = L², the theorem's order with its constant read as 1. "
        "Dotted: n*, above which the hard-margin classifier of token counts "
        "misclassifies no test sample. The map shows whether the sufficient number of "
        "samples grows more slowly than L², and on which side of n = L² it is."
    ),
    sweeps={
        "map": SweepRequest(
            "quotient",
            {
                "samples": "12..12000:19:log",
                "length": LENGTHS,
                "records": 121,
            },
            (LOSS,),
            quick={"samples": "12..12000:7:log", "length": [4, 6, 8]},
        )
    },
    table=test_losses,
    label=r"$\log_{10}$ of test over training loss",
    names={"samples": "training samples $n$", "length": "length $L$"},
    curves=_curves,
    level=CUT,
    limits=(0.0, 6.5),
    more=_more,
    checks=_checks,
    silent=(
        *SILENT,
        "Fillers of test samples are drawn from those of training and 20 unseen ones.",
    ),
)

RATES = RateMap(
    "figure1",
    time=40.0,
    counts=(8, 11, 16, 23, 32, 64, 128),
    key="width",
    values=[128, 256, 512, 1024],
    named="width $m$",
    settings={"draw": "bartlett", "law": "normal", "test_samples": 0},
    seeds=3,
    quick={"embed": 32, "samples": 24},
    quick_counts=(4, 8, 16, 32, 128),
    quick_values=[64, 128, 256],
)


LEAVES = RATES.map(
    "map-rates",
    about=(
        "over the width, with normal weights of the variances of Figure 1's reading. "
        "The paper's η = 0.01 lies to the left of the map."
    ),
    within=(0.1, 2.0),
    silent=("The choice of 0.01 is not explained.", *SILENT_THEORY),
)

MAPS = tuple(map.exhibit() for map in (SAMPLES, LEAVES))
