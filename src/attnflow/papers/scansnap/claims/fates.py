"""Claims on the fates of tokens in Q: Lemma 4 and Theorem 2."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.papers.scansnap.claims import attention_drive as q
from attnflow.papers.scansnap.claims import evidence as ev
from attnflow.papers.scansnap.claims.statistics import COMMON, by_run, last, score
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

QUICK = {"score_rate": 0.02, "value_rate": 0.02, "until": 20000.0}
ALIKE = {"classes": 5, "vocabulary": 100, "distinct": (0.2, 0.3, 0.5)}
FLOWS = {
    name: ev.flow("figure3-q", **ALIKE, **QUICK, per_class=per_class, record=("score",))
    for name, per_class in (("with 1/K", True), ("printed", False))
}
SAMPLES = {"samples": Request("single-samples", seeds=ev.FEW), **FLOWS}


def _error(samples: xr.Dataset, flow: xr.Dataset) -> np.ndarray:
    """The common token's score by single samples over a flow's, less 1."""
    drawn = samples["score"].sel(token=COMMON).values
    return drawn / last(score(flow, COMMON)).values - 1


def _as_samples(evidence: c.Evidence) -> c.Evidence:
    """The flow as printed with the scores of the other one."""
    run, other = evidence["printed"], evidence["with 1/K"]
    return {**evidence, "printed": run.assign(score=other["score"])}


def _common(run: xr.Dataset) -> xr.DataArray:
    if "time" in run.dims:
        return last(score(run, COMMON))
    return run["score"].sel(token=COMMON)


def _against(name: str) -> c.All:
    what = f"z of the common token by samples over the flow's, {name}, less 1"
    equal = c.Equal(what, _error, 0.005, of=("samples", name), together=True)
    return c.All((equal,), also={"z": by_run(_common)})


_claim = partial(c.Claim, system=ev.Q, expected=c.Verdict.HOLDS)
_fate = partial(
    _claim,
    kind=c.Kind.UNIVERSAL,
    needs={**q.MET, **q.QUERIES},
    predicate=f"{q.SIGNS}; each seed draws its own classes",
    source=ev.PLAN_RUNS,
    settings=q.MET_SIZES,
)
CLAIMS = (
    _claim(
        id="E-Lem4",
        place="Lemma 4, Equation 10; 94 to 98",
        statement=(
            "With time counted in samples, the flow of attention is Equation 10, a "
            "sum over classes without the factor 1/K."
        ),
        kind=c.Kind.IDENTITY,
        under=("1(b)",),
        system=f"{ev.Q}, and the same by single samples",
        needs=SAMPLES,
        judge=_against("printed"),
        predicate="20000 single samples with the decorrelated decoder; steps of 0.02 "
        "are 0.01% from the flow with 1/K on seeds 0–1",
        expected=c.Verdict.FAILS,
        source=f"{ev.FEW_RUNS}: −2.307 by samples and by the flow with 1/K, −2.786 by "
        "Equation 10 as printed",
        settings="K = 5 identical classes, M = 100, one common token, η_Y = η_Z = 0.02",
        mends={"the printed flow with 1/K": _as_samples},
        correction=c.Correction(
            c.CorrectionKind.CONSTANT,
            "The sum over classes has the factor 1/K, like the decoder's clock t/K.",
            _against("with 1/K"),
        ),
        witness=c.Witness(
            "witnesses/single_samples.py",
            {"samples": ("z", "samples"), "printed": ("z", "printed")},
        ),
    ),
    _fate(
        id="E-Thm2-a",
        place="Theorem 2(a)",
        statement="Every distinct token's score grows at every time.",
        under=(*ev.ASSUMPTION_2, "Eq. 10"),
        needs={**q.MET, **q.QUERIES, **q.COMMON},
        judge=q.GAINS,
        settings=q.COMMON_SIZES,
    ),
    _fate(
        id="E-Thm2-b",
        place="Theorem 2(b)",
        statement="A single common token's score falls at every time.",
        under=(*ev.ASSUMPTION_2, "Eq. 10", "common", "distinct"),
        judge=q.LOSES,
    ),
)
