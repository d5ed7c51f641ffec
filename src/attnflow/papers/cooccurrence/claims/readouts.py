"""Sizes of readouts, and of their sums, in Phase 2."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims import templates
from attnflow.papers.cooccurrence.claims.windows import (
    band,
    ladder,
    largest,
    least,
    phase_two,
)
from attnflow.schema.declarations import Evidence, Request
from attnflow.schema.installation import xr

ALL = mutate.EVERY
NAMED = ["mu1", "mu2", "mu3"]
_claim = templates.at_large_widths


def _readouts(run: xr.Dataset, tokens: list[str] = NAMED) -> xr.DataArray:
    """G(μ1), G(μ2) and −G(μ3)."""
    value = run["value"].isel(head=0, drop=True).sel(token=tokens)
    return value * xr.where(value["token"] == "mu3", -1.0, 1.0)


def _parts(run: xr.Dataset) -> tuple[xr.DataArray, ...]:
    """G(μ1), G(μ2) and −G(μ3), one by one."""
    readouts = _readouts(run)
    return tuple(readouts.sel(token=token, drop=True) for token in NAMED)


_common = partial(_readouts, tokens=["mu3"])
_targets = partial(_readouts, tokens=["mu1", "mu2"])

SAMPLES = {5: (60.0, 120.0, 240.0, 600.0, 6e3, 6e4), 10: (240.0, 600.0, 6e3, 6e4, 6e5)}
"""n from 2.4 L² on, for two lengths L."""


def sums(run: xr.Dataset) -> xr.DataArray:
    """G1 + G2 + G3, −G1 − G3 and −G2 − G3."""
    first, second, common = _parts(run)
    return xr.concat([first + second - common, common - first, common - second], "sum")


def _quiet_needs() -> dict[str, Request]:
    sizes = [(n, length) for length, some in SAMPLES.items() for n in some]
    return {f"n={n:g}, L={length}": ev.noise_free(n, length) for n, length in sizes}


def _readout_ratios(run: xr.Dataset) -> xr.DataArray:
    first, second, common = _parts(run)
    return xr.concat([first / second, first / common, second / common], "ratio")


def _judge_extent(evidence: Evidence) -> c.Finding:
    """Largest over least of the three ratios, all widths and seeds together."""
    top, low = largest(_readout_ratios), least(_readout_ratios)
    highest = np.max([top(run) for run in evidence.values()])
    extent = highest / np.min([low(run) for run in evidence.values()])
    return c.Finding((c.Exact(float(extent), 2.0, "largest over least"),))


CLAIMS: tuple[c.Claim, ...] = (
    _claim(
        id="A-Thm3.2-i3",
        place="Theorem 3.2, third item",
        statement=(
            "In phase 2, G(μ1) and G(μ2) are at least constants, and −G(μ3) is at "
            "most a constant, as printed."
        ),
        judge=c.All(
            (
                ladder("least of G(μ1), G(μ2)", least(_targets), "Omega", constant=2.0),
                ladder("largest −G(μ3)", largest(_common), "O", constant=2.0),
            )
        ),
        needs=ev.LARGE_WIDTHS,
        settings=ev.ALONG_LARGE_M,
        expected=c.Verdict.FAILS,
        source=f"{ev.THEORY_RUNS}: a typo (reader's note A-N1)",
        mends=c.named(
            mutate.mapped(
                "G constant along time",
                ALL,
                "value",
                lambda table: (
                    xr.ones_like(table) * xr.where(table["token"] == "mu3", -1.0, 1.0)
                ),
            )
        ),
        correction=c.Correction(
            c.CorrectionKind.TYPO,
            "−G(μ3) is at least a constant, ≥ for ≤: it grows like log m.",
            ladder(
                "least of G(μ1), G(μ2), −G(μ3)",
                least(_readouts),
                "Omega",
                constant=2.0,
            ),
        ),
        witness=c.Witness(
            "witnesses/frozen_attention.py",
            {
                "-G(mu3) where the loss is 1/8192": ("largest −G(μ3)", 0),
                "-G(mu3) where the loss is 1/1048576": ("largest −G(μ3)", 12),
            },
        ),
    ),
    _claim(
        id="A-Thm3.2-i4",
        place="Theorem 3.2, fourth item",
        statement="In phase 2, G(μ1) + G(μ2) + G(μ3) is at least a constant, and "
        "G(μ1) + G(μ3) and G(μ2) + G(μ3) are at most a negative one.",
        judge=c.All(
            (
                c.AtLeast(
                    "G1 + G2 + G3, −G1 − G3 and −G2 − G3 at n = 60, L = 5",
                    sums,
                    0.0,
                    of=("m=*",),
                    unit="difference",
                    strict=True,
                    when=phase_two,
                    period="in Phase 2",
                ),
                *(
                    c.Rungs(
                        f"least of the three without noise, in n, L = {length}",
                        least(sums),
                        "Omega",
                        "samples",
                        of=(f"n=*, L={length}",),
                    )
                    for length in SAMPLES
                ),
            )
        ),
        needs={**ev.ALL_WIDTHS, **_quiet_needs()},
        settings="in m at n = 60, L = 5; in n from 2.4 L² on, without noise, at m = "
        "1e6 and L = 5 and 10",
        source=f"{ev.THEORY_RUNS}, and runs without noise: at T1 the constant is tiny "
        "at n = 60 (0.05 without noise, 0.17 for many samples), and negative at n = "
        "60, L = 10",
        mutations=c.named(mutate.negate("m=512", "value")),
    ),
    _claim(
        id="A-F.7",
        place="Corollary F.7",
        statement="In phase 2, G(μ1), G(μ2) and −G(μ3) are of the same order.",
        judge=c.All(
            (*band("ratio of readouts", _readout_ratios, "theta"), _judge_extent)
        ),
        needs=ev.ALL_WIDTHS,
        settings=ev.ALONG_M,
        predicate="the three ratios differ by at most a factor 2, all widths together",
        mutations=c.named(
            mutate.swap(ALL, "value", "token", ("mu2", "mu3")),
            mutate.only("m=131072", mutate.power(ALL, "value", 4.0)),
        ),
    ),
)
