"""Claims on correlations of the classes' features: Assumption 2, Lemmas 3, 13 to 17."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow.claims import All, AtMost, Claim, Equal, Evidence, Kind, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap import training_map as tm
from attnflow.papers.scansnap.claims import evidence as ev
from attnflow.papers.scansnap.claims.decoder import FEATURES, UPDATES
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

GRAMS = {"grams": Request("random-grams", seeds=tuple(range(200, 400)))}
PAIR = ("class", "other_class")
# Inverses and eigenvalues of well-conditioned 5 × 5 matrices.
ROUNDING = 1e-12


def _matrices(run: xr.Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E and E' of each seed and record, and |λ₁|."""
    gram = run["gram"].transpose("seed", ..., *PAIR).values
    unit = np.eye(gram.shape[-1])
    excess, inner = gram - unit, unit - np.linalg.inv(gram)
    return excess, inner, np.abs(np.linalg.eigvalsh(excess)).max(axis=-1)


def _by_seed(values: np.ndarray, run: xr.Dataset) -> xr.DataArray:
    """Numbers by seed, and by record where the run has several."""
    dims = ["seed", *(d for d in run["gram"].dims if d not in ("seed", *PAIR))]
    return xr.DataArray(values, dims=dims, coords={"seed": run["seed"]})


def _entries(run: xr.Dataset) -> xr.DataArray:
    return _by_seed(np.abs(_matrices(run)[0]).max(axis=(-2, -1)), run)


def _eigenvalue_error(run: xr.Dataset) -> xr.DataArray:
    """Eigenvalues of E' less λ/(1 + λ)."""
    excess, inner, _ = _matrices(run)
    values = np.linalg.eigvalsh(excess)
    stated = np.sort(values / (1 + values), axis=-1)
    return _by_seed(np.abs(stated - np.linalg.eigvalsh(inner)).max(axis=-1), run)


def _inner_eigenvalues(run: xr.Dataset) -> xr.DataArray:
    inner = _matrices(run)[1]
    return _by_seed(np.abs(np.linalg.eigvalsh(inner)).max(axis=-1), run)


def _diagonal(run: xr.Dataset) -> xr.DataArray:
    """The largest E'_ii over λ₁², the order of its terms."""
    _, inner, first = _matrices(run)
    own = np.diagonal(inner, axis1=-2, axis2=-1).max(axis=-1)
    return _by_seed(own / first**2, run)


def _difference(run: xr.Dataset) -> xr.DataArray:
    excess, inner, _ = _matrices(run)
    return _by_seed(np.abs(inner - excess).max(axis=(-2, -1)), run)


def _modification(run: xr.Dataset) -> xr.DataArray:
    """The largest |FE'e_n|."""
    excess, inner, _ = _matrices(run)
    gram = excess + np.eye(excess.shape[-1])
    square = np.diagonal(inner @ gram @ inner, axis1=-2, axis2=-1).max(axis=-1)
    return _by_seed(np.sqrt(square), run)


def _largest_modification(evidence: Evidence) -> dict[str, float]:
    return {name: float(_modification(run).max()) for name, run in evidence.items()}


def _first(run: xr.Dataset) -> xr.DataArray:
    return _by_seed(_matrices(run)[2], run)


def _power_bound(run: xr.Dataset, *, power: int) -> xr.DataArray:
    """|λ₁|^power/(1 − |λ₁|), which is no bound from |λ₁| = 1 on."""
    first = _first(run)
    return first**power / (1 - first)


def _modification_bound(run: xr.Dataset) -> xr.DataArray:
    """Lemma 15's bound on |E'| times √(1 + |λ₁|), that on |F|."""
    return _power_bound(run, power=1) * np.sqrt(1 + _first(run))


def _halve_upper_triangle(gram: xr.DataArray) -> xr.DataArray:
    values = gram.values
    return gram.copy(data=values - np.triu(values, 1) / 2)


def _undecided(run: xr.Dataset) -> xr.DataArray:
    """Sizes at which M > 36K²(K − 1)² does not decide whether K |λ₁| < 1."""
    K = run["classes"]
    has_room = run["ratio"] / (36.0 * (K - 1) ** 2) > 1
    return ((run["largest"] * K < 1) != has_room) * 1.0


