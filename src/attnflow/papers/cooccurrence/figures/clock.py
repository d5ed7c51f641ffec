"""Series on the clock b0·t, b0 being each seed's initial readout gain."""

from __future__ import annotations

import numpy as np

from attnflow.papers.cooccurrence.stages import clock
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.libraries import xr


def on_clock(run: xr.Dataset, names: tuple[str, ...]) -> xr.Dataset:
    """Series of a run with b0·t as their time, the same times for all seeds.

    Seeds differ in b0, so that each is interpolated between its records, linearly in
    log t; after a seed's last record values are NaN. Time 0 is left out.
    """
    clocks = clock(run).transpose(SEED, TIME).isel(time=slice(1, None))
    times = clocks.median(SEED).values
    is_recorded = run["recorded"].transpose(SEED, TIME).values[:, 1:]
    variables = {}
    for name in names:
        table = run[name].isel(time=slice(1, None))
        dims = [d for d in table.dims if d not in (SEED, TIME)]
        rows = table.transpose(SEED, TIME, *dims).values
        interpolated = [
            _read_off(times, clocks.values[i][is_recorded[i]], rows[i][is_recorded[i]])
            for i in range(len(rows))
        ]
        variables[name] = ((SEED, TIME, *dims), np.array(interpolated))
    coords = {name: run[name] for name in run.coords if name != TIME}
    clocked = xr.Dataset(variables, coords).assign_coords(time=times)
    first = clocked[names[0]]
    inner = [d for d in first.dims if d not in (SEED, TIME)]
    return clocked.assign(recorded=first.notnull().all(inner))


def _read_off(times: np.ndarray, clock: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows interpolated at other times; NaN outside the recorded range."""
    flat = rows.reshape(len(rows), -1)
    columns = [
        np.interp(np.log(times), np.log(clock), column, left=np.nan, right=np.nan)
        for column in flat.T
    ]
    return np.stack(columns, axis=-1).reshape(len(times), *rows.shape[1:])
