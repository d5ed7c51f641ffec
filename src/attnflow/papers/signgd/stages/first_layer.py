"""The first layer of a deeper model, and when its gradients lose their signs."""

from __future__ import annotations

from attnflow.claims.stages import Event, settled
from attnflow.schema.dims import TIME
from attnflow.schema.installation import xr


def first_layer(run: xr.Dataset) -> xr.Dataset:
    """The run with observables of the first layer only, like a shallow model's."""
    return run.sel(layer="1", drop=True)


def lost_signs(run: xr.Dataset) -> xr.DataArray:
    """The fraction of first-layer key and query weights whose gradient became zero.

    Of those with a non-zero gradient at the start: weights of coordinates that no
    sample covers never have one. SignGD moves all others by the learning rate, so that
    the mean |update| is η times the remaining fraction. `run` is a `first_layer`.
    """
    zero = run["zero_signs"]
    start = zero.isel({TIME: 0}, drop=True)
    return ((zero - start) / (1 - start)).clip(min=0.0)


def signs_end(run: xr.Dataset, share: float = 0.9) -> Event:
    """The time from which this fraction of signs is lost; `run` is a `first_layer`."""
    return settled(run, lost_signs(run), level=share, name="signs end")
