"""Statistics of `signgd` runs that sweeps can compute: the gap between stages."""

from __future__ import annotations

import numpy as np

from attnflow.claims.stages import order_gap
from attnflow.papers.signgd import stages
from attnflow.schema.declarations import Statistic
from attnflow.schema.installation import xr

ENDS = (
    stages.values_positive,
    stages.noise_aligned,
    stages.signals_voted,
    stages.keys_turn,
    stages.queries_follow,
)
"""Ends of stages I to III, and start and end of stage IV."""


def stage_gap(run: xr.Dataset) -> np.ndarray:
    """The smallest log ratio of consecutive ends of stages, for each seed.

    Positive where T1, T2, T3, T4⁻ and T4 occur in this order; NaN where one is missing.
    """
    return order_gap([end(run) for end in ENDS])


STATISTICS = (
    Statistic(
        "stage_gap",
        "least log of a stage's end over the one before it; positive if in order",
        "attnflow.papers.signgd.statistics:stage_gap",
        ("value", "key_neuron", "query_neuron", "attention"),
    ),
)
