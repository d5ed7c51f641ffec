"""Claims of `vit`, by topic."""

from attnflow.claims import Claim
from attnflow.papers.vit.claims import (
    appendices,
    condition,
    digits,
    early,
    figure1,
    fresh,
    ladders,
    losses,
    norms,
    scores,
    sharp,
    stage_one,
    stage_three,
    stage_two,
    times,
    updates,
    winners,
)

CLAIMS: tuple[Claim, ...] = (
    *times.CLAIMS,
    *losses.CLAIMS,
    *condition.CLAIMS,
    *ladders.CLAIMS,
    *sharp.CLAIMS,
    *appendices.CLAIMS,
    *early.CLAIMS,
    *updates.CLAIMS,
    *stage_one.CLAIMS,
    *stage_two.CLAIMS,
    *scores.CLAIMS,
    *norms.CLAIMS,
    *stage_three.CLAIMS,
    *fresh.CLAIMS,
    *figure1.CLAIMS,
    *digits.CLAIMS,
    *winners.CLAIMS,
)
