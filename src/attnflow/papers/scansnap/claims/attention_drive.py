"""Claims on Theorem 1(a), Assumption 2 and the drive ξ_n of attention in Q."""

from functools import partial

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import (
    Claim,
    Evidence,
    Exact,
    Finding,
    Scope,
    Seeds,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.evidence import (
    FLOW_RUN,
    LAWS_Q,
    NO_SEED,
    PLAN,
    PLAN_RUNS,
    Q,
    flow,
)
from attnflow.papers.scansnap.claims.statistics import course, per_seed
from attnflow.schema.declarations import Request

RANDOM = {"random": Request("random-classes", seeds=PLAN)}
MET = {
    "met": Request(
        "random-classes",
        {
            "common": (0.1, 0.2),
            "vocabulary": 10**8,
            "value_rate": 0.5,
            "ratios": (),
            "until": 60000.0,
        },
        seeds=PLAN,
    )
}
"""Random classes that meet Assumption 2 at every record."""
DRIVEN = {
    "driven": flow(
        "classes",
        system="Q",
        until=200.0,
        record=("drive", "coupling", "gram", "score"),
    )
}
MET_SIZES = (
    "Assumption 2 is met at every record (checked): 6/√M = 0.0006 ≤ |λ_i(E)| < 1/K. K "
    "= 3 random classes, M = 10⁸, one common token of probability 0.1 to 0.2 and two "
    "distinct ones each, Y(0) = 0, η_Y = 0.5, η_Y/η_Z = 10, up to η_Y t/K = 10⁴"
)
RANDOM_SIZES = (
    "K = 3 random classes, M = 100, one common token of probability 0.05 to 0.7 and "
    "two distinct ones each, η_Y = 1, up to η_Y t/K = 10⁴. Assumption 2 is not met: "
    "6/√M is above 1/K"
)


def assumption_2(run: xr.Dataset) -> tuple[Seeds, Seeds]:
    """Checks that the eigenvalues of E meet Assumption 2's bounds at all records."""
    setting = schema.setting_of(run)
    least, largest = 6 / np.sqrt(setting["vocabulary"]), 1 / setting["classes"]
    weakest, strongest = _sizes(run)
    return (
        per_seed(weakest / least - 1, "|λ_i| ≥ 6/√M", q=1.0),
        per_seed(1 - strongest / largest, "|λ₁| < 1/K", q=1.0),
    )


def _sizes(run: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and the largest |λ_i(E)| of each seed."""
    if "weakest" in run:
        return run["weakest"].values, run["strongest"].values
    gram = run["gram"].values
    eigenvalues = np.abs(np.linalg.eigvalsh(gram - np.eye(gram.shape[-1])))
    return eigenvalues.min(axis=(1, 2)), eigenvalues.max(axis=(1, 2))


def _judge_drive(evidence: Evidence) -> Finding:
    run = evidence["met"]
    least = run["least_drive"]
    return Finding(
        (
            per_seed(least.values, "ξ_n positive at every record", q=1.0),
            *assumption_2(run),
        ),
        {
            "least ξ/γ": float(least.min()),
            "least |λ|": float(run["weakest"].min()),
            "largest |λ|": float(run["strongest"].max()),
        },
    )


def _judge_needless(evidence: Evidence) -> Finding:
    run = evidence["random"]
    distinct = run["slowest_distinct"].isel(case=0).values
    common = run["fastest_common"].isel(case=0).values
    return Finding(
        (
            per_seed(run["least_drive"].values, "ξ_n positive", q=1.0),
            per_seed(distinct, "the slowest distinct token gains", q=1.0),
            per_seed(-common, "the common token loses", q=1.0),
        ),
        {"|λ₁|": run["strongest"].values.tolist()},
    )


def _judge_formula(evidence: Evidence) -> Finding:
    run = evidence["driven"].isel(seed=0, time=slice(1, None))
    off_diagonal = ~np.eye(run.sizes["class"], dtype=bool)
    sums = -(run["coupling"].values * run["gram"].values * off_diagonal).sum(axis=2)
    error = float(np.abs(run["drive"].values / sums - 1).max())
    laws = max(_one_for_all(evidence[name]) for name in LAWS_Q)
    return Finding(
        (
            Exact(error, 1e-9, "ξ_n against Σ γβ f·f', relative"),
            Exact(laws, 1e-8, "scores of a class from one of them, relative"),
        ),
        {"drive": error, "scores": laws},
    )


def _one_for_all(run: xr.Dataset) -> float:
    """The largest relative deviation of 1 − e^{−2z} of distinct tokens from p²."""
    weights = schema.setting_of(run)["distinct"]
    growth = np.array(
        [-np.expm1(-2 * course(run, f"distinct{i}@0")) for i in range(len(weights))]
    )
    scaled = growth[:, 1:] / np.square(weights)[:, None]
    # At the very first records scores are below the flow's tolerance.
    scaled = scaled[:, np.abs(growth[-1, 1:]) > 1e-6]
    return float(np.abs(scaled / scaled[-1] - 1).max())


_claim = partial(Claim, system=Q, expected=Verdict.HOLDS, scope=Scope.BEYOND)
CLAIMS = (
    _claim(
        id="E-Thm1-a",
        place="Theorem 1(a)",
        statement="ξ_n(t) > 0 for every class at every time.",
        needs=MET,
        judge=_judge_drive,
        predicate="ξ_n positive at all 60 records, in every seed (each seed draws its "
        "own classes)",
        source=PLAN_RUNS,
        scope=Scope.THEOREM,
        conditions=MET_SIZES,
        mutations=named(
            mutate.negate("met", "least_drive"),
            mutate.some_seeds(0.1, mutate.add("met", "least_drive", -1.0)),
            mutate.scale("met", "weakest", 0.001),
        ),
    ),
    _claim(
        id="E-R-Ass2",
        place="Theorems 1(a) and 2",
        statement="Theorems 1(a), 2(a) and 2(b) need no Assumption 2 in Q: ξ_n is "
        "positive, distinct tokens gain and a single common one loses without it.",
        needs=RANDOM,
        judge=_judge_needless,
        predicate="ξ_n and all velocities have the claimed sign at all 60 records, in "
        "every seed (each seed draws its own classes)",
        source=PLAN_RUNS,
        conditions=f"η_Y/η_Z = 10; {RANDOM_SIZES}",
        origin="ours",
        mutations=named(
            mutate.negate("random", "least_drive"),
            mutate.swap("random", "slowest_distinct", "case", ("Q, 10", "J, 1")),
            mutate.some_seeds(0.1, mutate.add("random", "fastest_common", 2.0)),
        ),
    ),
    _claim(
        id="E-R-10",
        place="Theorem 1 and Lemma 4",
        statement="In Q ξ_n = γ[(q₁ − q₀)((A⁻¹)_nn − 1) + q₀((A⁻¹1)_n − 1)] with A = "
        "FᵀF, and a class's distinct scores follow from one of them, 1 − e^{−2z_l} "
        "being as P(l|n)².",
        needs={**DRIVEN, **LAWS_Q},
        judge=_judge_formula,
        predicate="the formula against Σ γβ f·f' with β by least squares to 1e-9, and "
        "the ratios of 1 − e^{−2z} to 1e-8 (the flow's rtol is 1e-10 per step)",
        source=FLOW_RUN,
        conditions=f"z(0) = 0; two classes with one common token, and Syn-Small's "
        f"geometry at η_Y/η_Z = 1 and 10; {NO_SEED}",
        origin="ours",
        mutations=named(
            mutate.scale("driven", "drive", 1.001),
            mutate.swap("Q, ratio 1", "score", "token", ("distinct3@0", "distinct8@0")),
        ),
    ),
)
