"""A run as a file of its own: netCDF to give away, netCDF or zarr to read."""

from pathlib import Path
from typing import Any

import xarray as xr

from attnflow.runs.store import atomic, encode
from attnflow.runs.store.errors import StoreError

_ENGINE = "h5netcdf"
# Times are training times, whatever their units are called, and never dates.
_AS_NUMBERS: dict[str, Any] = {"decode_times": False, "decode_timedelta": False}


def export_netcdf(run: xr.Dataset, path: str | Path) -> Path:
    """Write the `run` as a netCDF-4 file; what exists at `path` is complete.

    **Returns:** the path. xarray, R, Julia and MATLAB read the file as it is.
    """
    path = Path(path)
    try:
        with atomic.new_file(path) as temporary:
            encode.for_netcdf(run).to_netcdf(temporary, engine=_ENGINE)
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
            return encode.restored(opened.load())
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        # By the last of them codecs say that a chunk cannot be unpacked.
        raise ValueError(
            f"{path} could not be read as a run: {error}. "
            "Give a netCDF file (`attnflow export` writes one) or a zarr directory."
        ) from error


def _is_zarr(path: Path) -> bool:
    return any((path / name).is_file() for name in ("zarr.json", ".zgroup"))
