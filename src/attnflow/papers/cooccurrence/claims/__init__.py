"""The claims of `cooccurrence`, in the paper's order."""

from attnflow.claims import Claim
from attnflow.papers.cooccurrence.claims import (
    balancing,
    closed_system,
    end,
    experiment,
    initial,
    phase_one,
    phase_two,
    reductions,
)

CLAIMS: tuple[Claim, ...] = (
    *closed_system.CLAIMS,
    *initial.CLAIMS,
    *phase_one.CLAIMS,
    *phase_two.CLAIMS,
    *balancing.CLAIMS,
    *end.CLAIMS,
    *experiment.CLAIMS,
    *reductions.CLAIMS,
)
