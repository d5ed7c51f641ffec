"""Readouts of fillers in Phase 2, and their contribution to outputs."""

from __future__ import annotations

import math

import numpy as np

from attnflow import claims as c
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims import quiet, templates
from attnflow.papers.cooccurrence.claims.phase_two_changes import at_first
from attnflow.papers.cooccurrence.claims.windows import (
    ladder,
    largest,
    sizes,
    with_width,
)
from attnflow.papers.cooccurrence.conditions import DATA, WEIGHTS
from attnflow.schema.installation import xr

NAMED = ["mu1", "mu2", "mu3"]
_claim = templates.at_large_widths


def _filler_change(run: xr.Dataset) -> xr.DataArray:
    """|G − G(T1)| of fillers over the lemma's bound."""
    size = sizes(run)
    value = run["vocabulary_value"].isel(head=0, drop=True).drop_sel(vocabulary=NAMED)
    second = size.length * (size.first * size.width**0.5 + 1 / size.width)
    bound = 1 / size.samples + size.neurons * (second + size.key_norm) / size.gain
    return abs(value - at_first(run, value)) / bound


def _fillers(run: xr.Dataset) -> xr.DataArray:
    """|Σ_l Σ_fillers G p| by sample."""
    value = run["value"].isel(head=0, drop=True).drop_sel(token=NAMED)
    pooled = run["pooled_token"].isel(head=0, drop=True).drop_sel(token=NAMED)
    return abs(xr.dot(pooled, value, dim="token"))


TIED = (10**3, 10**4, 10**5, 10**6, 5 * 10**6)
"""Widths at which n grows with the logarithm that Condition 1 asks for."""


def tied_samples(width: float, length: int = 5) -> float:
    """Number of samples n = (L log m / 4)²: 61 at m = 512, L = 5."""
    return (length * math.log(width) / 4) ** 2


_TIED = {
    f"tied m={width}": ev.noise_free(tied_samples(width), width=width) for width in TIED
}


def _tied_part(run: xr.Dataset) -> float:
    """Largest contribution of fillers to an output until the loss is 1/m."""
    rows = quiet.rows_until_small(run)
    return float(np.abs(quiet.filler_outputs(rows["value"], sizes(run).length)).max())


CLAIMS: tuple[c.Claim, ...] = (
    _claim(
        id="A-F.14",
        place="Lemma F.14, last display",
        statement="In phase 2 readouts of fillers change by at most "
        "Õ(1/n + m1 (L (σ0² √m + 1/m) + σ0² m) / (σ1² m m1)).",
        needs=ev.LARGE_WIDTHS,
        judge=ladder(
            "change of fillers' readouts over their bound",
            largest(_filler_change),
            "O-tilde",
            constant=2.0,
        ),
        predicate="powers of log m up to 2; one is needed",
        mutations=c.named(with_width("vocabulary_value", 0.5)),
    ),
    _claim(
        id="A-F.15",
        place="Corollary F.15; Definition F.1, eighth condition",
        statement="In phase 2 fillers contribute O(1) to every output: "
        "|Σ_l Σ_fillers G p| is bounded.",
        judge=c.Rungs(
            "fillers' part until the loss is 1/m, n = (L log m / 4)²",
            _tied_part,
            "O",
            "width",
            constant=2.0,
        ),
        predicate="without noise; Condition 1 asks for n ≥ L² times logarithms",
        system=ev.NOISE_FREE,
        needs=_TIED,
        settings="in m with n = (L log m / 4)²; L = 5, m1 = 64",
        inert=dict.fromkeys(
            ("loss_at_end", "end_time"), "the loss is 1/m before the run ends"
        ),
        source=(
            "our runs without noise, in which nothing is drawn. At fixed n the "
            "contribution grows: see A-F.15-fixed. The two were one claim before "
            "version 2 of the claims"
        ),
        mutations=c.named(with_width("value", 0.3)),
    ),
    _claim(
        id="A-F.15-fixed",
        origin="ours",
        place="beside Corollary F.15, at fixed n",
        statement="At n = 60, L = 5 the fillers' part of outputs in phase 2 is Θ(log "
        "m) when the loss is 1/m.",
        under=(*WEIGHTS, "m", "m1", "σ0", "σ1", *DATA, "flow"),
        needs=ev.LARGE_TABLES,
        judge=c.All(
            (
                ladder(
                    "fillers' part over log m",
                    largest(lambda run: _fillers(run) / math.log(sizes(run).width)),
                    "theta",
                    constant=2.0,
                ),
            ),
            also={
                "the part": lambda evidence: [
                    float(largest(_fillers)(run).max()) for run in evidence.values()
                ]
            },
        ),
        source=f"{ev.THEORY_RUNS} (reader's note A-N8b)",
        mutations=c.named(with_width("value", 0.3)),
    ),
)
