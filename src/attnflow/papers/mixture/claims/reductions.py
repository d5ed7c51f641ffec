"""Claims on our reductions: Gram descent, conserved spectrum, quotient, onset time."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import mutations as mutate
from attnflow.papers.mixture import formulas
from attnflow.papers.mixture.claims.evidence import LADDER, omega_of
from attnflow.papers.mixture.stages import main_score_reaches
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

ALL = mutate.EVERY
EPS = float(np.finfo(float).eps)
_TABLES = ("score", "value", "key_self_score", "query_self_score")
# By ω: how long the flow must run for the main score to reach 0.1.
ONSETS = {0.1: 100.0, 0.03: 130.0, 0.01: 165.0, 0.001: 225.0, 0.0001: 280.0}


def _flow(*, seeds: int | tuple[int, ...] = 1, **changes: float | str) -> Request:
    return Request("flow", {"record": _TABLES, **changes}, seeds=seeds)


def _both(experiment: str) -> dict[str, Request]:
    """Runs at infinite width over all samples, and over one sample per orbit."""
    return {
        f"{experiment} {population}": Request(
            experiment, {"width": "infinite", "population": population}, seeds=1
        )
        for population in ("exact", "orbits")
    }


_claim = partial(
    c.Claim,
    kind=c.Kind.IDENTITY,
    origin="ours",
    expected=c.Verdict.HOLDS,
)


def _excess(run: xr.Dataset, form: str) -> xr.DataArray:
    """Deviation of a form from full weights over the allowed one.

    Runs one ulp of their initial weights apart do not show the rounding of entries
    that have grown since: one rounding of the largest is allowed for.
    """
    allowed = 10 * (run["divergence"] + EPS * np.maximum(run["size"], 1.0))
    return run["difference"].sel(form=form, drop=True) / allowed


def _spectrum(key: np.ndarray, score: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Eigenvalues of J P, P the Gram matrix, computed as those of P^½ J P^½.

    The latter is symmetric, so that they are accurate to a few ulps of P.
    """
    gram = np.block([[key, score], [score.swapaxes(-1, -2), query]])
    values, vectors = np.linalg.eigh(gram)
    half = np.sqrt(np.clip(values, 0.0, None))[..., None, :] * vectors
    root = half @ vectors.swapaxes(-1, -2)
    signs = np.repeat([1.0, -1.0], key.shape[-1])
    return np.linalg.eigvalsh(root @ (signs[:, None] * root))


def _drift(run: xr.Dataset) -> xr.DataArray:
    """Eigenvalues of J P less the initial ones."""
    rows = run.transpose("seed", "time", "head", "key", "query", ...)
    parts = [rows[n].values for n in ("key_self_score", "score", "query_self_score")]
    known = np.asarray(np.isfinite(parts).all(axis=(0, -1, -2)))
    gram = [np.where(known[..., None, None], part, 0.0) for part in parts]
    spectra = np.where(known[..., None], _spectrum(*gram), np.nan)
    dims = ("seed", "time", "head", "eigenvalue")
    coords = {"seed": run["seed"], "time": run["time"]}
    return xr.DataArray(spectra - spectra[:, :1], dims=dims, coords=coords)


def _root_error(run: xr.Dataset, name: str) -> xr.DataArray:
    """Self-scores less the roots, over the largest entry of the roots at the time."""
    score = run["score"].transpose("seed", "time", "head", "key", "query")
    known = np.isfinite(score.values).all(axis=(-1, -2), keepdims=True)
    left, sizes, right = np.linalg.svd(np.where(known, score.values, 0.0))
    basis = left if name == "key_self_score" else right.swapaxes(-1, -2)
    roots = np.hypot(omega_of(run) ** 2, sizes)[..., None]
    exact = np.where(known, basis @ (roots * basis.swapaxes(-1, -2)), np.nan)
    error = run[name].transpose(*score.dims) - exact
    return error / np.abs(exact).max(axis=(2, 3, 4), keepdims=True)


def _quotient_error(exact: xr.Dataset, orbits: xr.Dataset, name: str) -> xr.DataArray:
    return abs(exact[name] - orbits[name]) / abs(exact[name]).max()


def _onset_error(run: xr.Dataset) -> np.ndarray:
    """|detected onset time over the formula's − 1|."""
    setting = schema.setting_of(run)
    formula = formulas.onset_time(setting["omega"], setting["bias"], 0.1)
    return np.abs(main_score_reaches(run).times / formula - 1)


def _better(first: xr.Dataset, last: xr.Dataset) -> np.ndarray:
    return _onset_error(last) / _onset_error(first)


_EVERY_TIME = "an identity at every time, including the first"

