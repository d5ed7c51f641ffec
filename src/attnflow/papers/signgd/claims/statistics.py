"""Statistics that claims share: formulas by seed, records and masks on the clock."""

from __future__ import annotations

import numpy as np

from attnflow import schema
from attnflow.claims import look
from attnflow.claims.stages import Event
from attnflow.papers.signgd.sizes import Sizes, sizes
from attnflow.papers.signgd.stages import clock_of, formulas, series
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr

TABLES = ("query_neuron", "key_neuron")
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
        time = formulas.late(sizes_of(run))[name].time
        return look.by_seed(run, np.nan if time is None else time)
    noise, signal = series.largest_initial(run)
    times = [
        formulas.early(sizes_of(run), noise=float(xi), signal=float(mu))[name].time
        for xi, mu in zip(noise.values, signal.values, strict=True)
    ]
    return look.by_seed(run, np.array(times, float))


def at(run: xr.Dataset, clock: look.Times, *names: str) -> xr.Dataset:
    """The records nearest to a time on the clock; NaN where the run ends before it."""
    return look.at(on_clock(run[[*names, "recorded"]]), clock, how="nearest")


def between(run: xr.Dataset, low: look.Times, high: look.Times) -> xr.DataArray:
    """The mask of records between two times on the clock, with times on the clock."""
    return look.between(on_clock(run), low, high)


def when(run: xr.Dataset, event: Event) -> xr.DataArray:
    """The times of an event on the clock, by seed; NaN where there is none."""
    return look.by_seed(run, clock_of(event.times, sizes_of(run).growth))


def both(run: xr.Dataset, kind: str) -> xr.DataArray:
    """Query and key inner products with noise, or with the signal, as one table."""
    select = {"noise": series.noise, "signal": series.signal}[kind]
    return xr.concat([select(run, name) for name in TABLES], "table")


def share_among(product: xr.DataArray, among: xr.DataArray) -> xr.DataArray:
    """The fraction of positive products among some pairs; NaN where one is unknown."""
    share = (product > 0).where(among).mean(series.PAIR)
    return share.where((product.notnull() | ~among).all(series.PAIR))


def by_rest(table: xr.DataArray) -> list[str]:
    """The dims of a table but for the seeds."""
    return [str(dim) for dim in table.dims if dim != SEED]
