"""Claims on whether Section 6 carries over from C to Q, and from Q to training (J)."""

from functools import partial

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
from attnflow.papers.scansnap.claims.evidence import (
    FIGURE_3,
    FIGURE_3_J,
    FLOW_RUN,
    NO_SEED,
    THIN_SIZES,
    J,
    Q,
    thin,
)
from attnflow.papers.scansnap.claims.insights import FIXED, RAISED, by_ratio, scaled
from attnflow.papers.scansnap.claims.snapping import closed_forms
from attnflow.papers.scansnap.claims.statistics import (
    COMMON,
    TOP,
    end,
    entropy,
    falling,
    part,
    rising,
    scale_of,
)

THIN_Q = {
    f"K = {K}, M = {M:g}": thin("Q", classes=K, vocabulary=M) for K, M in THIN_SIZES
}
TRAINED = {
    f"{letter}, K = {K}, M = {M:g}": thin(letter, classes=K, vocabulary=M)
    for K, M in THIN_SIZES
    for letter in ("J", "Q")
}


def _approximation(evidence: Evidence, *, printed: bool) -> Finding:
    errors = {}
    for name, run in evidence.items():
        setting = schema.setting_of(run)
        scale = scale_of(setting, setting["classes"] - (not printed))
        drive = float(closed_forms(run).drive_integral(run["time"].values[-1], scale))
        errors[name] = float(abs(end(run, COMMON) / -drive - 1))
    which = "ρ₀⁴/K" if printed else "ρ₀⁴/(K − 1)"
    check = Exact(max(errors.values()), 0.05, f"z of Q against −B, C₀ = {which}", True)
    return Finding((check,), {f"relative error, C₀ = {which}": errors})


def _judge_training(evidence: Evidence) -> Finding:
    ratios = {}
    for K, M in THIN_SIZES:
        joint, quasi_static = (
            end(evidence[f"{letter}, K = {K}, M = {M:g}"], COMMON) for letter in "JQ"
        )
        ratios[f"K = {K}, M = {M:g}"] = joint / quasi_static
    worst = max(max(r, 1 / r) for r in ratios.values())
    check = Exact(worst, 2.0, "z of the common token, J over Q or Q over J", True)
    return Finding((check,), {"z of J over z of Q": ratios})


def _judge_larger_trained(evidence: Evidence) -> Finding:
    entropies = [entropy(run) for run in part(evidence, "J").values()]
    check = falling(entropies, "H(DT) with both rates", refutes=True)
    return Finding((check,), {"H(DT)": entropies})


def _judge_denser_trained(evidence: Evidence) -> Finding:
    figure3 = {n: r for n, r in evidence.items() if n.startswith("J, Figure 3")}
    growth = [end(run, TOP) for run in figure3.values()]
    entropies = [entropy(run) for run in part(evidence, "J").values()]
    return Finding(
        (
            rising(entropies, "H(DT) with η_Y", refutes=True),
            falling(growth, "Figure 3: ln χ/2 with η_Y", refutes=True),
        ),
        {"H(DT)": entropies, "ln χ/2 in Figure 3's setting": growth},
    )


_claim = partial(Claim, expected=Verdict.HOLDS, scope=Scope.BEYOND)
CLAIMS = (
    _claim(
        id="E-Sec6-approx",
        place="Section 6, Equation 13",
        statement="The common token's score in Q is that of the scalar model with C₀ = "
        "ρ₀⁴/K.",
        system=f"{Q}, against C",
        needs=THIN_Q,
        judge=partial(_approximation, printed=True),
        predicate="z of the common token within 5% of −B at t = 10⁴ K/η_Y",
        expected=Verdict.HOLDS_CORRECTED,
        source=FLOW_RUN,
        scope=Scope.BEYOND,
        conditions="f² = 0.023 of the common token, as f² ≪ 1 requires; K = 2 and 10, "
        f"M = 1000, and K = 10, M = 10⁶; η_Y/η_Z = 1; {NO_SEED}",
        correction=Correction(
            "C₀ = ρ₀⁴/(K − 1), as many terms as there are other classes.",
            partial(_approximation, printed=False),
        ),
        mutations=named(
            mutate.scale("K = 2, M = 1000", "score", 1.2),
            mutate.setting("K = 10, M = 1e+06", vocabulary=1000),
        ),
    ),
    _claim(
        id="E-Sec6-train",
        place="Section 6",
        statement="The quasi-static system describes training: the common token's "
        "score in J is that in Q within a factor 2.",
        system=f"{J}, against Q",
        needs=TRAINED,
        judge=_judge_training,
        predicate="z of the common token at t = 10⁴ K/η_Y in J and in Q within a "
        "factor 2 of each other",
        expected=Verdict.FAILS,
        source=FLOW_RUN,
        conditions="f² = 0.023 of the common token; K = 2 and 10, M = 1000, and K = "
        f"10, M = 10⁶; η_Y/η_Z = 1; {NO_SEED}",
        mutations=named(
            mutate.scale("J, K = 2, M = 1000", "score", 0.5),
            mutate.scale("Q, K = 10, M = 1e+06", "score", 2.0),
        ),
    ),
    _claim(
        id="E-R-6b",
        place="Section 6, insight (b), for training",
        statement="Larger η_Y and η_Z at the ratio 1 give sparser attention in "
        "training at the same time.",
        system=J,
        needs=scaled("J"),
        judge=_judge_larger_trained,
        predicate="H(DT) falls with every step of the rates; by E-R-4 larger rates "
        "amount to a later time, and H passes a minimum",
        expected=Verdict.FAILS,
        source=FLOW_RUN,
        conditions=FIXED,
        origin="ours",
        mutations=named(
            mutate.add("J, 1000", "mean_distinct_entropy", 0.1),
            mutate.add("J, 1", "mean_distinct_entropy", -0.1),
        ),
    ),
    _claim(
        id="E-R-6c",
        place="Section 6, insight (c), for training",
        statement="At fixed η_Z a larger η_Y gives denser attention in training.",
        system=J,
        needs={
            **by_ratio("J"),
            **{f"J, Figure 3, {n[3:]}": r for n, r in FIGURE_3_J.items()},
        },
        judge=_judge_denser_trained,
        predicate="H(DT) rises with every step of η_Y, and in Figure 3's setting the "
        "dominant token's χ falls",
        expected=Verdict.FAILS,
        source=FLOW_RUN,
        conditions=f"{RAISED}, and {FIGURE_3}; {NO_SEED}",
        origin="ours",
        mutations=named(
            mutate.add("J, 20", "mean_distinct_entropy", -0.1),
            mutate.add("J, Figure 3, 10", "score", 1.0),
        ),
    ),
)
