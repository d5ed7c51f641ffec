"""Section 6's insights, in the systems they are drawn from and in training."""

from functools import partial

from attnflow.claims import Claim, Evidence, Exact, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.evidence import (
    FIGURE_3,
    FIGURE_3_C,
    FIGURE_3_J,
    FIGURE_3_Q,
    NO_SEED,
    SMALL,
    THIN_SIZES,
    C,
    J,
    Q,
    flow,
    small,
    thin,
)
from attnflow.papers.scansnap.claims.looks import (
    COMMON,
    TOP,
    end,
    entropy,
    least_step,
    part,
)
from attnflow.papers.scansnap.stages import attention_snap

SCALES = (1.0, 10.0, 100.0, 1000.0)
RISING = (1.0, 2.0, 5.0, 10.0, 20.0)
FIGURE_9 = {
    f"C, {rate:g}": flow("figure9", score_rate=rate, value_rate=rate)
    for rate in (0.1, 0.3, 1.0, 3.0)
}


def _scaled(letter: str) -> dict:
    return {
        f"{letter}, {scale:g}": small(letter, until=1e3, score_rate=scale, ratio=1.0)
        for scale in SCALES
    }


def _by_ratio(letter: str) -> dict:
    return {
        f"{letter}, {ratio:g}": small(letter, until=1e5, score_rate=1.0, ratio=ratio)
        for ratio in RISING
    }


TRAINED = {
    f"{letter}, K = {K}, M = {M:g}": thin(letter, classes=K, vocabulary=M)
    for K, M in THIN_SIZES
    for letter in ("J", "Q")
}


def _judge_earlier(evidence: Evidence) -> Finding:
    checks, numbers = [], {}
    for letter in ("J", "Q"):
        runs = part(evidence, letter)
        times = [float(attention_snap(run).times[0]) for run in runs.values()]
        fall = least_step([-t for t in times]) / times[0]
        checks.append(Exact(-fall, 0.0, f"{letter}: the largest rise with η_Y"))
        numbers[letter] = times
    return Finding(tuple(checks), {"time of the fastest score": numbers})


def _judge_larger(evidence: Evidence) -> Finding:
    drive = [
        float(run["drive_integral"].isel(seed=0, time=-1))
        for run in part(evidence, "C").values()
    ]
    sparser = [entropy(run) for run in part(evidence, "Q").values()]
    return Finding(
        (
            Exact(-least_step(drive), 0.0, "C: the largest fall of B with both rates"),
            Exact(
                -least_step([-h for h in sparser]), 0.0, "Q: the largest rise of H(DT)"
            ),
        ),
        {"B": drive, "H(DT)": sparser},
    )


def _judge_larger_trained(evidence: Evidence) -> Finding:
    found = [entropy(run) for run in part(evidence, "J").values()]
    rise = -least_step([-h for h in found])
    check = Exact(rise, 0.0, "the largest rise of H(DT) with both rates", True)
    return Finding((check,), {"H(DT)": found})


def _judge_denser(evidence: Evidence) -> Finding:
    drive = [
        float(run["drive_integral"].isel(seed=0, time=-1))
        for run in part(evidence, "C").values()
    ]
    denser = [entropy(run) for run in part(evidence, "Q").values()]
    return Finding(
        (
            Exact(
                -least_step([-b for b in drive]),
                0.0,
                "C: the largest rise of B with η_Y",
            ),
            Exact(-least_step(denser), 0.0, "Q: the largest fall of H(DT) with η_Y"),
        ),
        {"B": drive, "H(DT)": denser},
    )


def _judge_denser_trained(evidence: Evidence) -> Finding:
    figure3 = {n: r for n, r in evidence.items() if n.startswith("J, Figure 3")}
    growth = [end(run, TOP) for run in figure3.values()]
    found = [entropy(run) for run in part(evidence, "J").values()]
    return Finding(
        (
            Exact(-least_step(found), 0.0, "the largest fall of H(DT) with η_Y", True),
            Exact(
                -least_step([-z for z in growth]),
                0.0,
                "Figure 3: the largest rise of ln χ/2 with η_Y",
                True,
            ),
        ),
        {"H(DT)": found, "ln χ/2 in Figure 3's setting": growth},
    )


def _judge_training(evidence: Evidence) -> Finding:
    ratios = {}
    for K, M in THIN_SIZES:
        trained, stated = (
            end(evidence[f"{letter}, K = {K}, M = {M:g}"], COMMON) for letter in "JQ"
        )
        ratios[f"K = {K}, M = {M:g}"] = trained / stated
    worst = max(max(r, 1 / r) for r in ratios.values())
    check = Exact(worst, 2.0, "z of the common token, J over Q or Q over J", True)
    return Finding((check,), {"z of J over z of Q": ratios})


