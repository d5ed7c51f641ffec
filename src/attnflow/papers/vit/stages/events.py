"""Detectors of the ends of stages, in steps of the run.

They may fire in another order than the paper's, or not at all.
"""

import xarray as xr

from attnflow import schema
from attnflow.claims.stages import Detected, Event, first_crossing, settled
from attnflow.papers.vit.sizes import sizes
from attnflow.papers.vit.stages import series
from attnflow.schema.dims import SEED, STAGE

SMALL_VALUE = 0.1
"""Our reading of o(1) in stage two, where all values are still small."""
MOST = 0.9
"""Mean attention at which a token counts as the winner."""


def values_separate(run: xr.Dataset, regime: series.Regime) -> Event:
    """`T1`: when in every sample the winner's value is 3M times all others."""
    lead = series.separation(run, regime)
    return first_crossing(run, lead, level=0.0, name="T1")


def values_grown(run: xr.Dataset, level: float = SMALL_VALUE) -> Event:
    """`T2`: the time after which the largest value stays above a level."""
    return settled(run, series.largest_value(run), level=level, name="T2")


def attention_won(run: xr.Dataset, regime: series.Regime, level: float = MOST) -> Event:
    """`T_att`: when mean attention to the winner reaches a level."""
    share = series.attention_to(run, series.WINNER[regime])
    return first_crossing(run, share, level=level, name="T_att")


def loss_reached(run: xr.Dataset) -> Event:
    """`T3`: the first step with a training loss of at most ε, where runs stop."""
    level = sizes(schema.setting_of(run)).target
    if "loss_at_end" not in run:
        return first_crossing(
            run, run["loss"], level=level, direction="down", scale="log", name="T3"
        )
    ends = zip(
        run["end_time"].values,
        run["loss_at_end"].isel({STAGE: -1}).values,
        schema.outcomes_of(run),
        strict=True,
    )
    detections = [
        Detected(float(end))
        if loss <= level
        else Detected(None, f"the loss is {loss:.4g} at step {end:.0f} ({how.label})")
        for end, loss, how in ends
    ]
    seeds = tuple(int(seed) for seed in run[SEED].values)
    return Event("T3", seeds, tuple(detections))
