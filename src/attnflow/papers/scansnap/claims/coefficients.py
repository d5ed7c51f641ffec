"""Claims on Theorem 1's coefficients γ, ι and β, by single samples."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.papers.scansnap.claims.decoder import FEATURES, UPDATES
from attnflow.papers.scansnap.claims.evidence import DECODER, FEW_RUNS, THEOREM_1
from attnflow.papers.scansnap.systems.decoder import discrete_heights
from attnflow.schema.installation import xr


def _parts(run: xr.Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """γι of Equation 86, γβ of Equation 88 without q₀(1 + θ_n'), and γ q₀(1 + θ_n')."""
    setting = schema.setting_of(run)
    M = setting["vocabulary"]
    heights = discrete_heights(setting["steps"], M, setting["value_rate"])
    high, low = 1 + 1 / (M - 1), -M / (M - 1) ** 2
    h = heights[run["visits"].values.astype(int)]
    speed = ((M - 1) ** 2 / (M - 1 + np.exp(M * h)))[:, :, None]
    inner = np.eye(h.shape[1]) - np.linalg.inv(run["gram"].values)
    own = h[:, :, None] * inner
    others = own.sum(axis=1, keepdims=True) - own
    diagonal = np.diagonal(others, axis1=1, axis2=2)
    iota = high * h * (1 - np.diagonal(inner, axis1=1, axis2=2)) - low * diagonal
    term = np.broadcast_to(low * h[:, None], own.shape)
    return speed[..., 0] * iota, speed * (high * own + low * others), speed * term


def _coefficients(run: xr.Dataset, sign: float) -> np.ndarray:
    """γι on the diagonal, −γβ off it, with a sign of q₀(1 + θ_n')."""
    iota, beta, term = _parts(run)
    is_own = np.eye(iota.shape[1], dtype=bool)
    return np.where(is_own, iota[:, :, None], -(beta + sign * term))


def _error(run: xr.Dataset, sign: float, *, diagonal: bool) -> xr.DataArray:
    """Measured coefficients less the formula's, over the largest of all."""
    measured = run["coupling"]
    is_own = np.eye(run.sizes["class"], dtype=bool)
    error = abs(measured - _coefficients(run, sign))
    size = abs(measured).max(("class", "other_class"))
    return (error / size).where(is_own == diagonal, 0.0)


def _remainders(run: xr.Dataset, *, diagonal: bool) -> xr.DataArray:
    """M δ₂ of Equation 87 on the diagonal, or M δ₃ of Equation 89 off it.

    They are what remains of ι_n and β_nn' over 1 + σ beside (1 − E'_nn)(1 + δ₁) and
    E'_nn'(1 + δ₁), with 1 + δ₁ = q₁(1 + θ_n).
    """
    setting = schema.setting_of(run)
    M = setting["vocabulary"]
    heights = discrete_heights(setting["steps"], M, setting["value_rate"])
    h = heights[run["visits"].values.astype(int)][:, :, None]
    mean = heights[-(-setting["steps"] // setting["classes"])]
    speed = (M - 1) ** 2 * mean / (M - 1 + np.exp(M * h))
    inner = np.eye(h.shape[1]) - np.linalg.inv(run["gram"].values)
    is_own = np.eye(h.shape[1], dtype=bool)
    main = np.where(is_own, 1 - inner, -inner) * (1 + 1 / (M - 1)) * h / mean
    remainder = M * abs(run["coupling"] / speed - main)
    return remainder.where(is_own == diagonal, 0.0)


def _fitted_sign(evidence: c.Evidence) -> float:
    """The factor of q₀(1 + θ_n') in β that fits: Equation 88 has +1."""
    run = evidence["updates"]
    _, beta, term = _parts(run)
    factor = (-run["coupling"].values - beta) / term
    return float(np.median(factor[:, ~np.eye(factor.shape[1], dtype=bool)]))


def _as_printed(evidence: c.Evidence) -> c.Evidence:
    """Coefficients as Equation 88 prints them."""
    run = evidence["updates"]
    table = run["coupling"].copy(data=_coefficients(run, 1.0))
    return {**evidence, "updates": run.assign(coupling=table)}


# Rounding through the inverse of FᵀF.
INVERSE = 1e-10
SPAN = c.Equal(
    "what of g_n lies outside F's span, relative", lambda run: run["beside"], INVERSE
)


def _form(sign: float, which: str) -> c.All:
    what = f"γβ {which} less least squares, over the largest"
    error = partial(_error, sign=sign, diagonal=False)
    also = {"factor of q₀(1 + θ)": _fitted_sign}
    return c.All((SPAN, c.Equal(what, error, INVERSE)), also=also)


_claim = partial(
    c.Claim,
    kind=c.Kind.IDENTITY,
    under=THEOREM_1,
    system=DECODER,
    needs=UPDATES,
    source=FEW_RUNS,
    settings=FEATURES,
    predicate="after 4000 single samples, coefficients of g_n on F by least squares; "
    "rounding through the inverse of FᵀF",
    inert={"beside": "0 up to rounding, and so is every multiple of it"},
)
CLAIMS = (
    _claim(
        id="E-Thm1-iota",
        place="Theorem 1, Equations 9, 85 and 86",
        statement="The coefficient of f_n in g_n is γ ι_n with ι of Equation 86.",
        judge=c.Equal(
            "γι less least squares, over the largest",
            partial(_error, sign=-1.0, diagonal=True),
            INVERSE,
        ),
        expected=c.Verdict.HOLDS,
    ),
    _claim(
        id="E-Thm1-orders",
        place="Theorem 1, Equations 87 and 89",
        statement="ι_n = (1 + σ)[(1 − E'_nn)(1 + δ₁) + δ₂] and β_nn' = (1 + "
        "σ)[E'_nn'(1 + δ₁) + δ₃] with |δ₂|, |δ₃| < 3/M.",
        kind=c.Kind.UNIVERSAL,
        judge=c.All(
            (
                c.AtMost(
                    "M |δ₂|", partial(_remainders, diagonal=True), 3.0, strict=True
                ),
                c.AtMost(
                    "M |δ₃|", partial(_remainders, diagonal=False), 3.0, strict=True
                ),
            )
        ),
        predicate="after 4000 single samples, coefficients by least squares; 1 + δ₁ = "
        "q₁(1 + θ_n), 1 + θ_n = h*(N_n)/h*(N̄)",
        inert={},
        expected=c.Verdict.HOLDS,
    ),
    _claim(
        id="E-Thm1-form",
        place="Theorem 1, Equations 9 and 88",
        statement="g_n = γ(ι_n f_n − Σ β_nn' f_n') with β of Equation 88.",
        judge=_form(1.0, "as printed"),
        expected=c.Verdict.FAILS,
        mends={"coefficients as printed": _as_printed},
        correction=c.Correction(
            c.CorrectionKind.TYPO,
            "The term q₀(1 + θ_n') in β has the other sign.",
            _form(-1.0, "corrected"),
        ),
        witness=c.Witness(
            "witnesses/couplings.py",
            {"factor of q0": ("factor of q₀(1 + θ)",)},
        ),
    ),
)
