"""The claims of `cooccurrence`, in the paper's order."""

from attnflow.claims import Claim
from attnflow.papers.cooccurrence.claims import balance_root, balancing, changes, closed_system, concentration, end, experiment, fillers, generalisation, initial, initial_laws, noise_free, overtaking, phase_one, phase_one_course, phase_one_neurons, phase_two, phase_two_changes, phase_two_rates, readouts, reductions

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
    *readouts.CLAIMS,
    *balancing.CLAIMS,
    *balance_root.CLAIMS,
    *noise_free.CLAIMS,
    *phase_two_rates.CLAIMS,
    *phase_two_changes.CLAIMS,
    *fillers.CLAIMS,
    *end.CLAIMS,
    *generalisation.CLAIMS,
    *experiment.CLAIMS,
    *reductions.CLAIMS,
)
