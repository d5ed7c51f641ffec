"""Claims of ours on whether Theorem 2 carries over to training (J)."""

from __future__ import annotations

from functools import partial

from attnflow.claims import (
    All,
    AtLeast,
    AtMost,
    Claim,
    Evidence,
    Kind,
    Verdict,
    Witness,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap.claims import evidence as ev
from attnflow.papers.scansnap.claims.attention_drive import RANDOM, RANDOM_SIZES
from attnflow.papers.scansnap.claims.statistics import last, score, velocities
from attnflow.schema.libraries import xr

SMALLEST = {"smallest": ev.flow("classes", until=1e5, record=ev.VELOCITY)}


def _own_score(run: xr.Dataset) -> xr.DataArray:
    """The first class's distinct token's score at the end."""
    return last(score(run, "token1"))


def _losers(evidence: Evidence) -> dict[str, int]:
    """Draws of random classes in which a distinct token loses, by case of J."""
    slowest = evidence["random"]["slowest_distinct"].isel(case=slice(1, None))
    shrinking = (slowest <= 0).sum("seed")
    return dict(zip(shrinking["case"].values, shrinking.values.tolist(), strict=True))


_claim = partial(
    Claim, kind=Kind.UNIVERSAL, system=ev.J, expected=Verdict.HOLDS, origin="ours"
)
CLAIMS = (
    _claim(
        id="E-R-Thm2a",
        place="Theorem 2(a), for training",
        statement="Theorem 2(a) carries over to training at finite η_Y/η_Z: every "
        "distinct token's score grows.",
        under=ev.ASSUMPTION_2,
        needs={**SMALLEST, **RANDOM},
        judged=("smallest",),
        judge=All(
            (
                AtLeast(
                    "z of the first class's distinct token at the end",
                    _own_score,
                    0.0,
                    unit="difference",
                    strict=True,
                    of=("smallest",),
                ),
            ),
            also={"draws of 20 with a loser": _losers},
        ),
        predicate="the smallest case, K = 2 with one distinct token each and a common "
        "one of probability 0.5 and 0.1",
        expected=Verdict.FAILS,
        source=f"{ev.FLOW_RUN}; random classes: seeds {ev.PLAN[0]}–{ev.PLAN[-1]}",
        settings="M = 100, η_Y/η_Z = 1, t = 10⁵; random classes for comparison",
        mends=named(mutate.negate("smallest", "score")),
        witness=Witness(
            "witnesses/training.py",
            {"z of the loser": ("z of the first class's distinct token at the end", 1)},
        ),
    ),
    _claim(
        id="E-R-Thm2a-alike",
        place="Theorem 2(a), for training",
        statement="With alike classes Theorem 2(a) does carry over to training: every "
        "distinct token's score grows at every time.",
        under=(*ev.ASSUMPTION_2, "alike"),
        needs={**ev.LAWS_J, **{f"Figure 3, {n}": r for n, r in ev.FIGURE_3_J.items()}},
        judge=AtLeast(
            "velocity of a distinct token over the largest",
            partial(velocities, kind="distinct"),
            0.0,
            unit="difference",
            strict=True,
        ),
        predicate="at all records to t = 10⁵",
        source=ev.FLOW_RUN,
        settings=f"{ev.SMALL}, η_Y/η_Z = 1 … 10⁴; {ev.FIGURE_3}",
        survives={"cut": "velocities of every record"},
    ),
    _claim(
        id="E-R-Thm2b",
        place="Theorem 2(b), for training",
        statement="Theorem 2(b) carries over to training: a single common token's "
        "score falls at every time.",
        under=(*ev.ASSUMPTION_2, "common", "distinct"),
        needs=RANDOM,
        judge=AtMost(
            "fastest velocity of the common token over the largest of any token",
            lambda run: run["fastest_common"].isel(case=slice(1, None)),
            0.0,
            unit="difference",
            strict=True,
        ),
        predicate="at all 60 records, at η_Y/η_Z = 1, 10, 100, 1000",
        source=ev.PLAN_RUNS,
        settings=RANDOM_SIZES,
    ),
)
