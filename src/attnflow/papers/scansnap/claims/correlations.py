"""Claims on correlations of the classes' features: Assumption 2, Lemmas 13 to 17."""

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
from attnflow.papers.scansnap.claims.evidence import FLOW_RUN, NO_SEED, flow
from attnflow.papers.scansnap.claims.statistics import per_seed
from attnflow.schema.declarations import Request

GRAMS = {"grams": Request("random-grams", seeds=tuple(range(200, 400)))}
# Inverses and eigenvalues of well-conditioned 5 × 5 matrices.
ROUNDING = 1e-12


def _eigenvalues_and_room(evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """K times the largest |λ_i|, which must be below 1, and M/(36K²(K − 1)²)."""
    run = evidence["arithmetic"].isel(seed=0)
    K = run["classes"].values[:, None]
    room = run["ratio"].values[None] / (36.0 * (K - 1) ** 2)
    return run["largest"].values * K, room


def _judge_room(evidence: Evidence) -> Finding:
    scaled_eigenvalues, _ = _eigenvalues_and_room(evidence)
    ratios = evidence["arithmetic"]["ratio"].values.tolist()
    worst = {
        f"M = {r:g} K²": float(k)
        for r, k in zip(ratios, scaled_eigenvalues.max(0), strict=True)
    }
    check = Exact(
        max(value for name, value in worst.items() if name != "M = 10 K²"),
        1.0,
        "K |λ₁| at the least allowed correlation, M ≥ 100 K²",
        counterexample=True,
    )
    return Finding((check,), {"K |λ₁|": worst})


def _correct_room(evidence: Evidence) -> Finding:
    scaled_eigenvalues, room = _eigenvalues_and_room(evidence)
    wrong = int(((scaled_eigenvalues < 1) != (room > 1)).sum())
    check = Exact(float(wrong), 0.0, "sizes at which M > 36K²(K − 1)² does not decide")
    return Finding(
        (check,),
        {
            "sizes": scaled_eigenvalues.size,
            "with room": int((scaled_eigenvalues < 1).sum()),
        },
    )


def _judge_bounds(evidence: Evidence) -> Finding:
    margins: dict[str, list[float]] = {name: [] for name in _LEMMAS}
    for gram in evidence["grams"]["gram"].values:
        excess = gram - np.eye(len(gram))
        inner = np.eye(len(gram)) - np.linalg.inv(gram)
        values = np.linalg.eigvalsh(excess)
        inner_values = np.linalg.eigvalsh(inner)
        first = np.abs(values).max()
        bound = first / (1 - first)
        match = np.abs(np.sort(values / (1 + values)) - inner_values).max()
        lemma_margins = (
            first - np.abs(excess).max(),
            -match,
            bound - np.abs(inner_values).max(),
            -inner.diagonal().max(),
            first * bound - np.abs(inner - excess).max(),
        )
        for name, margin in zip(_LEMMAS, lemma_margins, strict=True):
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
        predicate="at the smallest allowed correlation, 6/√M, K |λ₁| is below 1, for "
        "K = 2 … 100 and M = 100 K² … 10⁶ K²",
        expected=Verdict.HOLDS_CORRECTED,
        source=FLOW_RUN,
        conditions=f"equal correlations, λ = ρ(K − 1) and −ρ; {NO_SEED}",
        correction=Correction(
            "M > 36K²(K − 1)² is necessary and sufficient for equal correlations: "
            "291600 at K = 10. No experiment of the paper meets it.",
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
        system="random features",
        needs=GRAMS,
        judge=_judge_bounds,
        predicate="each inequality in each of 200 draws, up to 1e-12 (rounding)",
        expected=Verdict.HOLDS,
        source="our runs, seeds 200–399",
        conditions="only |λ₁| < 1 is used, which is weaker than Assumption 2: K = 5 "
        "random features",
        mutations=named(
            mutate.scale("grams", "gram", 1.1),
            mutate.add("grams", "gram", 0.5),
        ),
    ),
)
