"""The first layer of a deeper network, in the shape of a shallow one."""

import xarray as xr

from attnflow.claims.stages import Event, settled
from attnflow.schema.dims import TIME


def first_layer(run: xr.Dataset) -> xr.Dataset:
    """The run without what its other layers do."""
    return run.sel(layer="1", drop=True)


def lost_signs(run: xr.Dataset) -> xr.DataArray:
    """The share of first-layer key and query weights whose gradient became zero.

    Of those that had a gradient at the start: where no sample has a coordinate, its
    weights never have one. SignGD moves what is left by the learning rate, so that
    mean |update| is η times the rest. The run is that of the first layer alone.
    """
    zero = run["zero_signs"]
    start = zero.isel({TIME: 0}, drop=True)
    return ((zero - start) / (1 - start)).clip(min=0.0)


def signs_end(run: xr.Dataset, share: float = 0.9) -> Event:
    """From when on so many of the signs are lost, of a run of the first layer."""
    return settled(run, lost_signs(run), level=share, name="signs end")
