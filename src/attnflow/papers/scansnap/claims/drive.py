"""Theorem 1(a) and R10: what drives attention in Q."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Claim, Evidence, Exact, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.paper import Request
from attnflow.papers.scansnap.claims.evidence import LAWS_Q, NO_SEED, PLAN, Q, flow
from attnflow.papers.scansnap.claims.looks import course, per_seed

RANDOM = {"random": Request("random-classes", seeds=PLAN)}
DRIVEN = {
    "driven": flow(
        "classes",
        system="Q",
        until=200.0,
        record=("drive", "coupling", "gram", "score"),
    )
}
RANDOM_SIZES = (
    "K = 3 random classes, M = 100, one common token of probability 0.05 to 0.7 and "
    "two distinct ones each, η_Y = 1, η_Y/η_Z = 10, up to η_Y t/K = 10⁴. Assumption 2 "
    "is not met: 6/√M is above 1/K"
)


def _judge_drive(evidence: Evidence) -> Finding:
    run = evidence["random"]
    least = run["least_drive"]
    first = run["eigenvalue"].isel({"class": 0}).values
    return Finding(
        (per_seed(least.values, "ξ_n positive at every record", q=1.0),),
        {"least ξ": float(least.min()), "|λ₁| at the start": first.tolist()},
    )


def _judge_formula(evidence: Evidence) -> Finding:
    run = evidence["driven"].isel(seed=0, time=slice(1, None))
    beside = ~np.eye(run.sizes["class"], dtype=bool)
    sums = -(run["coupling"].values * run["gram"].values * beside).sum(axis=2)
    off = float(np.abs(run["drive"].values / sums - 1).max())
    laws = max(_one_for_all(evidence[name]) for name in LAWS_Q)
    return Finding(
        (
            Exact(off, 1e-9, "ξ_n against Σ γβ f·f', relative"),
            Exact(laws, 1e-8, "scores of a class from one of them, relative"),
        ),
        {"drive": off, "scores": laws},
    )


def _one_for_all(run: xr.Dataset) -> float:
    """How far 1 − e^{−2z} of distinct tokens is from being as p²."""
    weights = schema.setting_of(run)["distinct"]
    found = np.array(
        [-np.expm1(-2 * course(run, f"distinct{i}@0")) for i in range(len(weights))]
    )
    scaled = found[:, 1:] / np.square(weights)[:, None]
    # At the very first records scores are below the flow's tolerance.
    scaled = scaled[:, np.abs(found[-1, 1:]) > 1e-6]
    return float(np.abs(scaled / scaled[-1] - 1).max())


_claim = partial(Claim, system=Q, expected=Verdict.HOLDS, scope=Scope.BEYOND)
CLAIMS = (
    _claim(
        id="E-Thm1-a",
        place="Theorem 1(a)",
        statement="ξ_n(t) > 0 for every class at every time.",
        needs=RANDOM,
        judge=_judge_drive,
        predicate="ξ_n positive at all 60 records, in every seed (a seed draws its "
        "classes)",
        source="sheet E section 7 (40 draws: Assumption 2 is not needed), and our run",
        conditions=RANDOM_SIZES,
        mutations=named(
            mutate.negate("random", "least_drive"),
            mutate.some_seeds(0.1, mutate.add("random", "least_drive", -1.0)),
        ),
    ),
    _claim(
        id="E-R-10",
        place="Theorem 1 and Lemma 4; sheet R10",
        statement="In Q ξ_n = γ[(q₁ − q₀)((A⁻¹)_nn − 1) + q₀((A⁻¹1)_n − 1)] with A = "
        "FᵀF, and a class's distinct scores follow from one of them, 1 − e^{−2z_l} "
        "being as P(l|n)².",
        needs={**DRIVEN, **LAWS_Q},
        judge=_judge_formula,
        predicate="the formula against Σ γβ f·f' with β by least squares to 1e-9, and "
        "the ratios of 1 − e^{−2z} to 1e-8 (the flow's rtol is 1e-10 per step)",
        source="sheet E, R10 (6e-16), and our run",
        conditions=f"z(0) = 0; two classes with one common token, and Syn-Small's "
        f"geometry at η_Y/η_Z = 1 and 10; {NO_SEED}",
        origin="ours",
        mutations=named(
            mutate.scale("driven", "drive", 1.001),
            mutate.swap("Q, 1", "score", "token", ("distinct3@0", "distinct8@0")),
        ),
    ),
)
