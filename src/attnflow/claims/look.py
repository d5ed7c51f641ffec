"""Values of a run at times, between times and from record to record.

What is not known stays unknown: a time that was never reached has no value, and one
unknown record makes a maximum unknown. A mask says which records are meant; it is not
a way to leave out records that are not known.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, overload

import numpy as np

from attnflow.claims.stages.events import Event
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr

How = Literal["before", "nearest", "linear"]
Closed = Literal["both", "left", "right", "neither"]
Times: TypeAlias = "float | np.ndarray | xr.DataArray | Event"
"""A time for all seeds, one for each, or the event that happens then."""
# The end of a run is the sum of its steps, rounded.
_ROUNDING = 1e-12


def by_seed(run: xr.Dataset, times: Times) -> xr.DataArray:
    """Times over the run's seeds; NaN where an event did not happen."""
    if isinstance(times, Event):
        times = times.times
    numbers = np.broadcast_to(np.asarray(times, float), (run.sizes[SEED],))
    return xr.DataArray(numbers, dims=SEED, coords={SEED: run[SEED]})


def recorded(run: xr.Dataset) -> xr.DataArray:
    """The mask of records that were computed, dims `seed` and `time`."""
    if "recorded" in run:
        return run["recorded"].astype(bool)
    ones = np.ones((run.sizes[SEED], run.sizes[TIME]), bool)
    coords = {SEED: run[SEED], TIME: run[TIME]}
    return xr.DataArray(ones, dims=(SEED, TIME), coords=coords)


def ends(run: xr.Dataset) -> xr.DataArray:
    """The time up to which each seed is known, which may lie after its last record."""
    last = run[TIME].where(recorded(run)).max(TIME)
    # Not through `run[…]`: there, trials record which variables the judge itself reads.
    end = run.variables.get("end_time")
    if end is None:
        return last
    return last.copy(data=np.fmax(end.values, last.values))


@overload
def at(
    run: xr.Dataset, times: Times, of: str | xr.DataArray, *, how: How = "before"
) -> xr.DataArray: ...


@overload
def at(
    run: xr.Dataset, times: Times, of: None = None, *, how: How = "before"
) -> xr.Dataset: ...


def at(
    run: xr.Dataset,
    times: Times,
    of: str | xr.DataArray | None = None,
    *,
    how: How = "before",
) -> xr.DataArray | xr.Dataset:
    """Values at a time, NaN where the run does not reach it.

    **Arguments:**

    - `times`: for all seeds or for each; NaN gives NaN.
    - `of`: a variable, or a table of the run; all variables along time without it.
    - `how`: the last record up to the time (`before`), the `nearest` one, or `linear`
      interpolation between the two records around it.

    For example, `at(run, first_crossing(run, "loss", level=0.1), "accuracy")`.
    """
    when = by_seed(run, times)
    reached = (when <= ends(run) * (1 + _ROUNDING)) & (when >= run[TIME][0])
    if isinstance(of, str):
        of = run[of]
    table = of if of is not None else _along_time(run)
    index = _indices(run, when)
    if how == "before":
        return table.isel({TIME: index}).where(reached)
    after = (index + 1).clip(max=run.sizes[TIME] - 1)
    is_known = recorded(run).isel({TIME: after}) & (after > index)
    share = (when - run[TIME][index]) / (run[TIME][after] - run[TIME][index])
    if how == "nearest":
        later = is_known & (share > 0.5)
        return table.isel({TIME: xr.where(later, after, index)}).where(reached)
    # Exactly on a record nothing is interpolated; after the last record there is no
    # second point.
    share = xr.where(run[TIME][index] == when, 0.0, share.where(is_known))
    first, second = table.isel({TIME: index}), table.isel({TIME: after})
    first, second = (part.drop_vars(TIME) for part in (first, second))
    mixed = first + xr.where(share == 0.0, 0.0, second - first) * share
    return mixed.where(reached)


def _along_time(run: xr.Dataset) -> xr.Dataset:
    """The variables with numbers along time, as floats, which can be NaN."""
    names = [
        name
        for name, table in run.data_vars.items()
        if TIME in table.dims and table.dtype.kind in "fiub"
    ]
    return run[names].astype(float)


def _indices(run: xr.Dataset, when: xr.DataArray) -> xr.DataArray:
    """The last record of each seed up to its time; the first where there is none."""
    upto = recorded(run) & (run[TIME] <= when * (1 + _ROUNDING))
    rows = np.arange(run.sizes[TIME])
    last = (upto * xr.DataArray(rows, dims=TIME)).max(TIME)
    return last.astype(int)


def between(
    run: xr.Dataset, low: Times, high: Times, *, closed: Closed = "both"
) -> xr.DataArray:
    """The mask of records between two times, dims `seed` and `time`.

    It is empty where a time is NaN, or where the run ends before `high`; `inf` means
    up to the run's end.
    """
    first, last = by_seed(run, low), by_seed(run, high)
    end = ends(run)
    reached = np.isinf(last) | (last <= end * (1 + _ROUNDING))
    time = run[TIME]
    after = time >= first if closed in ("both", "left") else time > first
    before = time <= last if closed in ("both", "right") else time < last
    return (after & before & reached & recorded(run)).transpose(SEED, TIME)


def steps(table: xr.DataArray) -> xr.DataArray:
    """The change from each record to the next, labelled by the earlier one."""
    return table.diff(TIME, label="lower")


def both(mask: xr.DataArray) -> xr.DataArray:
    """The mask for steps: those both of whose records are in the mask."""
    return mask.isel({TIME: slice(None, -1)}) & mask.shift(
        {TIME: -1}, fill_value=False
    ).isel({TIME: slice(None, -1)})


def least(table: xr.DataArray, when: xr.DataArray | None = None) -> np.ndarray:
    """The least entry of each seed inside a mask; NaN where one is, or none is there.

    A table without seeds counts as one seed.
    """
    numbers = table.astype(float)
    mask = xr.ones_like(numbers, bool) if when is None else when
    numbers, mask = xr.broadcast(*xr.align(numbers, mask, join="inner"))
    dims = [dim for dim in numbers.dims if dim != SEED]
    order = [*([SEED] if SEED in numbers.dims else []), *dims]
    count = numbers.sizes.get(SEED, 1)
    values = numbers.transpose(*order).values.reshape(count, -1)
    inside = mask.transpose(*order).values.reshape(count, -1)
    smallest = np.where(inside, values, np.inf).min(axis=1, initial=np.inf)
    return np.where(inside.any(axis=1), smallest, np.nan)


def largest(table: xr.DataArray, when: xr.DataArray | None = None) -> np.ndarray:
    """The largest entry of each seed inside a mask; see `least`."""
    return -least(-table.astype(float), when)


def extent(values: np.ndarray | xr.DataArray) -> list[float]:
    """Least, median and largest, for printing; NaN where one is."""
    numbers = np.asarray(values, float)
    return [float(f(numbers)) for f in (np.min, np.median, np.max)]
