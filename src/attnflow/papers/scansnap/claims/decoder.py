"""Claims on the decoder alone: Lemmas 3 and 5 to 8."""

from functools import partial

import numpy as np

from attnflow import schema
from attnflow.claims import (
    Claim,
    Evidence,
    Exact,
    Finding,
    Ladder,
    Scope,
    Verdict,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.evidence import (
    DECODER,
    FEW,
    FEW_RUNS,
    FLOW_RUN,
    NO_SEED,
    flow,
)
from attnflow.papers.scansnap.systems.decoder import discrete_heights
from attnflow.schema.declarations import Request

UPDATES = {"updates": Request("decorrelated", seeds=FEW)}
COURSES = {"courses": flow("decoder-courses")}
HEIGHTS = {"heights": flow("figure8")}
FEATURES = (
    "K = 3 random features with one token in common (f² = 0.1 to 0.16), M = 4000, η_Y "
    "= 0.5, 4000 ≫ K² samples; 6/√M = 0.095 ≤ |λ_i(E)| < 1/K, as Assumption 2 requires"
)
# 4000 updates, each rounded to 2.2e-16.
ROUNDING = 1e-12


def _judge_rows(evidence: Evidence) -> Finding:
    run = evidence["updates"]
    difference = abs(run["rows"] - run["alone"]).max() / abs(run["alone"]).max()
    label = "rows of FᵀY against rows that see their own samples alone"
    return Finding(
        (Exact(float(difference), ROUNDING, label),), {"apart": float(difference)}
    )


def _judge_heights(evidence: Evidence) -> Finding:
    run, courses = evidence["updates"], evidence["courses"]
    setting = schema.setting_of(run)
    M = setting["vocabulary"]
    heights = discrete_heights(setting["steps"], M, setting["value_rate"])
    onehot = np.eye(setting["classes"], M)
    reached = heights[run["visits"].values.astype(int)]
    formula = reached[..., None] * (M * onehot - 1)
    steps = np.abs(run["alone"].values - formula).max() / np.abs(formula).max()
    flow_ = float(abs(courses["log_odds"] / courses["closed"] - 1).max())
    return Finding(
        (
            Exact(float(steps), ROUNDING, "w_n against (M − 1) h*(N_n) ζ_n"),
            Exact(flow_, 1e-9, "the closed form of h against its flow"),
        ),
        {"steps": float(steps), "flow": flow_},
    )


def _judge_gap(evidence: Evidence) -> Finding:
    run = evidence["heights"]
    gap = run["discrete"] - run["continuous"]
    above = float((gap / run["value_rate"]).max())
    below = float(-gap.min())
    return Finding(
        (
            Exact(above, 2.0, "M (h* − h)/η_Y, largest"),
            Exact(below, 1e-9, "M (h − h*), largest"),
        ),
        {"M (h* − h)/η_Y": above},
    )


def _judge_closing(evidence: Evidence) -> Finding:
    run = evidence["heights"]
    gap = run["discrete"] - run["continuous"]
    left = gap.isel(visit=-1) / gap.max("visit")
    check = Exact(float(left.max()), 0.1, "h* − h at the end over its largest")
    return Finding((check,), {"left": left.isel(seed=0).values.tolist()})


def _judge_roots(evidence: Evidence) -> Finding:
    run = evidence["courses"].isel(seed=0)
    M = run["vocabulary"].values.astype(float)
    roots = {name: run[name].values for name in ("lower_root", "upper_root")}
    errors = [np.abs(np.exp(u - np.log(M - 1)) / u - 1).max() for u in roots.values()]
    omega = roots["upper_root"] / np.log(M) - 1
    ratio = omega / (np.log(np.log(M)) / np.log(M))
    return Finding(
        (
            Exact(float(max(errors)), 1e-9, "e^u = (M − 1)u at both roots, relative"),
            Exact(float(roots["lower_root"].max()), 1.0, "the lower root"),
            Ladder(
                tuple(M.tolist()),
                tuple(ratio.tolist()),
                "theta",
                "ω₁ over ln ln M/ln M",
                constant=2.0,
            ),
        ),
        {"ω₁": omega.tolist()},
    )


_claim = partial(Claim, system=DECODER, expected=Verdict.HOLDS, scope=Scope.THEOREM)
CLAIMS = (
    _claim(
        id="E-Lem3",
        place="Lemma 3, Equations 8 and 26",
        statement="Under Equation 26's update of Y a sample of class n moves the n-th "
        "row of W = FᵀY alone, as if there were no other class.",
        needs=UPDATES,
        judge=_judge_rows,
        predicate="after 4000 single samples rows of W equal rows trained on their own "
        "samples only, to 1e-12 of the largest (rounding; 1e-14 on seeds 0–2)",
        source=FEW_RUNS,
        conditions=f"F of full rank: {FEATURES}",
        mutations=named(
            mutate.scale("updates", "rows", 1.0001),
            mutate.reverse("updates", "rows", "class"),
        ),
    ),
    _claim(
        id="E-Lem5-6",
        place="Lemmas 5 and 6, Equations 31 to 33, 44 and 45",
        statement="w_n = (M − 1) h*(N_n) ζ_n after N_n visits, and the continuous h "
        "solves e^{Mh} + (M − 1) M h = M η t + 1.",
        needs={**UPDATES, **COURSES},
        judge=_judge_heights,
        predicate="rows against the recursion of h* to 1e-12 of the largest; the "
        "closed form of h by Wright's ω against the integrated flow to 1e-9 (rtol "
        "1e-12 per step, a thousand steps), M = 34 … 10⁶, η t/K to 10⁶",
        source=FEW_RUNS,
        conditions=f"Y(0) = 0; {FEATURES}",
        mutations=named(
            mutate.scale("updates", "alone", 1.001),
            mutate.scale("courses", "closed", 1.0001),
        ),
    ),
    _claim(
        id="E-Lem7a",
        place="Lemma 7; Figure 8",
        statement="0 ≤ h* − h ≤ 2η_Y/M.",
        needs=HEIGHTS,
        judge=_judge_gap,
        predicate="M (h* − h) at most 2η_Y and at least −1e-9 (rounding of 20000 "
        "steps), M = 30 and 1000, η_Y = 0.01 … 5",
        source=FLOW_RUN,
        conditions=f"η_Y = 5 is beyond η_Y < 1; {NO_SEED}",
        mutations=named(
            mutate.scale("heights", "discrete", 1.5),
            mutate.scale("heights", "continuous", 1.001),
        ),
    ),
    _claim(
        id="E-Lem7b",
        place="Lemma 7 and Remark 2; Figure 8",
        statement="h* − h tends to 0.",
        needs=HEIGHTS,
        judge=_judge_closing,
        predicate="after 20000 visits h* − h is at most a tenth of its largest value",
        source=FLOW_RUN,
        conditions=f"η_Y N ≥ 200; {NO_SEED}",
        mutations=named(
            mutate.scale("heights", "discrete", 1.1),
            mutate.add("heights", "discrete", 0.01),
        ),
    ),
    _claim(
        id="E-Lem8",
        place="Lemma 8",
        statement="e^{Mh} and (M − 1) M h meet twice, the second time at M h = (1 + "
        "ω₁) ln M with ω₁ = Θ(ln ln M/ln M).",
        needs=COURSES,
        judge=_judge_roots,
        predicate="both roots to 1e-9 (bisection), and ω₁ over ln ln M/ln M by the "
        "rule for Θ with the constant 2, six M over 4.5 decades",
        source=FLOW_RUN,
        conditions=f"M ≫ 100: M = 34 … 10⁶; {NO_SEED}",
        mutations=named(
            mutate.power("courses", "upper_root", 1.5),
            mutate.scale("courses", "lower_root", 2.0),
        ),
    ),
)
