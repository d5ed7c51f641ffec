"""Numbers that sweeps of `signgd` measure beside observables."""

import numpy as np
import xarray as xr

from attnflow.claims.stages import order
from attnflow.papers.signgd import stages
from attnflow.schema.declarations import Quantity

ENDS = (
    stages.values_positive,
    stages.noise_aligned,
    stages.signals_voted,
    stages.keys_turn,
    stages.queries_follow,
)
"""Ends of stages I to III, and begin and end of stage IV."""


def stage_gap(run: xr.Dataset) -> np.ndarray:
    """The least log of a stage's end over the one before it, for each seed.

    Positive where T1, T2, T3, T4⁻ and T4 come in this order; −1 where one is missing.
    """
    return np.array(order([end(run) for end in ENDS]).gap)


QUANTITIES = (
    Quantity(
        "stage_gap",
        "least log of a stage's end over the one before it; positive if in order",
        "attnflow.papers.signgd.quantities:stage_gap",
        ("value", "key_neuron", "query_neuron", "attention"),
    ),
)
