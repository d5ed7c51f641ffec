"""Claims on several common tokens: Corollary 2, and the text after Theorem 2."""

from functools import partial

from attnflow.claims import AtLeast, AtMost, Claim, Kind, Verdict
from attnflow.papers.scansnap.claims import evidence as ev
from attnflow.papers.scansnap.claims.statistics import last, score, velocities

ALIKE = ("queries", "alike", "shared", "Z(0)")
HEAVY = (1.0, 2.0, 3.0, 2.0, 1.0)
"""Weights of distinct tokens beside which three common ones have ρ = 3/22."""
MET = {
    "met": ev.flow(
        "figure3-q",
        **{**ev.ALL_MET, "common": 3, "distinct": HEAVY},
        record=(*ev.VELOCITY, "gram"),
    )
}
SYMMETRIC = {
    f"{system}, K = {K}, {count} common, {ratio:g}": ev.flow(
        "figure3" if system == "J" else "figure3-q",
        classes=K,
        common=count,
        vocabulary=M,
        score_rate=1 / ratio,
        until=1e5,
        record=ev.VELOCITY,
    )
    for K, count, M in ((3, 3, 100), (10, 4, 1000), (2, 10, 33))
    for system in ("J", "Q")
    for ratio in (1.0, 10.0)
}
GROWING = {
    system: ev.flow(
        "classes",
        system=system,
        classes=3,
        probability=(
            *(0.3, 0.5, 0.2, 0.0, 0.0),
            *(0.3, 0.02, 0.0, 0.68, 0.0),
            *(0.3, 0.0, 0.0, 0.0, 0.7),
        ),
        vocabulary=200,
        score_rate=0.2,
        until=1e5,
        record=ev.VELOCITY,
    )
    for system in ("J", "Q")
}
FALL = AtMost(
    "velocity of a common token over the largest",
    partial(velocities, kind="common"),
    0.0,
    unit="difference",
    strict=True,
)

_claim = partial(
    Claim,
    kind=Kind.UNIVERSAL,
    expected=Verdict.HOLDS,
    source=ev.FLOW_RUN,
)
CLAIMS = (
    _claim(
        id="E-Cor2",
        place="Corollary 2",
        statement=(
            "With identical classes, one query and common tokens that are equally "
            "likely in all classes, every common token's score falls."
        ),
        under=(*ev.ASSUMPTION_2, *ALIKE, "Eq. 10"),
        system=ev.Q,
        needs=MET,
        judge=FALL,
        predicate="at all records to t = 6·10⁴",
        settings="K = 3, M = 10⁸, three common tokens, η_Y = 0.5, η_Y/η_Z = 10",
        survives={"cut": "it judges velocities at every record"},
    ),
    _claim(
        id="E-R-Cor2",
        place="Corollary 2, without Assumption 2 and for training",
        statement="Corollary 2 needs no Assumption 2, and carries over to training.",
        under=ALIKE,
        system=f"{ev.Q}; and {ev.J}",
        needs=SYMMETRIC,
        judge=FALL,
        predicate="at all records to t = 10⁵",
        settings="(K, M) = (3, 100) with 3 common tokens, (10, 1000) with 4 and (2, "
        "33) with 10, η_Y/η_Z = 1 and 10",
        origin="ours",
        survives={"cut": "it judges velocities at every record"},
    ),
    _claim(
        id="E-R-CTgrow",
        place="after Theorem 2",
        statement=(
            "With several common tokens that are not equally likely in all classes, "
            "one of them may gain attention."
        ),
        under=ev.ASSUMPTION_2,
        system=f"{ev.J}; and {ev.Q}",
        needs=GROWING,
        judge=AtLeast(
            "z of the second common token at the end",
            lambda run: last(score(run, "token1")),
            0.0,
            unit="difference",
            strict=True,
        ),
        predicate="one example is enough, in J and in Q: P = (0.3, 0.5, 0.2, 0, 0), "
        "(0.3, 0.02, 0, 0.68, 0), (0.3, 0, 0, 0, 0.7)",
        settings="K = 3, M = 200, η_Y = 1, η_Z = 0.2, t = 10⁵",
        origin="ours",
        survives={"holes": "it reads only the last record"},
    ),
)
