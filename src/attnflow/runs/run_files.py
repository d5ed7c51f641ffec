"""A run as a file of its own: netCDF to give away, netCDF or zarr to read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from attnflow.runs import atomic

_ENGINE = "h5netcdf"
# Times are training times, whatever their units are called, and never dates.
_AS_NUMBERS: dict[str, Any] = {"decode_times": False, "decode_timedelta": False}


class StoreError(OSError):
    """A run could not be written or read; the message says where, why and what to do.

    It is raised with one argument, so `str` gives the message alone.
    """


class StoreWarning(UserWarning):
    """The store could not be used, and the work went on without it."""


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
        opened = (
            xr.open_zarr(zarr, consolidated=False, chunks=None, **_AS_NUMBERS)
            if zarr
            else xr.open_dataset(path, engine=_ENGINE, **_AS_NUMBERS)
        )
        with opened:
            return restored(opened.load())
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        # By the last of them codecs say that a chunk cannot be unpacked.
        raise ValueError(
            f"{path} could not be read as a run: {error}. "
            "Give a netCDF file (`attnflow export` writes one) or a zarr directory."
        ) from error


def _is_zarr(path: Path) -> bool:
    return any((path / name).is_file() for name in ("zarr.json", ".zgroup"))


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
