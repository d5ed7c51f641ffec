"""The claims of `scansnap`, in the paper's order."""

from attnflow.claims import Claim
from attnflow.papers.scansnap.claims import coefficients, commons, correlations, couplings, decoder, drive, experiments, fates, gains, gradient, grid, insights, real_text, reductions, residual, samples, snapping, speed, trained_fates, trained_gains, transfer

CLAIMS: tuple[Claim, ...] = (
    *gradient.CLAIMS,
    *decoder.CLAIMS,
    *speed.CLAIMS,
    *samples.CLAIMS,
    *couplings.CLAIMS,
    *coefficients.CLAIMS,
    *correlations.CLAIMS,
    *drive.CLAIMS,
    *fates.CLAIMS,
    *trained_fates.CLAIMS,
    *commons.CLAIMS,
    *gains.CLAIMS,
    *trained_gains.CLAIMS,
    *snapping.CLAIMS,
    *insights.CLAIMS,
    *transfer.CLAIMS,
    *residual.CLAIMS,
    *experiments.CLAIMS,
    *grid.CLAIMS,
    *real_text.CLAIMS,
    *reductions.CLAIMS,
)
