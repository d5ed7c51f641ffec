"""Detectors of the ends of phases, in the run's units of time.

Most events are *for good*: the time from which on something holds at all later records.
"""

import dataclasses

import numpy as np
import xarray as xr
from jaxtyping import Float

from attnflow import schema
from attnflow.claims.stages import Detected, Event, first_crossing, settled
from attnflow.papers.cooccurrence.claims import evidence

SIGNAL = {
    "both": ("mu1", "mu2", "mu3"),
    "first": ("mu1", "mu3"),
    "second": ("mu2", "mu3"),
    "neither": ("mu3",),
}
"""Named tokens in each type of sample."""


def common_overtakes(run: xr.Dataset) -> Event:
    """`T_half`: the time from which on −G3' >= max(G1', G2')."""
    rate = run["value_rate"].isel(head=0, drop=True)
    targets = rate.sel(token=["mu1", "mu2"]).max("token")
    ahead = -rate.sel(token="mu3", drop=True) - targets
    return _for_good(run, ahead, "T_half")


def all_correct(run: xr.Dataset) -> Event:
    """`T1`: the time from which on all margins are positive."""
    return _for_good(run, run["margin"].min("sample", skipna=False), "T1")


def signal_correct(run: xr.Dataset) -> Event:
    """`T_sig`: the time from which on all margins without fillers are positive."""
    return _for_good(run, signal_margins(run).min("group", skipna=False), "T_sig")


def signal_margins(run: xr.Dataset) -> xr.DataArray:
    """Margins without fillers: G1 + G2 + G3, −(G1 + G3), −(G2 + G3), −G3, by type.

    At uniform attention.
    """
    value = run["value"].isel(head=0, drop=True)
    signs = {kind: 1.0 if kind == "both" else -1.0 for kind in SIGNAL}
    parts = [
        signs[kind] * value.sel(token=list(tokens)).sum("token", skipna=False)
        for kind, tokens in SIGNAL.items()
    ]
    return xr.concat(parts, xr.Variable("group", list(SIGNAL)))


def loss_reaches(run: xr.Dataset, level: float | None = None) -> Event:
    """`T_star`: when the loss first falls to a level; see `loss_level`."""
    level = loss_level(run) if level is None else level
    event = first_crossing(
        run,
        "loss",
        level=level,
        direction="down",
        clock="log",
        scale="log",
        name="T_star",
    )
    if "loss_at_end" not in run:
        return event
    # A run that ended at this level has no record there, only its final value.
    last = run["loss_at_end"].isel(stage=-1).values
    at_end = np.isclose(last, level, rtol=1e-6, atol=0.0)
    detections = [
        Detected(float(time)) if ends_there and not detected.reached else detected
        for detected, ends_there, time in zip(
            event.detected, at_end, run["end_time"].values, strict=True
        )
    ]
    return dataclasses.replace(event, detected=tuple(detections))


def loss_level(run: xr.Dataset) -> float:
    """Loss that counts as small: the setting's `level`, or 1/m."""
    setting = schema.setting_of(run)
    return float(setting.get("level") or 1 / setting["width"])


def clock_times(run: xr.Dataset, event: Event) -> Float[np.ndarray, " seed"]:
    """Times of an event as b0·t, b0 being each seed's initial readout gain."""
    last = evidence.clock(run).isel(time=-1) / run["time"].isel(time=-1)
    return event.times * last.values


def _for_good(run: xr.Dataset, series: xr.DataArray, name: str) -> Event:
    # Noise-free runs begin at exactly 0, which does not count as positive.
    beyond = series.where(series != 0, -np.finfo(float).tiny)
    return settled(run, beyond, level=0.0, name=name)
