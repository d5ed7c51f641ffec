"""Claims on the number of samples that the decoder needs: Corollary 1, E-R-13."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import Claim, Evidence, Exact, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.decoder import COURSES
from attnflow.papers.scansnap.claims.evidence import DECODER, FLOW_RUN
from attnflow.papers.scansnap.claims.speed import SIZES, by_size
from attnflow.papers.scansnap.systems.decoder import Decoder

ERRORS = (0.3, 0.1, 0.01, 0.001)


def _time_ratios(run: xr.Dataset) -> dict[str, list[float]]:
    """Times at which |e_n − α_n| falls to each ε, over (1/ε) ln(M/ε), by M."""
    by_error: dict[str, list[float]] = {}
    for error in ERRORS:
        ratios = []
        for M, course in by_size(run):
            below = course["error_norm"].values <= error
            first = (
                course["clock"].values[int(np.argmax(below))] if below.any() else np.inf
            )
            ratios.append(float(first * error / np.log(M / error)))
        by_error[f"ε = {error:g}"] = ratios
    return by_error


def _judge_samples(evidence: Evidence) -> Finding:
    ratios = _time_ratios(evidence["courses"])
    worst = max(max(column) for column in ratios.values())
    return Finding((Exact(worst, 1.0, "time over its bound"),), {"over bound": ratios})


def _judge_time(evidence: Evidence) -> Finding:
    worst = 0.0
    for M, course in by_size(evidence["courses"]):
        decoder = Decoder(1, M, value_rate=1.0, score_rate=1.0)
        # Above 0.5 the error is still near its initial value, and times lose digits.
        late = course.where(course["error_norm"] < 0.5, drop=True)
        times = [decoder.time_to_error(float(e)) for e in late["error_norm"].values]
        worst = max(worst, float(np.abs(times / late["clock"].values - 1).max()))
    check = Exact(worst, 1e-8, "the formula's time at each recorded error, relative")
    return Finding((check,), {"relative error": worst})


_claim = partial(
    Claim,
    system=DECODER,
    needs=COURSES,
    expected=Verdict.HOLDS,
    scope=Scope.THEOREM,
    conditions=SIZES,
)
CLAIMS = (
    _claim(
        id="E-Cor1",
        place="Corollary 1",
        statement="|e_n − α_n| ≤ ε takes O((K/(ε η_Y)) ln(M/ε)) samples.",
        judge=_judge_samples,
        predicate="the first record at which the error is at most ε = 0.3 … 0.001 "
        "comes before the bound with the constant 1, at every M",
        source=FLOW_RUN,
        mutations=named(
            mutate.power("courses", "error_norm", 0.2),
            mutate.constant("courses", "error_norm", "clock"),
        ),
    ),
    _claim(
        id="E-R-13",
        place="Corollary 1",
        statement="|e_n − α_n| = ε exactly after (K/(M η_Y))(e^u + (M − 1)u − 1) "
        "samples, e^u = (M − 1)(√(1 + 1/(M − 1))/ε − 1).",
        judge=_judge_time,
        predicate="the formula reproduces the time of every recorded error below 0.5, "
        "to 1e-8 (the flow's 1e-9, and the error's own rounding)",
        source=FLOW_RUN,
        origin="ours",
        mutations=named(
            mutate.scale("courses", "error_norm", 1.001),
            mutate.power("courses", "error_norm", 1.01),
        ),
    ),
)