REDUCTIONS = (
    _claim(
        id="B-R2",
        place="Appendix B.2, in discrete time",
        statement="One step of gradient descent on the weights is one closed-form step "
        "on the Gram matrix, at every width: 2000 steps agree with plain weights.",
        under=(),
        system="gradient descent of all weights",
        needs={"forms": Request("conformance", seeds=(200, 201))},
        judge=c.All(
            tuple(
                c.AtMost(
                    f"deviation of {form} from full weights over the allowed one",
                    partial(_excess, form=form),
                    1.0,
                )
                for form in ("gram", "transport")
            )
        ),
        predicate="allowed at every record: ten times the divergence of runs that "
        "start one ulp apart, plus ten roundings of the largest entry so far, or of 1",
        source=(
            "our runs, seeds 200, 201; tests/oracle/test_mixture.py compares with "
            "PyTorch. The rounding of the largest entry was added with results in "
            "view: with the rounding of 1 alone, 0.76 to 0.92 of the tolerance was "
            "used, depending on the instruction set"
        ),
        settings="K = 2, L = 3, m = 64, ω = 0.1, learning rate 0.1, 2000 steps",
        mutations=c.named(mutate.add(ALL, "difference", 1e-10)),
        inert={"size": "only its rounding error enters, next to the divergence"},
    ),
    _claim(
        id="B-R3",
        under=("flow",),
        place="Appendix B.2, a conserved spectrum",
        statement="Under gradient flow all eigenvalues of J P are constant, P the Gram "
        "matrix of keys and queries and J = diag(I, −I), at every width.",
        system="gradient flow of all weights",
        needs={
            "m=32": _flow(width=32, omega=0.3, steps=150.0, seeds=(200,)),
            "m=128": _flow(width=128, omega=0.1, steps=150.0, seeds=(200,)),
        },
        judge=c.Equal("drift of the 16 eigenvalues of J P", _drift, 1e-7),
        predicate="rtol 1e-10 for each of hundreds of steps, entries up to 10",
        source="our runs, seed 200",
        settings="K = 2, L = 3; any width and initial weights",
        mutations=c.named(mutate.scale(ALL, "score", 1.001)),
        survives=dict.fromkeys(("untrained", "cut"), _EVERY_TIME),
    ),
    _claim(
        id="B-R4",
        under=("flow", "Definition 5.1"),
        place="Definition 5.1; Appendix B.2",
        statement="At infinite width the scores alone determine the self-scores: "
        "A_K = (ω⁴ I + S Sᵀ)^½, A_Q = (ω⁴ I + Sᵀ S)^½.",
        system="gradient flow of Algorithm 1 at infinite width",
        needs=LADDER,
        judge=c.All(
            tuple(
                c.Equal(f"{name} off its root", partial(_root_error, name=name), 1e-11)
                for name in ("key_self_score", "query_self_score")
            )
        ),
        predicate="relative; roots from the singular values of S, which keeps small "
        "ones accurate",
        source="our runs at infinite width (deterministic)",
        settings="m infinite, ω = 0.3 … 1e-4",
        mutations=c.named(
            mutate.scale(ALL, "key_self_score", 1.000001),
            mutate.setting(ALL, omega=0.2),
        ),
        survives=dict.fromkeys(("untrained", "cut"), _EVERY_TIME),
    ),
    _claim(
        id="B-R5",
        under=("Definition 5.1",),
        place="Lemmas C.2, C.4, for every K and L",
        statement="At infinite width one sample of each orbit and blocks of the "
        "symmetry give the same training as the whole population.",
        system="gradient descent of all weights at infinite width",
        needs={**_both("figure1"), **_both("k3"), **_both("k4")},
        judge=c.All(
            tuple(
                c.Equal(
                    f"{name} of the quotient off that of all samples, {experiment}",
                    partial(_quotient_error, name=name),
                    5000 * EPS,
                    of=tuple(_both(experiment)),
                    together=True,
                )
                for experiment in ("figure1", "k3", "k4")
                for name in ("score", "value", "loss")
            )
        ),
        predicate="one ulp of the largest for each of up to 5000 steps",
        source="our runs at infinite width (deterministic)",
        settings="m infinite, ω = 0.1, learning rate 0.1, 2000 to 5000 steps",
        mutations=c.named(
            mutate.scale("k3 orbits", "score", 1 + 1e-9),
            mutate.add("k4 exact", "loss", 1e-9),
        ),
        survives=dict.fromkeys(("untrained", "cut"), _EVERY_TIME),
    ),
    _claim(
        id="B-R8",
        under=("K", "L", "samples", "flow", "w(0)", "b", "Definition 5.1"),
        place="Section 3.1, when attention starts to move",
        statement=(
            "In simultaneous training the main score reaches 0.1 when ∫ w_c/9 dt = "
            "asinh(0.2/ω²), with w_c of stage 1; the smaller ω, the more accurately."
        ),
        system="gradient flow of all weights at infinite width",
        needs={
            f"omega={omega:g}": _flow(width="infinite", omega=omega, steps=time)
            for omega, time in ONSETS.items()
        },
        kind=c.Kind.UNIVERSAL,
        judge=c.All(
            (
                c.AtMost("|onset over its formula − 1|", _onset_error, 0.03),
                c.AtMost(
                    "its error at ω = 1e-4 over that at 0.1",
                    _better,
                    0.25,
                    of=("omega=0.1", "omega=0.0001"),
                    together=True,
                ),
            )
        ),
        predicate="3% and a quarter are ours",
        source="our runs by gradient flow at infinite width (deterministic)",
        settings="K = 2, L = 3, b = 1/2, m infinite",
        mutations=c.named(mutate.shift(ALL, "score", 5.0)),
    ),
)
