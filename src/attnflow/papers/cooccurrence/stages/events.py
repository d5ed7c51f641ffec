"""Ends of phases as records, and the clock b0·t on which phase 1 has no width.

Most events are *for good*: the time from which on something holds at all later records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import schema
from attnflow.claims.stages import Event, Stage
from attnflow.papers.cooccurrence.settings import Fields
from attnflow.papers.cooccurrence.stages import formulas
from attnflow.papers.cooccurrence.stages.formulas import END_OF_PHASE_ONE
from attnflow.schema.declarations import FormulaTime
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from jaxtyping import Float

SIGNAL = {
    "both": ("mu1", "mu2", "mu3"),
    "first": ("mu1", "mu3"),
    "second": ("mu2", "mu3"),
    "neither": ("mu3",),
}
"""Named tokens in each type of sample."""
# A run that stops at its level ends within the solver's tolerance of it.
AT_LEVEL = 1 + 1e-6


def clock(run: xr.Dataset) -> xr.DataArray:
    """Clock b0·t by seed and time, b0 being each seed's initial readout gain."""
    return clock_rate(run) * run["time"]


def clock_rate(run: xr.Dataset) -> xr.DataArray:
    """b0 by seed; times the learning rate where time is counted in steps."""
    unit = 1.0
    if run["time"].attrs.get("units") == "step":
        unit = schema.setting_of(run)["learning_rate"]
    return run["readout_gain"].isel(time=0, head=0, drop=True) * unit


def clock_times(run: xr.Dataset, event: Event) -> Float[np.ndarray, " seed"]:
    """Times of an event as b0·t, b0 being each seed's initial readout gain."""
    return event.times * clock_rate(run).values


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


def loss_level(setting: Fields) -> float:
    """Loss that counts as small: the setting's `level`, or 1/m."""
    return float(setting.get("level") or 1 / setting["width"])


def _common_ahead(run: xr.Dataset) -> xr.DataArray:
    rate = run["value_rate"].isel(head=0, drop=True)
    targets = rate.sel(token=["mu1", "mu2"]).max("token", skipna=False)
    return _not_zero(-rate.sel(token="mu3", drop=True) - targets)


def _least_margin(run: xr.Dataset) -> xr.DataArray:
    return _not_zero(run["margin"].min("sample", skipna=False))


def _least_signal(run: xr.Dataset) -> xr.DataArray:
    return _not_zero(signal_margins(run).min("group", skipna=False))


def _not_zero(series: xr.DataArray) -> xr.DataArray:
    """Noise-free runs begin at exactly 0, which does not count as positive."""
    return series.where(series != 0, -np.finfo(float).tiny)


def _first_phase(setting: Fields) -> FormulaTime:
    return FormulaTime(formulas.first_phase(setting))


def _small_loss(setting: Fields) -> FormulaTime:
    return FormulaTime(formulas.small_loss(setting, loss_level(setting)))


common_overtakes = Stage(
    "T_half",
    _common_ahead,
    "−G3' ≥ max(G1', G2') for good",
    "settled",
    needs=("value_rate",),
)
all_correct = Stage(
    "T1",
    _least_margin,
    "all margins > 0 for good; formula C_T1/(σ1² m |a|²), "
    f"C_T1 = {END_OF_PHASE_ONE:g} (ours)",
    "settled",
    formula=_first_phase,
    needs=("margin",),
)
signal_correct = Stage(
    "T_sig",
    _least_signal,
    "G1+G2+G3, −G1−G3, −G2−G3, −G3 > 0 for good",
    "settled",
    needs=("value",),
)
loss_reaches = Stage(
    "T_star",
    "loss",
    "loss ≤ 1/m, or the setting's level; formula b0·t·Loss = |w*|² (ours)",
    level=lambda setting: loss_level(setting) * AT_LEVEL,
    direction="down",
    clock="log",
    scale="log",
    at_end=True,
    formula=_small_loss,
)
STAGES = (common_overtakes, all_correct, signal_correct, loss_reaches)
