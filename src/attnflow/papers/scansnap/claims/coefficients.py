"""Claims on Theorem 1's coefficients, Lemmas 10 to 12 and Theorem 5, by samples."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
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
from attnflow.papers.scansnap.claims.decoder import FEATURES, UPDATES
from attnflow.papers.scansnap.claims.evidence import DECODER, FEW_RUNS
from attnflow.papers.scansnap.claims.statistics import per_seed
from attnflow.papers.scansnap.systems.decoder import discrete_heights, log_odds


def _coefficients(run: xr.Dataset, sign: float) -> np.ndarray:
    """−γβ of Equation 88 off the diagonal; `sign` is that of q₀(1 + θ_n')."""
    setting = schema.setting_of(run)
    M = setting["vocabulary"]
    heights = discrete_heights(setting["steps"], M, setting["value_rate"])
    high, low = 1 + 1 / (M - 1), -M / (M - 1) ** 2
    coefficients = []
    for gram, visits in zip(run["gram"].values, run["visits"].values, strict=True):
        h = heights[visits.astype(int)]
        inner = np.eye(len(h)) - np.linalg.inv(gram)
        total = h @ inner
        beta = high * h[:, None] * inner
        beta = beta + low * (total - h[:, None] * inner + sign * h)
        error = (M - 1) / (M - 1 + np.exp(M * h))
        coefficients.append(-error[:, None] * (M - 1) * beta)
    return np.array(coefficients)


def _form(evidence: Evidence, sign: float) -> Finding:
    run = evidence["updates"]
    measured = run["coupling"].values
    off_diagonal = ~np.eye(measured.shape[1], dtype=bool)
    largest = np.abs(measured - _coefficients(run, sign))[:, off_diagonal].max()
    error = float(largest / np.abs(measured).max())
    inside = float(run["beside"].max())
    which = "as printed" if sign > 0 else "corrected"
    return Finding(
        (
            Exact(inside, 1e-10, "what of g_n lies outside F's span, relative"),
            Exact(error, 1e-10, f"γβ {which} against least squares, relative", True),
        ),
        {f"error {which}": error},
    )


def _judge_concentration(evidence: Evidence) -> Finding:
    run = evidence["updates"]
    setting = schema.setting_of(run)
    N, K = setting["steps"], setting["classes"]
    deviations = np.abs(run["visits"].values - N / K).max(axis=1)
    rate = setting["value_rate"]
    u = log_odds(run["visits"].values, setting["vocabulary"], rate)
    mean = log_odds(N / K, setting["vocabulary"], rate)
    theta = np.abs(u / mean - 1).max(axis=1)
    return Finding(
        (
            per_seed(1 - deviations / np.sqrt(N * np.log(2 / 0.05)), "visits near N/K"),
            per_seed(1 - theta * np.sqrt(N) / K, "θ at most K/√N"),
        ),
        {"θ": theta.tolist(), "K/√N": K / np.sqrt(N)},
    )


_claim = partial(Claim, system=DECODER, needs=UPDATES, scope=Scope.THEOREM)
CLAIMS = (
    _claim(
        id="E-Thm1-form",
        place="Theorem 1, Equations 9 and 85 to 89",
        statement="g_n = γ(ι_n f_n − Σ β_nn' f_n') with β of Equation 88.",
        judge=partial(_form, sign=1.0),
        predicate="after 4000 single samples g_n is in F's span and its coefficients "
        "are Equation 88's, to 1e-10 of the largest (rounding through FᵀF's inverse)",
        expected=Verdict.HOLDS_CORRECTED,
        source=FEW_RUNS,
        conditions=f"Y(0) = 0, classes drawn uniformly; {FEATURES}",
        correction=Correction(
            "The term q₀(1 + θ_n') in β has the other sign.",
            partial(_form, sign=-1.0),
        ),
        mutations=named(
            mutate.scale("updates", "coupling", 1.001),
            mutate.reverse("updates", "visits", "class"),
            mutate.add("updates", "beside", 0.01),
        ),
    ),
    _claim(
        id="E-Lem10-12",
        place="Lemmas 10 to 12, Theorem 5",
        statement="After N single samples the visits N_n of a class are N/K up to √(N "
        "ln(2/δ)), and Y = F(I − E')(I + Θ)W with |θ_n| ≤ K/√N up to √ln(K/δ).",
        judge=_judge_concentration,
        predicate="visits within √(N ln 40) of N/K (δ = 0.05), and θ_n = h(N_n)/h(N/K) "
        "− 1 at most K/√N, without the logarithm; 90% of seeds",
        expected=Verdict.HOLDS,
        source=FEW_RUNS,
        conditions=f"Y(0) = 0, classes drawn uniformly; {FEATURES}",
        mutations=named(
            mutate.scale("updates", "visits", 0.5),
            mutate.setting("updates", steps=400000),
        ),
    ),
)
