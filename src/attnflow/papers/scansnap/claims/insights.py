"""Claims on Section 6's insights (a) to (c) in C and Q."""

from functools import partial

from attnflow.claims import Claim, Evidence, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.evidence import (
    FIGURE_3,
    FIGURE_3_C,
    FIGURE_3_J,
    FIGURE_3_Q,
    FLOW_RUN,
    NO_SEED,
    SMALL,
    C,
    J,
    Q,
    flow,
    small,
)
from attnflow.papers.scansnap.claims.statistics import entropy, falling, part, rising
from attnflow.papers.scansnap.stages import attention_snap
from attnflow.schema.declarations import Request

SCALES = (1.0, 10.0, 100.0, 1000.0)
RISING = (1.0, 2.0, 5.0, 10.0, 20.0)
FIGURE_9 = {
    f"C, {rate:g}": flow("figure9", score_rate=rate, value_rate=rate)
    for rate in (0.1, 0.3, 1.0, 3.0)
}
FIXED = f"{SMALL}, t = 10³, η_Y = η_Z = 1, 10, 100, 1000; {NO_SEED}"
RAISED = f"{SMALL}, t = 10⁵, η_Z = 1, η_Y = 1, 2, 5, 10, 20"


def scaled(letter: str) -> dict[str, Request]:
    """Requests with both rates raised at η_Y/η_Z = 1, until the same time."""
    return {
        f"{letter}, {scale:g}": small(letter, until=1e3, score_rate=scale, ratio=1.0)
        for scale in SCALES
    }


def by_ratio(letter: str) -> dict[str, Request]:
    """Requests with η_Y raised at η_Z = 1."""
    return {
        f"{letter}, {ratio:g}": small(letter, until=1e5, score_rate=1.0, ratio=ratio)
        for ratio in RISING
    }


def _judge_earlier(evidence: Evidence) -> Finding:
    times = {
        letter: [
            float(attention_snap(r).times[0]) for r in part(evidence, letter).values()
        ]
        for letter in ("J", "Q")
    }
    checks = [
        falling(snap_times, f"{letter} with η_Y")
        for letter, snap_times in times.items()
    ]
    return Finding(tuple(checks), {"time of the fastest score": times})


def _drives_and_entropies(evidence: Evidence) -> tuple[list[float], list[float]]:
    """Final B of the runs of C and final H(DT) of the runs of Q."""
    runs = part(evidence, "C").values()
    drive = [float(run["drive_integral"].isel(seed=0, time=-1)) for run in runs]
    return drive, [entropy(run) for run in part(evidence, "Q").values()]


def _judge_larger(evidence: Evidence) -> Finding:
    drive, sparser = _drives_and_entropies(evidence)
    checks = (
        rising(drive, "C: B with both rates"),
        falling(sparser, "Q: H(DT) with both rates"),
    )
    return Finding(checks, {"B": drive, "H(DT)": sparser})


def _judge_denser(evidence: Evidence) -> Finding:
    drive, denser = _drives_and_entropies(evidence)
    checks = falling(drive, "C: B with η_Y"), rising(denser, "Q: H(DT) with η_Y")
    return Finding(checks, {"B": drive, "H(DT)": denser})


_claim = partial(Claim, expected=Verdict.HOLDS, scope=Scope.BEYOND)
CLAIMS = (
    _claim(
        id="E-6a",
        place="Section 6, insight (a)",
        statement="A larger η_Y at fixed η_Z brings the snap earlier.",
        system=f"{Q}; and {J}",
        needs={**FIGURE_3_J, **FIGURE_3_Q},
        judge=_judge_earlier,
        predicate="the time at which the dominant token's score moves fastest falls "
        "with every step of η_Y, in Q and in J",
        source=FLOW_RUN,
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
        needs={**FIGURE_9, **scaled("Q")},
        judge=_judge_larger,
        predicate="B rises in C, and H(DT) falls in Q, with every step of the rates",
        source=FLOW_RUN,
        conditions=f"C: K = 10, M = 1000, η_Y = η_Z = 0.1, 0.3, 1, 3, t = 10⁵; Q: "
        f"{FIXED}",
        mutations=named(
            mutate.scale("C, 3", "drive_integral", 0.9),
            mutate.scale("Q, 1000", "mean_distinct_entropy", 1.2),
        ),
    ),
    _claim(
        id="E-6c",
        place="Section 6, insight (c); Figure 3",
        statement="At fixed η_Z a larger η_Y gives a smaller B and denser attention.",
        system=f"{C}; and {Q}",
        needs={**FIGURE_3_C, **by_ratio("Q")},
        judge=_judge_denser,
        predicate="B falls in C at t = 10⁵, and H(DT) rises in Q, with every step of "
        "η_Y",
        source=FLOW_RUN,
        conditions=f"C: {FIGURE_3}; Q: {RAISED}; {NO_SEED}",
        mutations=named(
            mutate.scale("C, 10", "drive_integral", 2.0),
            mutate.scale("Q, 20", "mean_distinct_entropy", 0.8),
        ),
    ),
)
