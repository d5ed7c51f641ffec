"""Assumption 2 and Lemmas 13 to 17: correlations of the classes' features."""

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
from attnflow.papers.scansnap.claims.evidence import NO_SEED, flow
from attnflow.papers.scansnap.claims.looks import per_seed
from attnflow.schema.declarations import Request

GRAMS = {"grams": Request("random-grams", seeds=tuple(range(200, 400)))}
# Inverses and eigenvalues of well-conditioned 5 × 5 matrices.
ROUNDING = 1e-12


def _needed(evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """K times the largest |λ_i|, which must be below 1; and M over 36K²(K − 1)²."""
    run = evidence["arithmetic"].isel(seed=0)
    K = run["classes"].values[:, None]
    room = run["ratio"].values[None] / (36.0 * (K - 1) ** 2)
    return run["largest"].values * K, room


def _judge_room(evidence: Evidence) -> Finding:
    found, _ = _needed(evidence)
    ratios = evidence["arithmetic"]["ratio"].values.tolist()
    worst = {
        f"M = {r:g} K²": float(k) for r, k in zip(ratios, found.max(0), strict=True)
    }
    check = Exact(
        max(value for name, value in worst.items() if name != "M = 10 K²"),
        1.0,
        "K |λ₁| at the least allowed correlation, M ≥ 100 K²",
        counterexample=True,
    )
    return Finding((check,), {"K |λ₁|": worst})


def _correct_room(evidence: Evidence) -> Finding:
    found, room = _needed(evidence)
    wrong = int(((found < 1) != (room > 1)).sum())
    check = Exact(float(wrong), 0.0, "sizes at which M > 36K²(K − 1)² does not decide")
    return Finding((check,), {"sizes": found.size, "with room": int((found < 1).sum())})


def _judge_bounds(evidence: Evidence) -> Finding:
    margins: dict[str, list[float]] = {name: [] for name in _LEMMAS}
    for gram in evidence["grams"]["gram"].values:
        excess = gram - np.eye(len(gram))
        inner = np.eye(len(gram)) - np.linalg.inv(gram)
        values = np.linalg.eigvalsh(excess)
        turned = np.linalg.eigvalsh(inner)
        first = np.abs(values).max()
        bound = first / (1 - first)
        match = np.abs(np.sort(values / (1 + values)) - turned).max()
        found = (
            first - np.abs(excess).max(),
            -match,
            bound - np.abs(turned).max(),
            -inner.diagonal().max(),
            first * bound - np.abs(inner - excess).max(),
        )
        for name, margin in zip(_LEMMAS, found, strict=True):
            margins[name].append(float(margin) + ROUNDING)
    checks = [per_seed(np.array(m), name, q=1.0) for name, m in margins.items()]
    return Finding(tuple(checks), {name: min(m) for name, m in margins.items()})


_LEMMAS = (
    "Lemma 13: |E_ij| ≤ |λ₁|",
    "Lemma 14: eigenvalues of E' are λ/(1 + λ)",
    "Lemma 15: |λ(E')| ≤ |λ₁|/(1 − |λ₁|)",
    "Lemma 16: the diagonal of E' is not positive",
    "Lemma 17: |E' − E| ≤ λ₁²/(1 − |λ₁|)",
)


_claim = partial(Claim, scope=Scope.THEOREM)
CLAIMS = (
    _claim(
        id="E-Ass2",
        place="Assumption 2",
        statement="M ≫ K² leaves room for |λ₁(E)| < 1/K and |λ_i(E)| ≥ 6/√M, also for "
        "classes with equal correlations.",
        system="eigenvalues of E",
        needs={"arithmetic": flow("assumption2")},
        judge=_judge_room,
        predicate="with the least correlation 6/√M that is allowed K |λ₁| is below 1, "
        "for K = 2 … 100 and M = 100 K² … 10⁶ K²",
        expected=Verdict.HOLDS_CORRECTED,
        source="sheet E section 7 (291600 at K = 10), and our run",
        conditions=f"equal correlations, λ = ρ(K − 1) and −ρ; {NO_SEED}",
        correction=Correction(
            "M > 36K²(K − 1)² is needed and enough for equal correlations: 291600 at K "
            "= 10. No experiment of the paper meets it.",
            _correct_room,
        ),
        mutations=named(
            mutate.scale("arithmetic", "largest", 10.0),
            mutate.reverse("arithmetic", "largest", "classes"),
        ),
    ),
    _claim(
        id="E-Lem13-17",
        place="Lemmas 13 to 17",
        statement="For features without negative entries, |E_ij| ≤ |λ₁|, E' has the "
        "eigenvalues λ/(1 + λ) and a diagonal that is not positive, and |E' − E| ≤ "
        "λ₁²/(1 − |λ₁|).",
        system="features drawn at random",
        needs=GRAMS,
        judge=_judge_bounds,
        predicate="each inequality in each of 200 draws, up to 1e-12 (rounding)",
        expected=Verdict.HOLDS,
        source="sheet E section 7 (no violation), and our run",
        conditions="|λ₁| < 1, which is all that is used: K = 5 random features, "
        "without the rest of Assumption 2",
        mutations=named(
            mutate.scale("grams", "gram", 1.1),
            mutate.add("grams", "gram", 0.5),
        ),
    ),
)
