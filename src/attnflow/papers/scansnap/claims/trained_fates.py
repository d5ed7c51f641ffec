"""Claims of ours on whether Theorem 2 carries over to training (J)."""

from functools import partial

from attnflow.claims import Claim, Evidence, Exact, Finding, Scope, Verdict, named
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims.attention_drive import RANDOM, RANDOM_SIZES
from attnflow.papers.scansnap.claims.evidence import (
    FIGURE_3,
    FIGURE_3_J,
    FLOW_RUN,
    LAWS_J,
    NO_SEED,
    NOT_2,
    PLAN,
    PLAN_RUNS,
    SMALL,
    VELOCITY,
    J,
    flow,
)
from attnflow.papers.scansnap.claims.statistics import course, per_seed

SMALLEST = {"smallest": flow("classes", until=1e5, record=VELOCITY)}


def _judge_transfer(evidence: Evidence) -> Finding:
    run = evidence["random"].isel(case=slice(1, None))
    shrinking = (run["slowest_distinct"] <= 0).sum("seed").values
    least = float(course(evidence["smallest"], "token1")[-1])
    share = dict(zip(run["case"].values.tolist(), shrinking.tolist(), strict=True))
    check = Exact(-least, 0.0, "−z of the first class's distinct token", True)
    return Finding((check,), {"z at the end": least, "draws with a loser": share})


def _judge_alike(evidence: Evidence) -> Finding:
    velocities = {}
    for name, run in evidence.items():
        velocity = run["score_velocity"].isel(seed=0, query=0, time=slice(1, None))
        names = [t for t in velocity["token"].values if str(t).startswith("distinct")]
        velocities[name] = float(velocity.sel(token=names).min())
    # Strictly: a velocity of 0 is no gain.
    losers = sum(v <= 0 for v in velocities.values())
    check = Exact(float(losers), 0.0, "runs in which a distinct token loses", True)
    return Finding((check,), {"least velocity": velocities})


def _judge_common_trained(evidence: Evidence) -> Finding:
    run = evidence["random"]["fastest_common"].isel(case=slice(1, None))
    checks = [
        per_seed(-run.sel(case=case).values, f"{case}: the common token loses", q=1.0)
        for case in run["case"].values.tolist()
    ]
    return Finding(tuple(checks), {"largest velocity": float(run.max())})


_claim = partial(
    Claim, system=J, expected=Verdict.HOLDS, scope=Scope.BEYOND, origin="ours"
)
CLAIMS = (
    _claim(
        id="E-R-Thm2a",
        place="Theorem 2(a), for training",
        statement="Theorem 2(a) carries over to training at finite η_Y/η_Z: every "
        "distinct token's score grows.",
        needs={**RANDOM, **SMALLEST},
        judge=_judge_transfer,
        predicate="in the smallest case, K = 2 with one distinct token each and a "
        "common one of probability 0.5 and 0.1, the first class's distinct token ends "
        "above 0; random classes are reported alongside",
        expected=Verdict.FAILS,
        source=f"{FLOW_RUN}; random classes: seeds {PLAN[0]}–{PLAN[-1]}",
        conditions=f"M = 100, η_Y/η_Z = 1, t = 10⁵; {NOT_2}; {NO_SEED}",
        mutations=named(
            mutate.add("smallest", "score", -1.0),
            mutate.scale("smallest", "score", 2.0),
        ),
    ),
    _claim(
        id="E-R-Thm2a-alike",
        place="Theorem 2(a), for training",
        statement="With alike classes Theorem 2(a) does carry over to training: every "
        "distinct token's score grows at every time.",
        needs={**LAWS_J, **{f"Figure 3, {n}": r for n, r in FIGURE_3_J.items()}},
        judge=_judge_alike,
        predicate="velocities of all distinct tokens positive at all records to t = "
        "10⁵, at η_Y/η_Z = 1 … 10⁴",
        source=FLOW_RUN,
        conditions=f"{SMALL}, η_Y/η_Z = 1 … 10⁴; {FIGURE_3}. {NOT_2}; {NO_SEED}",
        mutations=named(
            mutate.negate("J, 1000", "score_velocity"),
            mutate.constant("Figure 3, J, 2", "score_velocity"),
        ),
    ),
    _claim(
        id="E-R-Thm2b",
        place="Theorem 2(b), for training",
        statement="Theorem 2(b) carries over to training: a single common token's "
        "score falls at every time.",
        needs=RANDOM,
        judge=_judge_common_trained,
        predicate="its velocity negative at all 60 records, in every seed, at η_Y/η_Z "
        "= 1, 10, 100, 1000",
        source=PLAN_RUNS,
        conditions=RANDOM_SIZES,
        mutations=named(
            mutate.negate("random", "fastest_common"),
            mutate.some_seeds(0.1, mutate.add("random", "fastest_common", 2.0)),
        ),
    ),
)
