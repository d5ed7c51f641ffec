"""Formulas for the ends of phases, by the paper and by our asymptotics."""

import numpy as np

from attnflow.claims.statistics import HardMargin, hard_margin
from attnflow.papers.cooccurrence.readings import Scales, scales
from attnflow.papers.cooccurrence.settings import Fields
from attnflow.schema.settings import steps_per_time

END_OF_PHASE_ONE = 20.0
"""C_T1: phase 1 ends at b0·t = 20, after T1 of every run that we saw (9 to 10)."""
NAMED = np.array([[1.0, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]])
"""Which of μ1, μ2, μ3 each type of sample holds: both, first, second, neither."""
LABELS = np.array([1.0, -1.0, -1.0, -1.0])
SHARES = np.array([1 / 2, 1 / 6, 1 / 6, 1 / 6])


def readout_gain(setting: Fields) -> float:
    """Mean of the initial readout gain, b0 = |a|² σ1² m."""
    return output_norm(setting) * initial_scales(setting).inner ** 2 * setting["width"]


def value_gain(setting: Fields) -> float:
    """Mean of |a|² σ0² m, which the motion of W adds to b0 initially.

    With A_V = σ0² m I, the velocity b z + |a|² A_V z is (b0 + |a|² σ0² m) z.
    """
    return output_norm(setting) * initial_scales(setting).first ** 2 * setting["width"]


def output_norm(setting: Fields) -> float:
    """Mean of |a|², which is m1 for signs."""
    return setting["neurons"] * initial_scales(setting).output ** 2


def initial_scales(setting: Fields) -> Scales:
    """Scales of the initial weights; a quotient has those of the theory."""
    names = ("length", "width", "neurons", "c0", "c1")
    sizes = {name: setting[name] for name in names}
    embed = setting.get("embed", 0)
    return scales(setting.get("reading", "theory"), embed=embed, **sizes)


def first_phase(setting: Fields) -> float | None:
    """T1 = C_T1 / (σ1² m |a|²), in the run's units; C_T1 = 20 is our choice."""
    return _in_units(END_OF_PHASE_ONE, setting)


def small_loss(setting: Fields, level: float) -> float | None:
    """Time at which the loss reaches a level by b0·t·Loss = |w*|².

    Valid late in training, while b stays b0; for exact shares and distinct fillers.
    """
    return _in_units(counts_machine(setting).norm_squared / level, setting)


def counts_machine(setting: Fields) -> HardMargin:
    """Hard-margin SVM of token counts, for exact shares and distinct fillers.

    Types share named tokens; no two samples share a filler, which gives r_k / n_k on
    the diagonal of the kernel.
    """
    slots = setting["length"] - NAMED.sum(axis=1)
    filler_terms = slots / (setting["samples"] * SHARES)
    return hard_margin(NAMED @ NAMED.T + np.diag(filler_terms), LABELS)


def _in_units(clock: float, setting: Fields) -> float | None:
    units = steps_per_time(setting)
    return None if units is None else clock / readout_gain(setting) * units
