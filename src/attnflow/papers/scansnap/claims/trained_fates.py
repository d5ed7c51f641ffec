"""Claims of ours on whether Theorem 2 carries over to training (J)."""

from __future__ import annotations

from functools import partial

from attnflow.claims import (
    All,
    AtLeast,
    AtMost,
    Claim,
    Correction,
    CorrectionKind,
    Evidence,
    Kind,
    Verdict,
    Witness,
    named,
)
from attnflow.claims import mutations as mutate
from attnflow.papers.scansnap import training_map as tm
from attnflow.papers.scansnap.claims import evidence as ev
from attnflow.papers.scansnap.claims.attention_drive import RANDOM, RANDOM_SIZES, SIGNS
from attnflow.papers.scansnap.claims.statistics import last, score, velocities
from attnflow.schema.installation import xr

LOSERS = "draws of 20 in which a distinct token loses"
MET_SIZES = (
    "K = 3 random classes, M = 10⁸, one common token of probability 0.1 to 0.2 and two "
    "distinct ones each, η_Y = 0.5, up to η_Y t/K = 10⁸"
)
SMALLEST = {"smallest": ev.flow("classes", until=1e5, record=ev.VELOCITY)}


def _own_score(run: xr.Dataset) -> xr.DataArray:
    """The first class's distinct token's score at the end."""
    return last(score(run, "token1"))


def _trained(run: xr.Dataset, name: str, least: float = 0.0) -> xr.DataArray:
    """A statistic of random classes in J, by ratio, from a least ratio on."""
    cases = [str(case) for case in run["case"].values if str(case).startswith("J")]
    kept = [case for case in cases if float(case.removeprefix("J, ")) >= least]
    return run[name].sel(case=kept)


def _by_draw(evidence: Evidence) -> list[float]:
    slowest = evidence["met"]["slowest_distinct"].sel(case="J, 10")
    return slowest.values.tolist()


def _gains(least: float = 0.0) -> All:
    """Every distinct token gains where Assumption 2 is met, from a least ratio on."""
    gains = AtLeast(
        "slowest velocity of a distinct token over the largest of any token",
        partial(_trained, name="slowest_distinct", least=least),
        0.0,
        unit="difference",
        strict=True,
        of=("met",),
    )
    also = {
        LOSERS: _losers,
        "slowest velocity at η_Y/η_Z = 10, by draw": _by_draw,
    }
    return All((gains,), also=also)


def _losers(evidence: Evidence) -> dict[str, int]:
    """Draws of random classes in which a distinct token loses, by case of J."""
    counts = {}
    for name, run in evidence.items():
        if "slowest_distinct" in run:
            shrinking = (_trained(run, "slowest_distinct") <= 0).sum("seed")
            pairs = zip(shrinking["case"].values, shrinking.values, strict=True)
            counts |= {f"{name}, {case}": int(count) for case, count in pairs}
    return counts


_claim = partial(
    Claim, kind=Kind.UNIVERSAL, system=ev.J, expected=Verdict.HOLDS, origin="ours"
)
CLAIMS = (
    _claim(
        id="E-R-Thm2a",
        place="Theorem 2(a), for training",
        statement="Under Assumptions 1 and 2 Theorem 2(a) carries over to training: "
        "every distinct token's score grows at every time.",
        under=("1(b)", "1(c)", *ev.ASSUMPTION_2),
        needs=tm.DRAWS,
        judged=("met",),
        judge=_gains(),
        predicate=f"{SIGNS}, at η_Y/η_Z = 10 … 10⁴; each seed draws its own classes. "
        "Velocities of rare tokens are as small as their f²",
        expected=Verdict.FAILS,
        source=f"{ev.PLAN_RUNS}: a distinct token loses late in 2 of 20 draws at "
        "η_Y/η_Z = 10 and in none from 100 on; without the assumptions, in all 20 "
        "draws at η_Y/η_Z = 1 and 10, in 1 at 100 and in none at 1000. With M = 10⁶, "
        "tried first, it holds at 10 too",
        settings=f"{MET_SIZES}; for comparison, {RANDOM_SIZES}",
        mends=named(mutate.mapped("all gain", "met", "slowest_distinct", abs)),
        correction=Correction(
            CorrectionKind.CONDITION,
            "At η_Y/η_Z of 100 and more it does carry over.",
            _gains(least=100.0),
        ),
        witness=Witness(
            "witnesses/training_map.py",
            {"draw 204": ("slowest velocity at η_Y/η_Z = 10, by draw", 4)},
        ),
    ),
    _claim(
        id="E-R-Thm2a-unmet",
        place="Theorem 2(a), for training",
        statement="Theorem 2(a) carries over to training at finite η_Y/η_Z without "
        "Assumptions 1(c) and 2: every distinct token's score grows.",
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
            also={LOSERS: _losers},
        ),
        predicate="the smallest case, K = 2 with one distinct token each and a common "
        "one of probability 0.5 and 0.1",
        expected=Verdict.FAILS,
        source=f"{ev.FLOW_RUN}; random classes: seeds {ev.PLAN[0]}–{ev.PLAN[-1]}",
        settings="M = 100, η_Y/η_Z = 1, t = 10⁵; random classes for comparison",
        mends=named(mutate.negate("smallest", "score")),
        witness=Witness(
            "witnesses/training.py",
            {
                "z of the token that loses": (
                    "z of the first class's distinct token at the end",
                    1,
                )
            },
        ),
    ),
    _claim(
        id="E-R-Thm2a-alike",
        place="Theorem 2(a), for training",
        statement=(
            "With identical classes Theorem 2(a) does carry over to training: every "
            "distinct token's score grows at every time."
        ),
        under=(*ev.ASSUMPTION_2, "alike"),
        needs={n: run for n, run in tm.EVERY.items() if n.startswith("J")},
        judge=AtLeast(
            "velocity of a distinct token over the largest",
            partial(velocities, kind="distinct"),
            0.0,
            unit="difference",
            strict=True,
        ),
        predicate="at all records to η_Y t/K = 10⁸",
        source=ev.FLOW_RUN,
        settings=f"{tm.MET_SIZES}; and {tm.UNMET_SIZES}, where it is not",
        survives={"cut": "it judges velocities at every record"},
    ),
    _claim(
        id="E-R-Thm2b",
        place="Theorem 2(b), for training",
        statement="Theorem 2(b) carries over to training: a single common token's "
        "score falls at every time.",
        under=(*ev.ASSUMPTION_2, "common", "distinct"),
        needs=tm.DRAWS,
        judge=AtMost(
            "fastest velocity of the common token over the largest of any token",
            partial(_trained, name="fastest_common"),
            0.0,
            unit="difference",
            strict=True,
        ),
        predicate="at all 60 records, at η_Y/η_Z = 1 … 10⁴",
        source=ev.PLAN_RUNS,
        settings=f"{MET_SIZES}; {RANDOM_SIZES}",
    ),
)
