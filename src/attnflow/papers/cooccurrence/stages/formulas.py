"""What the paper, or our asymptotics, give for the ends of phases."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attnflow.claims.statistics import HardMargin, hard_margin
from attnflow.papers.cooccurrence.claims.evidence import END_OF_PHASE_ONE
from attnflow.papers.cooccurrence.readings import Scales, scales

Setting = Mapping[str, Any]

NAMED = np.array([[1.0, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]])
"""Which of μ1, μ2, μ3 each type of samples holds: both, first, second, neither."""
LABELS = np.array([1.0, -1.0, -1.0, -1.0])
SHARES = np.array([1 / 2, 1 / 6, 1 / 6, 1 / 6])


def readout_gain(setting: Setting) -> float:
    """b0 = |a|² σ1² m, in the mean."""
    return output_norm(setting) * drawn(setting).inner ** 2 * setting["width"]


def value_gain(setting: Setting) -> float:
    """|a|² σ0² m, in the mean: what the readout's own motion adds to b0 at first.

    With A_V = σ0² m I, the velocity b z + |a|² A_V z is (b0 + |a|² σ0² m) z.
    """
    return output_norm(setting) * drawn(setting).first ** 2 * setting["width"]


def output_norm(setting: Setting) -> float:
    """|a|² in the mean, which is m1 for signs."""
    return setting["neurons"] * drawn(setting).output ** 2


def drawn(setting: Setting) -> Scales:
    """The scales of the initial weights; those of a quotient are the theory's."""
    names = ("length", "width", "neurons", "c0", "c1")
    sizes = {name: setting[name] for name in names}
    embed = setting.get("embed", 0)
    return scales(setting.get("reading", "theory"), embed=embed, **sizes)


def steps_per_time(setting: Setting) -> float | None:
    """What converts a time of the flow; `None` for rules that do not follow it."""
    if setting.get("schedule", "constant") != "constant" or setting.get("batch"):
        return None
    return {"flow": 1.0, "gd": 1 / setting["learning_rate"]}.get(setting["rule"])


def first_phase(setting: Setting) -> float | None:
    """C_T1 / (σ1² m |a|²), in the run's own units; C_T1 is ours, 20."""
    return _in_units(END_OF_PHASE_ONE, setting)


def small_loss(setting: Setting, level: float) -> float | None:
    """When b0·t·Loss = |w*|² brings the loss to a level.

    Holds late in training, while b stays b0; for exact shares and distinct fillers.
    """
    return _in_units(counts_machine(setting).norm_squared / level, setting)


def counts_machine(setting: Setting) -> HardMargin:
    """The hard-margin machine of token counts of exact shares and distinct fillers.

    A sample's fillers are its own: r_k / n_k on the diagonal, beside the named tokens
    that types share.
    """
    slots = setting["length"] - NAMED.sum(axis=1)
    own = slots / (setting["samples"] * SHARES)
    return hard_margin(NAMED @ NAMED.T + np.diag(own), LABELS)


def _in_units(clock: float, setting: Setting) -> float | None:
    units = steps_per_time(setting)
    return None if units is None else clock / readout_gain(setting) * units