_claim = partial(Claim, expected=Verdict.HOLDS)
_bound = partial(
    _claim,
    kind=Kind.UNIVERSAL,
    under=("|λ_1| < 1",),
    system="random features",
    needs=GRAMS,
    source="our runs, seeds 200–399",
    settings="K = 5 random features without negative entries",
)
CLAIMS = (
    _claim(
        id="E-R-room",
        place="Assumption 2",
        statement=(
            "With equal correlations |λ₁(E)| < 1/K and |λ_i(E)| ≥ 6/√M can both be "
            "met if and only if M > 36K²(K − 1)², where the paper states M ≫ K²: "
            "291600 at K = 10. No experiment of the paper meets it."
        ),
        under=(),
        kind=Kind.UNIVERSAL,
        system="eigenvalues of E",
        needs={"arithmetic": ev.flow("assumption2")},
        judge=Equal("sizes that M > 36K²(K − 1)² does not decide", _undecided, 0.0),
        predicate="at the smallest allowed correlation, 6/√M",
        source=f"{ev.FLOW_RUN}; an earlier version judged, as if the paper said so, "
        "that M ≫ K² is enough",
        settings="λ = ρ(K − 1) and −ρ; K = 2 … 100, M = 10 K² … 10⁶ K²",
        origin="ours",
    ),
    _bound(
        id="E-Lem3b",
        place="Lemma 3, last sentence",
        statement="If λ₁ is small, the modification of the gradient in Lemma 3 is "
        "small as well: |FE'e_n| ≤ √(1 + |λ₁|) |λ₁|/(1 − |λ₁|), where |f_n| = 1.",
        needs={**GRAMS, **tm.runs_of("J", geometry=tm.MET)},
        judge=All(
            (
                AtMost(
                    "|FE'e_n|", _modification, _modification_bound, unit="difference"
                ),
            ),
            also={"largest |FE'e_n|": _largest_modification},
        ),
        predicate=(
            "the constants are ours; although the modification is small, couplings "
            "are not those of the true gradient: E-Thm1-true"
        ),
        settings="K = 5 random features without negative entries, and training on the "
        f"map: {tm.MET_SIZES}",
    ),
    _bound(
        id="E-Lem13-17",
        place="Lemmas 13, 15 and 17",
        statement="For features without negative entries, |E_ij| ≤ |λ₁|, |λ(E')| ≤ "
        "|λ₁|/(1 − |λ₁|) and |E' − E| ≤ λ₁²/(1 − |λ₁|).",
        judge=All(
            (
                AtMost("Lemma 13, |E_ij|", _entries, _first, unit="difference"),
                AtMost(
                    "Lemma 15, |λ(E')|",
                    _inner_eigenvalues,
                    partial(_power_bound, power=1),
                    unit="difference",
                ),
                AtMost(
                    "Lemma 17, |E' − E|",
                    _difference,
                    partial(_power_bound, power=2),
                    unit="difference",
                ),
            )
        ),
        predicate="each inequality in each of 200 draws",
    ),
    _bound(
        id="E-Lem14",
        place="Lemma 14",
        statement="(I + E)⁻¹ = I − E', and E' has the eigenvalues λ/(1 + λ).",
        kind=Kind.IDENTITY,
        judge=Equal("eigenvalues of E' less λ/(1 + λ)", _eigenvalue_error, ROUNDING),
        predicate="rounding of an inverse and of eigenvalues",
        mutations=named(
            mutate.mapped("not symmetric", "grams", "gram", _halve_upper_triangle)
        ),
        inert={"gram": "true of every symmetric E for which I + E has an inverse"},
    ),
    _claim(
        id="E-Lem16",
        place="Lemma 16",
        statement="The diagonal of E' is negative where a class is correlated with "
        "another.",
        kind=Kind.UNIVERSAL,
        under=ev.ASSUMPTION_2,
        system="random features",
        needs=UPDATES,
        judge=AtMost("E'_ii over λ₁²", _diagonal, 0.0, unit="difference", strict=True),
        predicate="in units of λ₁², the order of its terms",
        source=ev.FEW_RUNS,
        settings=FEATURES,
    ),
)
