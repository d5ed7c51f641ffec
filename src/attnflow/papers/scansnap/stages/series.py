"""Series that stages are found in."""

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.schema import dims as _dims

CLASS = _dims.CLASS
DOUBLING = 2.0


def decoder_speed(run: xr.Dataset) -> xr.DataArray:
    """γ: recorded, or the mean over classes of |e_n − α_n| times the margin."""
    if "attention_speed" in run:
        return run["attention_speed"]
    return (run["error_norm"] * run["margin"]).mean(CLASS)


def top_token(run: xr.Dataset) -> str:
    """The distinct token of the first class with the largest attention at the end."""
    attention = run["attention_per_class"].isel({_dims.SEED: 0})
    last = attention.isel({_dims.TIME: _last(run)})
    lone = (last > 0).sum(CLASS) == 1
    mine = last.isel({CLASS: 0}).where(lone, -1.0)
    return str(mine["token"].values[int(np.argmax(mine.values))])


def query_of(run: xr.Dataset) -> str:
    """The query of the first class."""
    numbers = schema.setting_of(run).get("query") or (0,)
    return f"query{numbers[0]}"


def top_score(run: xr.Dataset) -> xr.DataArray:
    """Z of the first class's top distinct token."""
    return run["score"].sel(query=query_of(run), token=top_token(run), drop=True)


def top_velocity(run: xr.Dataset) -> xr.DataArray:
    """dz/dt of the first class's top distinct token, or −dz/dt of the scalar model."""
    if "query" not in run["score_velocity"].dims:
        return -run["score_velocity"]
    picked = {"query": query_of(run), "token": top_token(run)}
    return run["score_velocity"].sel(picked, drop=True)


def growth(run: xr.Dataset) -> xr.DataArray:
    """What D3 looks at: z of the top token, or `e^{4B} − 1` of the scalar model."""
    if "drive_integral" in run and CLASS not in run["drive_integral"].dims:
        drive = run["drive_integral"]
        return drive.copy(data=np.expm1(4 * drive.values))
    return top_score(run)


def log_slope(series: xr.DataArray) -> xr.DataArray:
    """D ln(series)/d ln t at the records, by differences around each.

    Not a number where the series is not positive, or time is zero.
    """
    time = series[_dims.TIME].values.astype(float)
    values = series.transpose(_dims.SEED, _dims.TIME).values
    later = time > 0
    logs = np.log(np.where(values > 0, values, np.nan)[:, later])
    slope = np.full(values.shape, np.nan)
    slope[:, later] = np.gradient(logs, np.log(time[later]), axis=1)
    return series.transpose(_dims.SEED, _dims.TIME).copy(data=slope)


def attention_drift(run: xr.Dataset) -> xr.DataArray:
    """Total variation between attention now and at twice the time, mean over classes.

    Between records attention is interpolated by the logarithm of time.
    """
    attention = run["attention_per_class"]
    time = attention[_dims.TIME].values.astype(float)
    early = (time > 0) & (DOUBLING * time <= time[_last(run)])
    flat = attention.transpose(_dims.SEED, _dims.TIME, CLASS, "token").values
    later = _interpolated(time, flat, DOUBLING * time[early])
    apart = np.abs(later - flat[:, early]).sum(axis=-1).mean(axis=-1) / 2
    coords = {_dims.SEED: attention[_dims.SEED], _dims.TIME: time[early]}
    return xr.DataArray(apart, dims=(_dims.SEED, _dims.TIME), coords=coords)


def _interpolated(time: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    place = np.clip(np.searchsorted(time, at), 1, len(time) - 1)
    clock = np.log(np.maximum(time, np.finfo(float).tiny))
    share = (np.log(at) - clock[place - 1]) / (clock[place] - clock[place - 1])
    share = np.clip(share, 0.0, 1.0)[:, None, None]
    return values[:, place - 1] * (1 - share) + values[:, place] * share


def _last(run: xr.Dataset) -> int:
    """The last time that every seed has recorded."""
    return int(np.flatnonzero(run["recorded"].values.all(axis=0))[-1])
