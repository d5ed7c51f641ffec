"""The claims of `signgd`, in the paper's order."""

from attnflow.claims import Claim
from attnflow.papers.signgd.claims import (
    stage_one,
    stage_three,
    stage_two,
    stage_two_end,
    updates,
)

CLAIMS: tuple[Claim, ...] = (
    *updates.CLAIMS,
    *stage_one.CLAIMS,
    *stage_two.CLAIMS,
    *stage_two_end.CLAIMS,
    *stage_three.CLAIMS,
)
