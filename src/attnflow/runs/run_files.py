"""A run as a file of its own: netCDF to give away, netCDF or zarr to read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from attnflow.runs import atomic
from attnflow.runs.store import (
    AS_NUMBERS,
    UNREADABLE,
    StoreError,
    for_zarr,
    read_zarr,
    restored,
)
from attnflow.schema.libraries import xr

_ENGINE = "h5netcdf"


def export_netcdf(run: xr.Dataset, path: str | Path) -> Path:
    """Write the `run` as a netCDF-4 file; what exists at `path` is complete.

    **Returns:** the path. xarray, R, Julia and MATLAB read the file as it is.
    """
    path = Path(path)
    try:
        with atomic.new_file(path) as temporary:
            for_netcdf(run).to_netcdf(temporary, engine=_ENGINE)
    except OSError as error:
        raise StoreError(
            f"{path} could not be written: {error.strerror or error}. "
            "Give a file in a directory that exists and that you can write to."
        ) from error
    return path


def read_run_file(path: str | Path) -> xr.Dataset:
    """A run from a netCDF file, a zarr directory or a directory of the store."""
    path = Path(path)
    if not path.exists():
        raise ValueError(f"There is no file {path}. Give a netCDF file or a zarr.")
    zarr = next((p for p in (path / "run.zarr", path) if _is_zarr(p)), None)
    try:
        if zarr:
            return read_zarr(zarr)
        with xr.open_dataset(path, engine=_ENGINE, **AS_NUMBERS) as opened:
            return restored(opened.load())
    except UNREADABLE as error:
        raise ValueError(
            f"{path} could not be read as a run: {error}. "
            "Give a netCDF file (`attnflow export` writes one) or a zarr directory."
        ) from error


def _is_zarr(path: Path) -> bool:
    return any((path / name).is_file() for name in ("zarr.json", ".zgroup"))


def for_netcdf(run: xr.Dataset) -> xr.Dataset:
    """The `run` with attributes that netCDF knows, and texts of any length."""
    run = for_zarr(run)
    run = run.assign_attrs({k: _netcdf_attribute(v) for k, v in run.attrs.items()})
    for variable in run.variables.values():
        variable.attrs = {k: _netcdf_attribute(v) for k, v in variable.attrs.items()}
    return run


def _netcdf_attribute(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return int(value)
    if value is None or isinstance(value, dict):
        return json.dumps(value)
    return value
