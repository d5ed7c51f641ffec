"""Propositions D, E, H and I on scores, and their harmful versions L, M, P and Q."""

from __future__ import annotations

import numpy as np

from attnflow.claims import All, AtLeast, AtMost, Falling, Rising, look
from attnflow.papers.vit.claims import evidence as ev
from attnflow.papers.vit.claims.measures import during, scores, size_of, up_to
from attnflow.papers.vit.stages import WINNER, others
from attnflow.schema.dims import KEY_POSITION, TIME
from attnflow.schema.installation import xr

_FROM_T1 = during("T1", "T3")


def _ahead(run: xr.Dataset) -> xr.DataArray:
    """Steps of the strong noise's scores less twice those of the others."""
    steps = look.steps(scores(run))
    strong = steps.isel({KEY_POSITION: WINNER["harmful"]})
    return strong - 2 * others(steps, "harmful")


def _over(run: xr.Dataset, *, last: bool) -> xr.DataArray:
    """|score| over log(d_h^½), or log(d_h^½/ε); harmful over twice that."""
    size = size_of(run)
    bound = 0.5 * np.log(size.key_width) - last * np.log(size.target)
    return abs(scores(run)) / (bound if size.regime == "benign" else 2 * bound)


MONOTONE = All(
    (
        Rising(
            "scores of the signal",
            lambda run: scores(run).isel({KEY_POSITION: WINNER["benign"]}),
            TIME,
            when=_FROM_T1,
            strict=False,
        ),
        Falling(
            "scores of noise",
            lambda run: others(scores(run), "benign"),
            TIME,
            when=_FROM_T1,
            strict=False,
        ),
    )
)
TWICE = AtLeast(
    "change of the strong noise's score less twice that of others",
    _ahead,
    0.0,
    unit="difference",
    when=lambda run: look.both(_FROM_T1(run)),
    period="from each record to the next, T1 to T3",
)
BOUNDED = All(
    (
        AtMost(
            "|score| over its bound up to T2",
            lambda run: _over(run, last=False),
            1.0,
            when=up_to("T2"),
        ),
        AtMost(
            "|score| over its bound up to T3",
            lambda run: _over(run, last=True),
            1.0,
            when=up_to("T3"),
        ),
    )
)
_THIN = "; the margin is the smallest over all steps, which is necessarily small"
CLAIMS = (
    ev.sampled_claim(
        id="D-PropD",
        place="Propositions D(t) and H(t)",
        statement="In the benign regime every score of the signal grows and every "
        "score of noise falls, from T1 to T3.",
        under=ev.UNDER["benign"],
        needs={"benign": ev.SAMPLED_RUNS["benign"]},
        judge=MONOTONE,
        predicate=f"entry by entry, from each record to the next, T1 to T3{_THIN}",
    ),
    ev.sampled_claim(
        id="D-PropL",
        place="Propositions L(t) and P(t)",
        statement=(
            "In the harmful regime every score of the strong noise grows by at least "
            "twice as much as the others in its row, from T1 to T3."
        ),
        under=ev.UNDER["harmful"],
        needs={"harmful": ev.SAMPLED_RUNS["harmful"]},
        judge=TWICE,
        predicate=f"entry by entry{_THIN}",
    ),
    *(
        ev.sampled_claim(
            id=f"D-Prop{first}",
            place=f"Propositions {first}(t) and {second}(t)",
            statement=f"In the {regime} regime no score exceeds {words}log(d_h^½) up "
            f"to T2, and {words}log(d_h^½/ε) up to T3.",
            under=ev.UNDER[regime],
            needs={regime: ev.SAMPLED_RUNS[regime]},
            judge=BOUNDED,
            inert=ev.UNTIL_END,
            source="our runs, seeds 200–209; at Appendix A's sizes, outside "
            "the condition, scores reach 48 to 77 where the bound is 8 to 16",
        )
        for first, second, regime, words in (
            ("E", "I", "benign", ""),
            ("M", "Q", "harmful", "2 "),
        )
    ),
)
