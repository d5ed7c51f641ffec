"""Changes of a run, under which what is seen in a figure must vanish."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import xarray as xr

Indexer = slice | Sequence[int] | npt.NDArray[np.integer]


def replaced(
    run: xr.Dataset, change: Callable[[xr.DataArray], xr.DataArray], *names: str
) -> xr.Dataset:
    """Some observables changed, in the records and at the ends."""
    both = [n for name in names for n in (name, f"{name}_at_end") if n in run]
    return run.assign({name: change(run[name]) for name in both})


def frozen(run: xr.Dataset) -> xr.Dataset:
    """Mutation to a frozen run: every record, and the end, is the first record."""
    if "time" not in run.dims:
        return run
    changed = run.copy(deep=True)
    for name in map(str, run.data_vars):
        if "time" in run[name].dims and name != "recorded":
            first = run[name].isel(time=0, drop=True)
            for variable in {name, f"{name}_at_end"} & set(run.data_vars):
                rows = first.broadcast_like(run[variable])
                changed[variable] = rows.transpose(*run[variable].dims)
    return changed


def another_clock(run: xr.Dataset) -> xr.Dataset:
    """Events in the same order, at other times."""
    if "time" not in run.dims:
        return run
    ends = ("end_time", "stage_start", "stage_end")
    times = {name: np.sqrt(run[name]) for name in ends if name in run}
    return run.assign(times).assign_coords(time=np.sqrt(run["time"]))


def reordered(run: xr.Dataset, name: str, **order: Indexer) -> xr.Dataset:
    """An observable with its values in another order along a dimension."""
    if name not in run or not set(order) <= set(run[name].dims):
        return run
    return run.assign({name: run[name].copy(data=run[name].isel(order).values)})
