"""Claims on the speed γ, early and late: Lemma 9 and Theorem 1(b)."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow.claims import (
    Claim,
    Correction,
    Evidence,
    Exact,
    Finding,
    Ladder,
    Scope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.decoder import COURSES
from attnflow.papers.scansnap.claims.evidence import DECODER, FLOW_RUN, NO_SEED

# The flow keeps to 1e-12 per step, over a thousand steps.
FLOW = 1e-9
SIZES = f"η_Y t/K = 10⁻⁷ … 10⁶, M = 34 … 10⁶; {NO_SEED}"


def by_size(run: xr.Dataset) -> list[tuple[float, xr.Dataset]]:
    """Pairs of M and the course at that M."""
    first_seed = run.isel(seed=0)
    sizes = first_seed["vocabulary"].values.tolist()
    return [(float(M), first_seed.sel(vocabulary=M)) for M in sizes]


def _early(run: xr.Dataset) -> float:
    """The largest γ/(η_Y t/K) up to t₀' = K ln M/η_Y."""
    ratios = [
        (c["speed"] / c["clock"]).sel(clock=slice(None, np.log(M)))
        for M, c in by_size(run)
    ]
    return max(float(ratio.max()) for ratio in ratios)


def _late(run: xr.Dataset, *, printed: bool) -> list[float]:
    """The largest γ over its late form from t₀ on, by M."""
    ratios = []
    for M, course in by_size(run):
        late = course.sel(clock=slice(2 * float(course["upper_root"]), None))
        log = np.log(late["clock"] * (1.0 if printed else M))
        ratios.append(float((late["speed"] * late["clock"] / log).max()))
    return ratios


def _excess(run: xr.Dataset, start: float) -> float:
    """The largest of e^u over min(M − 1, (M − 1)u), less 1, from start/M to ln M."""
    worst = []
    for M, course in by_size(run):
        u = course["log_odds"].sel(clock=slice(start / M, np.log(M)))
        worst.append(float((np.exp(u) / ((M - 1) * np.minimum(u, 1.0))).max() - 1))
    return max(worst)


def _judge_scan(evidence: Evidence) -> Finding:
    run = evidence["courses"]
    label = "e^{Mh} over its bound, less 1, from the start"
    early = Exact(_early(run) - 1, FLOW, "γ over η_Y t/K, less 1")
    excess = _excess(run, 0.0)
    check = Exact(excess, FLOW, label, counterexample=True)
    return Finding((check, early), {"excess as printed": excess})


def _correct_scan(evidence: Evidence) -> Finding:
    run = evidence["courses"]
    return Finding(
        (
            Exact(_excess(run, 2.0), FLOW, "the same from t = 2K/(M η_Y) on"),
            Exact(_early(run) - 1, FLOW, "γ over η_Y t/K, less 1"),
        ),
        {"γ over η_Y t/K": _early(run)},
    )


def _judge_snap(evidence: Evidence) -> Finding:
    late = _late(evidence["courses"], printed=False)
    check = Exact(max(late), 2.0, "γ over K ln(M η_Y t/K)/(η_Y t) from t₀ on")
    return Finding((check,), {"largest ratio by M": late})


def _judge_stages(evidence: Evidence) -> Finding:
    run = evidence["courses"]
    late = _late(run, printed=True)
    sizes = tuple(run["vocabulary"].values.astype(float).tolist())
    ladder = Ladder(
        sizes, tuple(late), "O", "γ over K ln(η_Y t/K)/(η_Y t) from t₀ on", constant=2.0
    )
    early = Exact(_early(run) - 1, FLOW, "γ over η_Y t/K, less 1")
    return Finding((early, ladder), {"as printed, by M": late})


def _correct_stages(evidence: Evidence) -> Finding:
    run = evidence["courses"]
    early = Exact(_early(run) - 1, FLOW, "γ over η_Y t/K, less 1")
    snap = _judge_snap(evidence)
    return Finding((early, *snap.checks), snap.numbers)


_claim = partial(Claim, system=DECODER, needs=COURSES, scope=Scope.THEOREM)
CLAIMS = (
    _claim(
        id="E-Lem9-i1",
        place="Lemma 9, first part",
        statement="For t ≤ K ln M/η_Y, e^{Mh} ≤ min(M − 1, (M − 1) M h) and γ = O(η_Y "
        "t/K).",
        judge=_judge_scan,
        predicate="the inequality at every record, to the flow's 1e-9, and γ at most "
        "η_Y t/K",
        expected=Verdict.HOLDS_CORRECTED,
        source=FLOW_RUN,
        conditions=SIZES,
        correction=Correction(
            "γ ≤ η_Y t/K for all t ≤ K ln M/η_Y, and the inequality from t = 2K/(M η_Y)"
            " on: at the start M h is 0 and e^{Mh} is 1.",
            _correct_scan,
        ),
        mutations=named(
            mutate.scale("courses", "speed", 1.5),
            mutate.scale("courses", "log_odds", 1.5),
        ),
    ),
    _claim(
        id="E-Lem9-i2",
        place="Lemma 9, second part",
        statement="For t ≥ 2(1 + ω₁) K ln M/η_Y, γ = O(K ln(M η_Y t/K)/(η_Y t)).",
        judge=_judge_snap,
        predicate="γ at most twice K ln(M η_Y t/K)/(η_Y t) at every record from t₀ on, "
        "the same constant for six M over 4.5 decades (at t₀ the ratio is 2u²/((1 + "
        "u)(u + ln 2)) to 1/M, with e^u = (M − 1)u: 2 is its limit)",
        expected=Verdict.HOLDS,
        source=FLOW_RUN,
        conditions=SIZES,
        mutations=named(
            mutate.scale("courses", "speed", 2.0),
            mutate.power("courses", "speed", 0.5),
        ),
    ),
    _claim(
        id="E-Thm1-b",
        place="Theorem 1(b); Theorem 4",
        statement="γ = O(η_Y t/K) up to K ln M/η_Y, and γ = O(K ln(η_Y t/K)/(η_Y t)) "
        "from 2(1 + δ') K ln M/η_Y on.",
        judge=_judge_stages,
        predicate="γ at most η_Y t/K early; late, the largest ratio by the rule for O "
        "with the constant 2 over a ladder of M",
        expected=Verdict.HOLDS_CORRECTED,
        source=f"{FLOW_RUN}; note E-N17a has the ratios at t₀ itself",
        conditions=SIZES,
        correction=Correction(
            "The late form is K ln(M η_Y t/K)/(η_Y t), as in Lemma 9: with it the "
            "constant 2 serves every M.",
            _correct_stages,
        ),
        mutations=named(
            mutate.scale("courses", "speed", 2.0),
            mutate.power("courses", "speed", 0.5),
        ),
    ),
)
