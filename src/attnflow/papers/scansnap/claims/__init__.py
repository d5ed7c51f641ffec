"""The claims of `scansnap`, in the paper's order."""

from attnflow.claims import Claim
from attnflow.papers.scansnap.claims import (
    correlations,
    couplings,
    decoder,
    experiments,
    fates,
    gains,
    gradient,
    insights,
    reductions,
    residual,
    snapping,
    speed,
)

CLAIMS: tuple[Claim, ...] = (
    *gradient.CLAIMS,
    *decoder.CLAIMS,
    *speed.CLAIMS,
    *couplings.CLAIMS,
    *correlations.CLAIMS,
    *fates.CLAIMS,
    *gains.CLAIMS,
    *snapping.CLAIMS,
    *insights.CLAIMS,
    *residual.CLAIMS,
    *experiments.CLAIMS,
    *reductions.CLAIMS,
)
