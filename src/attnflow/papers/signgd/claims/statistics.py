"""Statistics that claims share: formulas by seed, records at a time, ladders."""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims import Evidence, Ladder
from attnflow.claims import per_seed as per_seed
from attnflow.claims.stages import Event
from attnflow.papers.signgd.sizes import Sizes, sizes
from attnflow.papers.signgd.stages import clock_of, formulas, series
from attnflow.schema.dims import SEED, TIME

Statistic: TypeAlias = Callable[[xr.Dataset], np.ndarray | xr.DataArray]
"""A function from a run to one number for each seed."""
EARLY = ("T1", "T2_SGN", "T2", "T3")


def sizes_of(run: xr.Dataset) -> Sizes:
    """The sizes of a run, from its setting."""
    return sizes(schema.setting_of(run))


def on_clock(run: xr.Dataset) -> xr.Dataset:
    """The run with its time axis in units of the first learning rate."""
    clock = clock_of(run[TIME].values, sizes_of(run).growth)
    return run.assign_coords({TIME: clock})


def formula(run: xr.Dataset, name: str) -> xr.DataArray:
    """A formula of the paper on the clock, at the initial weights of each seed."""
    if name not in EARLY:
        return _constant(run, formulas.late(sizes_of(run))[name].time)
    noise, signal = series.largest_initial(run)
    times = [
        formulas.early(
            sizes_of(run), noise=float(beta_noise), signal=float(beta_signal)
        )[name].time
        for beta_noise, beta_signal in zip(noise.values, signal.values, strict=True)
    ]
    return noise.copy(data=np.array(times, float))


def at(run: xr.Dataset, clock: xr.DataArray | float) -> xr.Dataset:
    """The record of each seed that is nearest to a time on the clock."""
    when = clock if isinstance(clock, xr.DataArray) else _constant(run, clock)
    return on_clock(run).sel(time=when, method="nearest").drop_vars(TIME)


def between(run: xr.Dataset, low: xr.DataArray, high: xr.DataArray) -> xr.DataArray:
    """A mask of the records between two times on the clock, by seed and time."""
    clock = clock_of(run[TIME].values, sizes_of(run).growth)
    times = run[TIME].copy(data=clock)
    return (times >= low) & (times <= high)


def moves(table: xr.DataArray) -> xr.DataArray:
    """The change from each record to the next, at the time of the earlier one."""
    return table.shift({TIME: -1}) - table


def when(run: xr.Dataset, event: Event) -> xr.DataArray:
    """The times of an event on the clock, by seed; NaN where there is none."""
    clock = clock_of(event.times, sizes_of(run).growth)
    return xr.DataArray(clock, dims=SEED, coords={SEED: run[SEED]})


def extent(values: xr.DataArray | np.ndarray) -> list[float]:
    """The smallest and the largest value, for printing."""
    return [float(np.min(values)), float(np.max(values))]


def climb(
    evidence: Evidence,
    statistic: Statistic,
    what: str,
    *,
    kind: Literal["theta", "O", "Omega", "o(1)"] = "o(1)",
    size: str = "support",
) -> Ladder:
    """A ladder over one of the sizes: on each rung, the median of a run's seeds.

    Rungs share their random draws, so that seeds are not independent points.
    """
    rungs = sorted(
        (float(schema.setting_of(run)[size]), float(np.median(statistic(run))))
        for run in evidence.values()
    )
    rung_sizes, medians = zip(*rungs, strict=True)
    seeds = min(run.sizes[SEED] for run in evidence.values())
    return Ladder(rung_sizes, medians, kind, what, constant=3.0, seeds=seeds)


def but_for(evidence: Evidence, name: str) -> dict[str, xr.Dataset]:
    """The evidence without the named run."""
    return {key: run for key, run in evidence.items() if key != name}


def largest_from_half(attention: xr.DataArray) -> np.ndarray:
    """The largest |s − 1/2| over all dims but seeds."""
    away = abs(attention - 0.5)
    return away.max([d for d in away.dims if d != SEED]).values


def along(evidence: Evidence, statistic: Statistic) -> dict[str, list[float]]:
    """The smallest and the largest value over seeds in each run, for printing."""
    return {name: extent(np.asarray(statistic(run))) for name, run in evidence.items()}


def _constant(run: xr.Dataset, value: float | None) -> xr.DataArray:
    filled = np.full(run.sizes[SEED], np.nan if value is None else value)
    return xr.DataArray(filled, dims=SEED, coords={SEED: run[SEED]})