_claim = partial(Claim, expected=Verdict.HOLDS, scope=Scope.BEYOND)
_FIXED = f"{SMALL}, t = 10³, η_Y = η_Z = 1, 10, 100, 1000; {NO_SEED}"
_RISING = f"{SMALL}, t = 10⁵, η_Z = 1, η_Y = 1, 2, 5, 10, 20"
CLAIMS = (
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
        source="sheet E section 7 (−0.0325 against −0.825), and our run",
        conditions="f² = 0.023 of the common token; K = 2 and 10, M = 1000, and K = "
        f"10, M = 10⁶; η_Y/η_Z = 1; {NO_SEED}",
        mutations=named(
            mutate.scale("J, K = 2, M = 1000", "score", 0.5),
            mutate.scale("Q, K = 10, M = 1e+06", "score", 2.0),
        ),
    ),
    _claim(
        id="E-6a",
        place="Section 6, insight (a)",
        statement="A larger η_Y at fixed η_Z brings the snap earlier.",
        system=f"{Q}; and {J}",
        needs={**FIGURE_3_J, **FIGURE_3_Q},
        judge=_judge_earlier,
        predicate="the time at which the dominant token's score moves fastest falls "
        "with every step of η_Y, in Q and in J",
        source="sheet E section 7, and our run",
        conditions=f"{FIGURE_3}; {NO_SEED}",
        mutations=named(
            mutate.shift("J, 10", "score_velocity", 100.0),
            mutate.shift("Q, 10", "score_velocity", 100.0),
        ),
    ),
    _claim(
        id="E-6b",
        place="Section 6, insight (b); Figure 9",
        statement="Larger η_Y and η_Z at a fixed ratio give a larger B at the same "
        "time, and sparser attention.",
        system=f"{C}; and {Q}",
        needs={**FIGURE_9, **_scaled("Q")},
        judge=_judge_larger,
        predicate="B rises in C, and H(DT) falls in Q, with every step of the rates",
        source="sheet E section 7 (1.847, 1.886, 1.925, 1.958), and our run",
        conditions=f"C: K = 10, M = 1000, η_Y = η_Z = 0.1, 0.3, 1, 3, t = 10⁵; Q: "
        f"{_FIXED}",
        mutations=named(
            mutate.scale("C, 3", "drive_integral", 0.9),
            mutate.scale("Q, 1000", "mean_distinct_entropy", 1.2),
        ),
    ),
    _claim(
        id="E-R-6b",
        place="Section 6, insight (b), for training",
        statement="Larger η_Y and η_Z at the ratio 1 give sparser attention in "
        "training at the same time.",
        system=J,
        needs=_scaled("J"),
        judge=_judge_larger_trained,
        predicate="H(DT) falls with every step of the rates; by E-R-4 larger rates are "
        "a later time, and H passes a minimum",
        expected=Verdict.FAILS,
        source="sheet E section 7 (2.0907 at η_Y t/K = 454, then 2.0935), and our run",
        conditions=_FIXED,
        origin="ours",
        mutations=named(
            mutate.add("J, 1000", "mean_distinct_entropy", 0.1),
            mutate.add("J, 1", "mean_distinct_entropy", -0.1),
        ),
    ),
    _claim(
        id="E-6c",
        place="Section 6, insight (c); Figure 3",
        statement="At fixed η_Z a larger η_Y gives a smaller B and denser attention.",
        system=f"{C}; and {Q}",
        needs={**FIGURE_3_C, **_by_ratio("Q")},
        judge=_judge_denser,
        predicate="B falls in C at t = 10⁵, and H(DT) rises in Q, with every step of "
        "η_Y",
        source="sheet E section 7, and our run",
        conditions=f"C: {FIGURE_3}; Q: {_RISING}; {NO_SEED}",
        mutations=named(
            mutate.scale("C, 10", "drive_integral", 2.0),
            mutate.scale("Q, 20", "mean_distinct_entropy", 0.8),
        ),
    ),
    _claim(
        id="E-R-6c",
        place="Section 6, insight (c), for training",
        statement="At fixed η_Z a larger η_Y gives denser attention in training.",
        system=J,
        needs={
            **_by_ratio("J"),
            **{f"J, Figure 3, {n[3:]}": r for n, r in FIGURE_3_J.items()},
        },
        judge=_judge_denser_trained,
        predicate="H(DT) rises with every step of η_Y, and in Figure 3's setting the "
        "dominant token's χ falls",
        expected=Verdict.FAILS,
        source="sheet E section 7 (a minimum at η_Y/η_Z of 5 to 10; Figure 3's setting "
        "reversed), and our run",
        conditions=f"{_RISING}, and {FIGURE_3}; {NO_SEED}",
        origin="ours",
        mutations=named(
            mutate.add("J, 20", "mean_distinct_entropy", -0.1),
            mutate.add("J, Figure 3, 10", "score", 1.0),
        ),
    ),
)
