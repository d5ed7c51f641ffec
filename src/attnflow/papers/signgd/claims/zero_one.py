"""Claims on Appendix F.1: the 0–1 test loss by the scale of initial weights."""

from __future__ import annotations

import numpy as np

from attnflow import claims as c
from attnflow.papers.signgd.claims import evidence as ev
from attnflow.papers.signgd.claims.statistics import at
from attnflow.papers.signgd.conditions import CONDITION_3_1
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

_BRIEF = {
    "record": ("loss", "test_accuracy"),
    "steps": 1000,
    "dense": 0,
    "every": 100,
    "coarse": 100,
}
STRONG = {
    **_BRIEF,
    "samples": 10,
    "support": 10,
    "embed": 20000,
    "sigma_p": 2000 / np.sqrt(10).item(),
    "key_neurons": 20,
    "value_neurons": 20,
    "learning_rate": 7.3e-7,
    "supports": "disjoint",
}
"""Noise so strong that the appendix's threshold is far below that of Condition 3.1."""
SCALES = (2e-8, 2e-7, 2e-6, 2e-5)
SCALES_A = (2.2e-6, 2.2e-5, 2.2e-4, 2.2e-3, 2.2e-2)
SWEEP = {
    f"sigma_0={scale:g}": Request(
        "setting-a", {**STRONG, "sigma_0": scale}, seeds=ev.FEW
    )
    for scale in SCALES
}
SWEEP_A = {
    f"sigma_0={scale:g}": Request(
        "setting-a", {**_BRIEF, "sigma_0": scale}, seeds=ev.FEW
    )
    for scale in SCALES_A
}


def _wrong(run: xr.Dataset) -> xr.DataArray:
    """The 0–1 test loss at the end, by seed."""
    return 1 - at(run, 1000.0, "test_accuracy")["test_accuracy"]


def _change(*runs: xr.Dataset) -> xr.DataArray:
    """The largest 0–1 loss less the least, over σ_0."""
    errors = xr.concat([_wrong(run) for run in runs], "sigma_0")
    return errors.max("sigma_0", skipna=False) - errors.min("sigma_0", skipna=False)


CLAIMS = (
    c.Claim(
        id="C-F1",
        place="Appendix F.1",
        statement="The 0–1 test loss depends on the size of initial weights: at most "
        "0.08 for σ_0 = 2e-8, far below σ_p^−2 s^−3/2 m_v^½, and at least 0.35 for σ_0 "
        "= 2e-5, far above it.",
        kind=c.Kind.UNIVERSAL,
        under=CONDITION_3_1,
        judged=("sigma_0=2e-08", "sigma_0=2e-05"),
        system=ev.SIGNGD,
        needs=SWEEP,
        judge=c.All(
            (
                c.AtMost(
                    "0–1 loss at σ_0 = 2e-8",
                    _wrong,
                    0.08,
                    unit="difference",
                    of=("sigma_0=2e-08",),
                ),
                c.AtLeast(
                    "0–1 loss at σ_0 = 2e-5",
                    _wrong,
                    0.35,
                    unit="difference",
                    of=("sigma_0=2e-05",),
                ),
            ),
            also={
                "0–1 loss": lambda e: {
                    name: c.look.extent(_wrong(run)) for name, run in e.items()
                }
            },
        ),
        predicate="after 1000 steps (training loss below 0.01), on 500 test samples, "
        "of which one in twenty overlaps a training support. The threshold is 3.5e-7 "
        "without its logarithm, and Condition 3.1 allows σ_0 up to 3.5e-5",
        expected=c.Verdict.HOLDS,
        source="our runs, seeds 200–202",
        settings="n = 10, s = 10, d = 20000, σ_p √s = 2000, m_k = m_v = 20, disjoint "
        "training supports: the appendix assumes test noise that overlaps none of "
        "them, as do 95% of test samples here, and none in Table 3",
        survives={"holes": "it reads the last record alone"},
    ),
    c.Claim(
        id="C-R-zero-one",
        origin="ours",
        place="Appendix F.1, at Table 3's sizes",
        statement=(
            "In setting (a) the 0–1 test loss does not depend on σ_0: test noise "
            "overlaps training supports, and is memorised with them."
        ),
        under=(),
        kind=c.Kind.OBSERVATION,
        system=ev.SIGNGD,
        needs=SWEEP_A,
        judge=c.All(
            (
                c.AtMost(
                    "change of the 0–1 loss over σ_0",
                    _change,
                    0.06,
                    unit="difference",
                    together=True,
                ),
                c.AtLeast("0–1 loss", _wrong, 0.15, unit="difference"),
            )
        ),
        predicate="0.06 is two standard deviations of a difference of two shares of "
        "500 draws near 0.3 (0.02 on seeds 0–2). Appendix F.1's threshold is 0.125",
        expected=c.Verdict.HOLDS,
        source="our runs, seeds 200–202",
        settings=f"{ev.ROW_A}; σ_0 over four decades, 1000 steps",
        survives={"holes": "it reads the last record alone"},
    ),
)
