"""A run as a file of its own: netCDF to give away, netCDF or a stored run to read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from attnflow.runs.store import SUFFIX, StoreError, read_run
from attnflow.schema import files
from attnflow.schema.installation import xr

_ENGINE = "h5netcdf"
# Times are training times, whatever their units are called, and never dates.
_AS_NUMBERS: dict[str, Any] = {"decode_times": False, "decode_timedelta": False}


def export_netcdf(run: xr.Dataset, path: str | Path) -> Path:
    """Write the `run` as a netCDF-4 file; what exists at `path` is complete.

    **Returns:** the path. xarray, R, Julia and MATLAB read the file as it is.
    """
    path = Path(path)
    if not isinstance(run, xr.Dataset):
        raise ValueError(
            f"A run is an xarray.Dataset, as af.run returns it; {run!r} is of "
            f"type {type(run).__name__}."
        )
    # In memory: where a disk fills up, HDF5 ends the process when it closes the file.
    content = for_netcdf(run).to_netcdf(engine=_ENGINE)
    try:
        with files.new_file(path) as file:
            file.write(content)
    except files.WriteError as error:
        raise StoreError(str(error)) from error
    return path


def read_run_file(path: str | Path) -> xr.Dataset:
    """A run from a netCDF file, or from a file of the store."""
    # Gives every Dataset `run.attnflow`.
    from attnflow.runs import view as view

    path = Path(path)
    if not path.exists():
        raise ValueError(f"There is no file {path}. Give a netCDF file.")
    try:
        if path.suffix == SUFFIX:
            return read_run(path)
        with xr.open_dataset(path, engine=_ENGINE, **_AS_NUMBERS) as opened:
            return _restored(opened.load())
    # By the last of them HDF5's filters say that a chunk cannot be unpacked.
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ValueError(
            f"{path} could not be read as a run: {error}. "
            "Give a netCDF file (`attnflow export` writes one), or a stored run."
        ) from error


def for_netcdf(run: xr.Dataset) -> xr.Dataset:
    """The `run` with attributes that netCDF knows, and texts of any length."""
    run = _convert(run.drop_encoding(), "UT", lambda values: values.astype(object))
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


def _restored(run: xr.Dataset) -> xr.Dataset:
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


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else value
