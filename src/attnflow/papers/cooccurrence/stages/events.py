"""When phases end: detectors on what a run recorded, in the run's own time.

Most are of the kind *for good*: from when on something holds until the last record.
"""

import dataclasses
from typing import Any

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
"""The named tokens of each type of samples."""


def common_overtakes(run: xr.Dataset) -> Event:
    """`T_half`: from when on −G3' >= max(G1', G2')."""
    rate = run["value_rate"].isel(head=0, drop=True)
    targets = rate.sel(token=["mu1", "mu2"]).max("token")
    ahead = -rate.sel(token="mu3", drop=True) - targets
    return _for_good(run, ahead, "T_half")


def all_correct(run: xr.Dataset) -> Event:
    """`T1`: from when on all margins are positive."""
    return _for_good(run, run["margin"].min("sample", skipna=False), "T1")


def signal_correct(run: xr.Dataset) -> Event:
    """`T_sig`: from when on all margins would be positive without the fillers."""
    return _for_good(run, signal_margins(run).min("group", skipna=False), "T_sig")


def signal_margins(run: xr.Dataset) -> xr.DataArray:
    """G1 + G2 + G3, −(G1 + G3), −(G2 + G3) and −G3, by type of samples.

    What margins are at uniform attention, with the fillers left out.
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
    look: dict[str, Any] = {"direction": "down", "clock": "log", "scale": "log"}
    event = first_crossing(run, "loss", level=level, name="T_star", **look)
    if "loss_at_end" not in run:
        return event
    # A run that was to end at this level has no record there, but an end.
    last = run["loss_at_end"].isel(stage=-1).values
    at_end = np.isclose(last, level, rtol=1e-6, atol=0.0)
    found = [
        Detected(float(time)) if here and not one.reached else one
        for one, here, time in zip(
            event.detected, at_end, run["end_time"].values, strict=True
        )
    ]
    return dataclasses.replace(event, detected=tuple(found))


def loss_level(run: xr.Dataset) -> float:
    """The loss that counts as small: the setting's own `level`, or 1/m."""
    setting = schema.setting_of(run)
    return float(setting.get("level") or 1 / setting["width"])


def clock_times(run: xr.Dataset, event: Event) -> Float[np.ndarray, " seed"]:
    """The times of an event as b0·t, b0 each seed's own readout gain at the start."""
    last = evidence.clock(run).isel(time=-1) / run["time"].isel(time=-1)
    return event.times * last.values


def _for_good(run: xr.Dataset, series: xr.DataArray, name: str) -> Event:
    # Noise-free runs begin at exactly 0, which is not yet beyond it.
    beyond = series.where(series != 0, -np.finfo(float).tiny)
    return settled(run, beyond, level=0.0, name=name)
