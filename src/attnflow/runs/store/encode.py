"""What zarr and netCDF cannot keep as it is, and back."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr


def for_zarr(run: xr.Dataset) -> xr.Dataset:
    """The `run` with texts as objects: zarr 3 has no standard fixed-length texts."""
    return _convert(run.drop_encoding(), "UT", lambda values: values.astype(object))


def for_netcdf(run: xr.Dataset) -> xr.Dataset:
    """The `run` with attributes that netCDF knows, and texts of any length."""
    run = for_zarr(run)
    run = run.assign_attrs({k: _netcdf_attribute(v) for k, v in run.attrs.items()})
    for variable in run.variables.values():
        variable.attrs = {k: _netcdf_attribute(v) for k, v in variable.attrs.items()}
    return run


def restored(run: xr.Dataset) -> xr.Dataset:
    """A `run` as it was before it was written: numpy texts, plain attributes."""
    run = _convert(run.drop_encoding(), "OT", _texts)
    return run.assign_attrs({k: _plain(v) for k, v in run.attrs.items()})


def _convert(
    run: xr.Dataset, kinds: str, change: Callable[[np.ndarray], np.ndarray]
) -> xr.Dataset:
    old = {name: v for name, v in run.variables.items() if v.dtype.kind in kinds}
    return run.assign({name: v.copy(data=change(v.values)) for name, v in old.items()})


def _texts(values: np.ndarray) -> np.ndarray:
    # Through a list: not every numpy 2 casts its variable-length texts to fixed ones.
    return np.array(values.tolist(), dtype=str).reshape(values.shape)


def _netcdf_attribute(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return int(value)
    if value is None or isinstance(value, dict):
        return json.dumps(value)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else value
