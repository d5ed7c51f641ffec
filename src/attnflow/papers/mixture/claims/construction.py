"""Claim on Lemma 6.1: a transformer that solves any number of mixtures."""

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
from attnflow.schema.declarations import Request

ALL = mutate.EVERY
# A few operations on probabilities, which are at most 1.
ROUNDING = 64 * float(np.finfo(float).eps)


def _judge_printed(evidence: Evidence) -> Finding:
    run = evidence["construction"]
    right = {y: float(run[f"printed_{y}"].min()) for y in ("positive", "negative")}
    worst = min(right.values())
    what = "share of samples of one label that are misclassified"
    check = Exact(1.0 - worst, 0.0, what, counterexample=True)
    return Finding((check,), {f"right, {y} label": r for y, r in right.items()})


def _judge_corrected(evidence: Evidence) -> Finding:
    run = evidence["construction"]
    least = float(run["margin"].min())
    errors = [float(run[f"{name}_error"].max()) for name in ("formula", "exchanged")]
    return Finding(
        (
            Exact(max(errors), ROUNDING, "y f against our formulas"),
            Exact(max(0.0, 1 - least / 1e-4), 1.0, "1 − least margin / 1e-4"),
        ),
        {"least margin": least, "error": max(errors)},
    )


CONSTRUCTION = (
    Claim(
        id="B-L6.1",
        place="Lemma 6.1",
        statement="For every K the two-headed transformer of the proof solves the "
        "K-mixture.",
        system="exact: every sample of the population, by enumeration",
        needs={"construction": Request("construction", seeds=1)},
        judge=_judge_printed,
        predicate="y f > 0 on every sample of both labels",
        expected=Verdict.HOLDS_CORRECTED,
        source="our enumeration of every sample. That some transformer solves it, "
        "which is the lemma, stands",
        scope=Scope.THEOREM,
        conditions="K = 2 … 6, L = 2 … K + 1, C = 0.01 … 30, b = 0, 1/2, 2",
        correction=Correction(
            "As printed f = +1 for both labels. With w₊ = w₋ = Σ c_k and S± = ∓C Σ v_k "
            "c_kᵀ, any C > 0 and b ≥ 0: y f = 1/(L − 1 + e^{−C}) − 1/(L − 1 + e^C) > 0 "
            "for every K ≥ 2, L ≥ 2. The printed scores with the heads exchanged and "
            "these neurons work too.",
            _judge_corrected,
        ),
        mutations=named(
            mutate.negate(ALL, "margin"),
            mutate.add(ALL, "formula_error", 1e-9),
            mutate.add(ALL, "exchanged_error", 1e-9),
        ),
    ),
)
