"""Detectors D1 to D4 of stages, in the time of the run."""

import xarray as xr

from attnflow.claims.stages import Event, extreme_time, first_crossing, settled
from attnflow.papers.scansnap.stages import series

FROZEN = 0.01
"""Total variation per doubling of time below which attention is called frozen."""


def decoder_snap(run: xr.Dataset) -> Event:
    """D1: the time at which the decoder's speed γ is largest."""
    return extreme_time(run, series.decoder_speed(run), name="decoder_snap")


def attention_snap(run: xr.Dataset) -> Event:
    """D2: the time at which the top distinct token's score moves fastest."""
    return extreme_time(run, series.top_velocity(run), name="attention_snap")


def slow_growth(run: xr.Dataset) -> Event:
    """D3: the first time at which the logarithmic slope of growth is below 1."""
    slope = series.log_slope(series.growth(run))
    return first_crossing(
        run, slope, level=1.0, direction="down", clock="log", name="slow_growth"
    )


def frozen(run: xr.Dataset, level: float = FROZEN) -> Event:
    """D4: the time from which attention moves less than `level` while time doubles."""
    drift = series.attention_drift(run)
    return settled(run, drift, level=level, direction="down", name="frozen")
