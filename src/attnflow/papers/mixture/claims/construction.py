"""Claims on Lemma 6.1: a transformer that solves any number of mixtures."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow.claims import mutations as mutate
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

ALL = mutate.EVERY
# A few operations on probabilities, which are at most 1.
ROUNDING = 64 * float(np.finfo(float).eps)
_claim = partial(
    c.Claim,
    kind=c.Kind.UNIVERSAL,
    system="exact: every sample of the population, by enumeration",
    needs={"construction": Request("construction", seeds=1)},
    settings="K = 2 … 6, L = 2 … K + 1, C = 0.01 … 30, b = 0, 1/2, 2",
)


def _exists(run: xr.Dataset) -> xr.DataArray:
    """The mask of cells with L ≤ K + 1, which are computed."""
    return run["L"] <= run["K"] + 1


def _right(run: xr.Dataset, label: str) -> xr.DataArray:
    return run[f"printed_{label}"]


SOLVES = c.All(
    (
        c.AtLeast("least y f", lambda run: run["margin"], 1e-4, when=_exists),
        *(
            c.Equal(f"y f off our formula, {name}", error, ROUNDING, when=_exists)
            for name, error in (
                ("scores ∓C Σ v_k c_kᵀ", lambda run: run["formula_error"]),
                ("printed scores exchanged", lambda run: run["exchanged_error"]),
            )
        ),
    )
)
_ERRORS = {
    name: "errors of 1e-16 stay within rounding when negated or multiplied by ten"
    for name in ("formula_error", "exchanged_error")
}

CONSTRUCTION = (
    _claim(
        id="B-L6.1",
        place="Lemma 6.1",
        statement=(
            "For every K there is a two-headed transformer of equation 1 that "
            "classifies every sample: with w₊ = w₋ = Σ c_k and S± = ∓C Σ v_k c_kᵀ, C "
            "> 0 and b ≥ 0, y f = 1/(L − 1 + e^{−C}) − 1/(L − 1 + e^C) > 0 (our "
            "construction)."
        ),
        under=(),
        judge=SOLVES,
        predicate=(
            "1e-4 is below the formula's smallest value; the formula holds for every K"
        ),
        expected=c.Verdict.HOLDS,
        source=(
            "our enumeration of every sample. The construction in the proof, which "
            "this claim used to judge, has its own claim: B-L6.1-proof"
        ),
        mutations=c.named(
            mutate.add(ALL, "formula_error", 1e-9),
            mutate.add(ALL, "exchanged_error", 1e-9),
        ),
        inert=_ERRORS,
    ),
    _claim(
        id="B-L6.1-proof",
        place="proof of Lemma 6.1",
        statement="For every K the transformer of the proof classifies every sample.",
        under=(),
        judge=c.All(
            tuple(
                c.AtLeast(
                    f"share of samples with {label} label that are right",
                    partial(_right, label=label),
                    1.0,
                    when=_exists,
                )
                for label in ("positive", "negative")
            )
        ),
        predicate="y f > 0 counts as right",
        expected=c.Verdict.FAILS,
        source="our enumeration of every sample: f = +1 for both labels. The lemma "
        "itself stands (B-L6.1)",
        correction=c.Correction(
            c.CorrectionKind.CONSTANT,
            "Other weights do it: w₊ = w₋ = Σ c_k with S± = ∓C Σ v_k c_kᵀ, or with the "
            "printed scores of the two heads exchanged.",
            SOLVES,
        ),
        mends=c.named(mutate.replace(ALL, "printed_negative", 1.0)),
        witness=c.Witness(
            "witnesses/construction.py",
            {
                "share right, label -1": (
                    "share of samples with negative label that are right",
                    0,
                ),
                "least y f": ("least y f", 0),
            },
        ),
    ),
)
