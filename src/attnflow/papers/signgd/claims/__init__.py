"""The claims of `signgd`, in the paper's order."""

from attnflow.claims import Claim
from attnflow.papers.signgd.claims import (
    adam,
    adam_rate,
    alignment,
    collapse,
    cycles,
    deep_precision,
    descent,
    noisy_digits,
    precision,
    reductions,
    stage_one,
    stage_three,
    stage_two,
    stage_two_end,
    theorem,
    turning,
    updates,
    zero_one,
)

CLAIMS: tuple[Claim, ...] = (
    *updates.CLAIMS,
    *stage_one.CLAIMS,
    *stage_two.CLAIMS,
    *cycles.CLAIMS,
    *stage_two_end.CLAIMS,
    *stage_three.CLAIMS,
    *collapse.CLAIMS,
    *turning.CLAIMS,
    *alignment.CLAIMS,
    *theorem.CLAIMS,
    *zero_one.CLAIMS,
    *adam.CLAIMS,
    *adam_rate.CLAIMS,
    *descent.CLAIMS,
    *noisy_digits.CLAIMS,
    *deep_precision.CLAIMS,
    *precision.CLAIMS,
    *reductions.CLAIMS,
)
