"""Drawn runs inside every condition of the theorems, Lemma D.8's |F(0)| included.

Ladders miss items by factors of logarithms, since Condition 1 asks for L ≥ ln m and n ≥
L² ln m, and drawn runs hold n L fillers. At the smallest sizes that meet all items,
what the theorems say without an order of magnitude can be judged as printed.
"""

from __future__ import annotations

from dataclasses import replace

from attnflow import claims as c
from attnflow.claims import look
from attnflow.claims import mutations as mutate
from attnflow.papers.cooccurrence.claims import evidence as ev
from attnflow.papers.cooccurrence.claims import phase_one_course, phase_two, readouts
from attnflow.papers.cooccurrence.claims.templates import in_theory
from attnflow.papers.cooccurrence.claims.windows import phase_two as in_phase_two
from attnflow.schema.declarations import Evidence

RUN = {"run": ev.inside()}
SETTINGS = (
    "m = 200, m1 = 6, L = 6, n = 192, d = 707, c0 = 0.05, c1 = 0.06: all items of the "
    "conditions are met, and |F(0)| ≤ 0.01; T1 is 20/(σ1² m m1), and the loss falls to "
    "1/m²"
)
SOURCE = (
    "our runs, seeds 200–202, which meet every item of the conditions; added so that "
    "the statement is also judged at scope `theorem`"
)


def _first_outputs(evidence: Evidence) -> list[float]:
    """The largest |F(0)| of each seed."""
    return look.largest(abs(evidence["run"]["margin"].isel(time=0))).tolist()


def _inside(claim: c.Claim, **changes: object) -> c.Claim:
    """A claim about the theory's system, judged by runs inside the conditions."""
    shared = {"needs": RUN, "settings": SETTINGS, "source": SOURCE}
    return replace(claim, id=f"{claim.id}-inside", **{**shared, **changes})


_BY_ID = {claim.id: claim for claim in (*phase_two.CLAIMS, *phase_one_course.CLAIMS)}

CLAIMS: tuple[c.Claim, ...] = (
    in_theory(
        id="A-Thm3.1-i2-inside",
        place="Theorem 3.1, item 2; Theorem 3.2, Phase 2",
        statement="From the end of Phase 1 on every training sample is classified "
        "correctly.",
        kind=c.Kind.UNIVERSAL,
        needs=RUN,
        settings=SETTINGS,
        source=SOURCE,
        judge=c.All(
            (
                c.AtLeast(
                    "margins",
                    lambda run: run["margin"],
                    0.0,
                    unit="difference",
                    strict=True,
                    when=in_phase_two,
                    period="in Phase 2",
                ),
            ),
            also={"largest |F(0)|": _first_outputs},
        ),
    ),
    in_theory(
        id="A-Thm3.2-i4-inside",
        place="Theorem 3.2, fourth item, its signs",
        statement="In phase 2, G(μ1) + G(μ2) + G(μ3) is positive, and G(μ1) + G(μ3) "
        "and G(μ2) + G(μ3) are negative.",
        kind=c.Kind.UNIVERSAL,
        needs=RUN,
        settings=SETTINGS,
        source=SOURCE,
        judge=c.AtLeast(
            "G1 + G2 + G3, −G1 − G3 and −G2 − G3",
            readouts.sums,
            0.0,
            unit="difference",
            strict=True,
            when=in_phase_two,
            period="in Phase 2",
        ),
        mutations=c.named(mutate.negate("run", "value")),
    ),
    _inside(_BY_ID["A-C4.6"]),
    _inside(_BY_ID["A-L4.7-sign"]),
    _inside(
        _BY_ID["A-bump"],
        inert={"loss_by_group_at_end": "the run ends long after Phase 1"},
        survives={"cut": "Phase 1 is over before a tenth of the time"},
    ),
)
