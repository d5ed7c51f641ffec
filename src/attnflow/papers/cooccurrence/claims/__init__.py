"""The claims of `cooccurrence`, in the paper's order."""

from attnflow.claims import Claim
from attnflow.papers.cooccurrence.claims import (
    balancing,
    changes,
    closed_system,
    concentration,
    end,
    experiment,
    initial,
    initial_laws,
    overtaking,
    phase_one,
    phase_one_course,
    phase_one_neurons,
    phase_two,
    reductions,
)

CLAIMS: tuple[Claim, ...] = (
    *closed_system.CLAIMS,
    *concentration.CLAIMS,
    *initial_laws.CLAIMS,
    *initial.CLAIMS,
    *phase_one.CLAIMS,
    *phase_one_course.CLAIMS,
    *overtaking.CLAIMS,
    *changes.CLAIMS,
    *phase_one_neurons.CLAIMS,
    *phase_two.CLAIMS,
    *balancing.CLAIMS,
    *end.CLAIMS,
    *experiment.CLAIMS,
    *reductions.CLAIMS,
)
