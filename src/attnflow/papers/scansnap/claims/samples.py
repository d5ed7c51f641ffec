"""Claims on samples: visits of classes (Lemmas 10 to 12), and Corollary 1."""

from __future__ import annotations

from functools import partial

import numpy as np

from attnflow import claims as c
from attnflow import schema
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.decoder import COURSES
from attnflow.papers.scansnap.claims.evidence import DECODER, FEW, FEW_RUNS, FLOW_RUN
from attnflow.papers.scansnap.claims.speed import SIZES
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr

ACCURACIES = (3, 10, 30, 100, 300, 1000)
"""1/ε."""
DELTA = 0.05
VISITS = {"visits": Request("visits", seeds=FEW)}
LATE_VISITS = {
    f"N = {steps}": Request("visits", {"steps": steps}, seeds=FEW)
    for steps in (400, 4000, 40000)
}
"""Numbers of samples beyond 2K(1 + ω₁) ln M/η_Y = 128, for Lemma 11 and Corollary 1."""


def _time_ratios(run: xr.Dataset) -> xr.DataArray:
    """Times at which |e_n − α_n| falls to ε, over (1/ε) ln(M/ε), by M and 1/ε.

    NaN where it does not.
    """
    ratios = []
    for accuracy in ACCURACIES:
        below = run["error_norm"] <= 1 / accuracy
        first = run["clock"].where(below).min("clock").where(below.any("clock"))
        ratios.append(first / (accuracy * np.log(run["vocabulary"] * accuracy)))
    return xr.concat(ratios, "accuracy").assign_coords(accuracy=list(ACCURACIES))


def _by(dim: str, run: xr.Dataset) -> xr.DataArray:
    """The largest ratio by one of M and 1/ε."""
    other = {"accuracy": "vocabulary", "vocabulary": "accuracy"}[dim]
    return _time_ratios(run).max(other, skipna=False)


def _time_error(run: xr.Dataset) -> xr.DataArray:
    """E-R-13's time of each recorded error over its own time, less 1.

    Above 0.5 the error is still near its initial value, and times lose digits.
    """
    error, others = run["error_norm"], run["vocabulary"] - 1.0
    growth = others * (np.sqrt(1 + 1 / others) / error.clip(max=0.5) - 1)
    times = (growth + others * xr.ufuncs.log(growth) - 1) / (others + 1)
    return (times / run["clock"] - 1).where(error < 0.5, 0.0)


def _rarely(what: str, name: str, of: tuple[str, ...] = ("*",)) -> c.Rarely:
    return c.Rarely(
        what,
        lambda run: int(run[name].sum()),
        lambda run: schema.setting_of(run)["samples"] * run.sizes["seed"],
        DELTA,
        of=of,
    )


def _rarely_late(what: str, name: str) -> c.All:
    """Failures at each number of samples, one by one."""
    return c.All(tuple(_rarely(f"{what}, {N}", name, of=(N,)) for N in LATE_VISITS))


