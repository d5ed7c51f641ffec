"""Series that the detectors of stages read."""

from __future__ import annotations

import numpy as np

from attnflow import schema
from attnflow.schema import dims as _dims
from attnflow.schema.installation import xr

CLASS = _dims.CLASS
DOUBLING = 2.0


def decoder_speed(run: xr.Dataset) -> xr.DataArray:
    """Speed γ: recorded, or the mean over classes of |e_n − α_n| times the margin."""
    if "attention_speed" in run:
        return run["attention_speed"]
    return (run["error_norm"] * run["margin"]).mean(CLASS)


def top_token(run: xr.Dataset) -> str:
    """The distinct token of the first class with the largest attention at the end."""
    attention = run["attention_per_class"].isel({_dims.SEED: 0})
    last = attention.isel({_dims.TIME: _last(run)})
    is_distinct = (last > 0).sum(CLASS) == 1
    candidates = last.isel({CLASS: 0}).where(is_distinct, -1.0)
    return str(candidates["token"].values[int(np.argmax(candidates.values))])


def query_of(run: xr.Dataset) -> str:
    """The query of the first class."""
    numbers = schema.setting_of(run).get("query") or (0,)
    return f"query{numbers[0]}"


def top_score(run: xr.Dataset) -> xr.DataArray:
    """Score of the first class's top distinct token."""
    return run["score"].sel(query=query_of(run), token=top_token(run), drop=True)


def top_velocity(run: xr.Dataset) -> xr.DataArray:
    """dz/dt of the first class's top distinct token, or −dz/dt of the scalar model."""
    if "query" not in run["score_velocity"].dims:
        return -run["score_velocity"]
    selection = {"query": query_of(run), "token": top_token(run)}
    return run["score_velocity"].sel(selection, drop=True)


def growth(run: xr.Dataset) -> xr.DataArray:
    """Growth, read by D3: z of the top token, or `e^{4B} − 1` of the scalar model."""
    if "drive_integral" in run and CLASS not in run["drive_integral"].dims:
        drive = run["drive_integral"]
        return drive.copy(data=np.expm1(4 * drive.values))
    return top_score(run)


def growth_slope(run: xr.Dataset) -> xr.DataArray:
    """Logarithmic slope of the growth, at records after time 0."""
    return log_slope(growth(run))


def log_slope(series: xr.DataArray) -> xr.DataArray:
    """Logarithmic slope d ln(series)/d ln t after time 0, by central differences.

    NaN where the series is not positive.
    """
    table = series.transpose(_dims.SEED, _dims.TIME)
    table = table.isel({_dims.TIME: series[_dims.TIME].values > 0})
    logs = np.log(np.where(table.values > 0, table.values, np.nan))
    clock = np.log(table[_dims.TIME].values.astype(float))
    return table.copy(data=np.gradient(logs, clock, axis=1))


def attention_drift(run: xr.Dataset) -> xr.DataArray:
    """Total variation between attention now and at twice the time, mean over classes.

    Between records attention is interpolated in the logarithm of time.
    """
    attention = run["attention_per_class"]
    time = attention[_dims.TIME].values.astype(float)
    early = (time > 0) & (DOUBLING * time <= time[_last(run)])
    flat = attention.transpose(_dims.SEED, _dims.TIME, CLASS, "token").values
    later = _interpolate(time, flat, DOUBLING * time[early])
    distance = np.abs(later - flat[:, early]).sum(axis=-1).mean(axis=-1) / 2
    coords = {_dims.SEED: attention[_dims.SEED], _dims.TIME: time[early]}
    return xr.DataArray(distance, dims=(_dims.SEED, _dims.TIME), coords=coords)


def _interpolate(time: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    index = np.clip(np.searchsorted(time, at), 1, len(time) - 1)
    clock = np.log(np.maximum(time, np.finfo(float).tiny))
    share = (np.log(at) - clock[index - 1]) / (clock[index] - clock[index - 1])
    share = np.clip(share, 0.0, 1.0)[:, None, None]
    return values[:, index - 1] * (1 - share) + values[:, index] * share


def _last(run: xr.Dataset) -> int:
    """Index of the last time that every seed has recorded."""
    return int(np.flatnonzero(run["recorded"].values.all(axis=0))[-1])
