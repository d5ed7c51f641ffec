"""Claims on the fates of tokens in Q: Lemma 4 and Theorem 2."""

from functools import partial

import numpy as np

from attnflow.claims import (
    Claim,
    Correction,
    Evidence,
    Exact,
    Finding,
    Scope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.attention_drive import MET, MET_SIZES, assumption_2
from attnflow.papers.scansnap.claims.evidence import FEW, FEW_RUNS, PLAN_RUNS, Q, flow
from attnflow.papers.scansnap.claims.statistics import COMMON, end, per_seed
from attnflow.schema.declarations import Request

QUICK = {"score_rate": 0.02, "value_rate": 0.02, "until": 20000.0}
ALIKE = {"classes": 5, "vocabulary": 100, "distinct": (0.2, 0.3, 0.5)}
SAMPLES = {
    "samples": Request("single-samples", seeds=FEW),
    **{
        name: flow(
            "figure3-q", **ALIKE, **QUICK, per_class=per_class, record=("score",)
        )
        for name, per_class in (("with 1/K", True), ("printed", False))
    },
}


def _against(evidence: Evidence, name: str) -> Finding:
    """Finding: the common token's score by single samples, compared with a flow's."""
    sample_scores = evidence["samples"]["score"].sel(token=COMMON).values
    flow_score = end(evidence[name], COMMON)
    error = float(np.abs(sample_scores / flow_score - 1).max())
    check = Exact(error, 0.005, f"z of the common token, {name}, relative", True)
    return Finding((check,), {"samples": sample_scores.tolist(), name: flow_score})


def _judge_distinct(evidence: Evidence) -> Finding:
    run = evidence["met"]
    least = run["slowest_distinct"].sel(case="Q, 10").values
    check = per_seed(least, "the slowest distinct token still gains", q=1.0)
    number = {"least velocity over the largest": float(least.min())}
    return Finding((check, *assumption_2(run)), number)


def _judge_common(evidence: Evidence) -> Finding:
    run = evidence["met"]
    largest = run["fastest_common"].sel(case="Q, 10").values
    check = per_seed(-largest, "the common token loses", q=1.0)
    number = {"largest velocity over the largest": float(largest.max())}
    return Finding((check, *assumption_2(run)), number)


_claim = partial(Claim, expected=Verdict.HOLDS, scope=Scope.THEOREM)
CLAIMS = (
    _claim(
        id="E-Lem4",
        place="Lemma 4, Equation 10; 94 to 98",
        statement="Attention's flow in the time of samples is Equation 10, a sum over "
        "classes without the factor 1/K.",
        system=f"{Q}, and the same by single samples",
        needs=SAMPLES,
        judge=partial(_against, name="printed"),
        predicate="z of the common token after 20000 single samples with the "
        "decorrelated decoder is within 0.5% of the flow's, in every seed (steps of "
        "0.02; 0.01% from the flow with 1/K on seeds 0–1)",
        expected=Verdict.HOLDS_CORRECTED,
        source=f"{FEW_RUNS}: −2.307 by samples and by the flow with 1/K, −2.786 by "
        "Equation 10 as printed",
        conditions="T → ∞: K = 5 identical classes, M = 100, one common token, η_Y = "
        "η_Z = 0.02; the equation itself needs no Assumption 2",
        correction=Correction(
            "The sum over classes has the factor 1/K, as the decoder's clock t/K has.",
            partial(_against, name="with 1/K"),
        ),
        mutations=named(
            mutate.scale("samples", "score", 1.05),
            mutate.reverse("samples", "score", "token"),
        ),
    ),
    _claim(
        id="E-Thm2-a",
        place="Theorem 2(a)",
        statement="Every distinct token's score grows at every time.",
        system=Q,
        needs=MET,
        judge=_judge_distinct,
        predicate="velocities of all distinct tokens positive at all 60 records, in "
        "every seed (each seed draws its own classes)",
        source=PLAN_RUNS,
        conditions=MET_SIZES,
        mutations=named(
            mutate.negate("met", "slowest_distinct"),
            mutate.some_seeds(0.1, mutate.add("met", "slowest_distinct", -2.0)),
            mutate.scale("met", "strongest", 10.0),
        ),
    ),
    _claim(
        id="E-Thm2-b",
        place="Theorem 2(b)",
        statement="A single common token's score falls at every time.",
        system=Q,
        needs=MET,
        judge=_judge_common,
        predicate="its velocity negative at all 60 records, in every seed (each "
        "seed draws its own classes)",
        source=PLAN_RUNS,
        conditions=MET_SIZES,
        mutations=named(
            mutate.negate("met", "fastest_common"),
            mutate.some_seeds(0.1, mutate.add("met", "fastest_common", 2.0)),
        ),
    ),
)