_claim = partial(c.Claim, system=DECODER, expected=c.Verdict.HOLDS)
FEW_OUTSIDE = "few draws are outside: a factor of ten does not matter"
_probable = partial(
    _claim,
    kind=c.Kind.PROBABILITY,
    delta=DELTA,
    needs=VISITS,
    source=FEW_RUNS,
    settings="K = 3, M = 4000, η_Y = 0.5, N = 4000; 2000 draws of each seed",
)
_late = partial(
    _probable,
    under=("uniform", "t", "M", "η_Y < 1"),
    needs=LATE_VISITS,
    settings="K = 3, M = 4000, η_Y = 0.5, N = 400, 4000 and 40000; 2000 draws of each "
    "seed",
)
CLAIMS = (
    _probable(
        id="E-Lem10",
        place="Lemma 10",
        statement="After N single samples the visits N_n of a class are N/K up to √(N "
        "ln(2/δ)/2) + 1, with probability 1 − δ.",
        under=("uniform",),
        judge=_rarely("N_n leaves its band", "visits_outside"),
        predicate="δ = 0.05, the worst class; equal probabilities of all classes",
        mutations=c.named(mutate.add("visits", "visits_outside", 300)),
        inert={"visits_outside": FEW_OUTSIDE},
    ),
    _probable(
        id="E-Lem11",
        place="Lemma 11",
        statement=(
            "h(N_n) is h(N̄) up to a relative error Δ/N̄, and 1/(M − 1 + e^{Mh}) is "
            "its value at N̄ up to a relative error η_Y Δ/3, with probability 1 − δ "
            "and constants read as 1."
        ),
        under=("uniform", "t"),
        judge=c.All(
            (
                _rarely("h(N_n) leaves its band", "heights_outside"),
                _rarely("1/(M − 1 + e^{Mh}) leaves its band", "errors_outside"),
            )
        ),
        predicate="δ = 0.05, the worst class, Δ = √(N ln(1/δ)) rounded up; the hidden "
        "constants read as 1",
        mutations=c.named(
            mutate.add("visits", "heights_outside", 300),
            mutate.add("visits", "errors_outside", 300),
        ),
        inert=dict.fromkeys(
            ("heights_outside", "errors_outside"),
            FEW_OUTSIDE,
        ),
    ),
    _late(
        id="E-Lem11-late",
        place="Lemma 11, Equation 62",
        statement=(
            "From N = 2K(1 + ω₁) ln M/η_Y on, 1/(M − 1 + e^{Mh}) is its value at N̄ "
            "up to a relative error Δ/N̄, with probability 1 − δ and the constant "
            "read as 1."
        ),
        judge=_rarely_late("1/(M − 1 + e^{Mh}) leaves its band", "late_errors_outside"),
        predicate="δ = 0.05, the worst class, Δ = √(N ln(1/δ)) rounded up; the hidden "
        "constant read as 1. 2K(1 + ω₁) ln M/η_Y is 128 samples",
        mutations=c.named(
            *(mutate.add(name, "late_errors_outside", 300) for name in LATE_VISITS)
        ),
        inert={"late_errors_outside": FEW_OUTSIDE},
    ),
    _late(
        id="E-Cor1-sigma",
        place="Corollary 1, Equation 71",
        statement=(
            "For large N the factor 1 + σ between e_n − α_n and its value at N̄ has "
            "|σ| ≤ (K/√N) √ln(1/δ), with probability 1 − δ and the constant read as "
            "1."
        ),
        judge=_rarely_late("|σ| is above its bound", "sigma_outside"),
        predicate="δ = 0.05, the worst class, the hidden constant read as 1",
        mutations=c.named(
            *(mutate.add(name, "sigma_outside", 300) for name in LATE_VISITS)
        ),
        inert={"sigma_outside": FEW_OUTSIDE},
    ),
    _probable(
        id="E-Lem12",
        place="Lemma 12; Theorem 5",
        statement="W = (I + Θ)W̄(N) with |θ_n| ≤ (K/√N) √ln(K/δ) for all n, with "
        "probability 1 − δ.",
        under=("Y(0)", "uniform", "t"),
        judge=_rarely("some |θ_n| is above its bound", "theta_outside"),
        predicate="δ = 0.05, θ_n = h(N_n)/h(N̄) − 1, the hidden constant read as 1",
        mutations=c.named(mutate.add("visits", "theta_outside", 300)),
        inert={"theta_outside": FEW_OUTSIDE},
    ),
    _claim(
        id="E-Cor1",
        place="Corollary 1",
        statement="It takes O((K/(ε η_Y)) ln(M/ε)) samples until |e_n − α_n| ≤ ε.",
        kind=c.Kind.ASYMPTOTIC,
        under=("Eq. 26", "Y(0)", "M", "uniform"),
        needs=COURSES,
        judge=c.All(
            (
                c.Rungs(
                    "time over bound, by M",
                    partial(_by, "vocabulary"),
                    "O",
                    "vocabulary",
                ),
                c.Rungs(
                    "time over bound, by 1/ε", partial(_by, "accuracy"), "O", "accuracy"
                ),
                c.AtMost("time over bound", _time_ratios, 1.0),
            )
        ),
        predicate="the first record at which the error is at most ε; with N/K visits "
        "of each class, so that nothing is random",
        source=FLOW_RUN,
        settings=SIZES,
    ),
    _claim(
        id="E-R-13",
        place="Corollary 1",
        statement="|e_n − α_n| = ε exactly after (K/(M η_Y))(e^u + (M − 1)u − 1) "
        "samples, e^u = (M − 1)(√(1 + 1/(M − 1))/ε − 1).",
        under=("Eq. 26", "Y(0)", "uniform"),
        kind=c.Kind.IDENTITY,
        needs=COURSES,
        judge=c.Equal("the formula's time of each error below 0.5", _time_error, 1e-8),
        predicate="the flow's 1e-9, and the error's own rounding",
        source=FLOW_RUN,
        settings=SIZES,
        origin="ours",
    ),
)
