"""Runs on the clock b0·t, b0 each seed's own readout gain at the start."""

import numpy as np
import xarray as xr

from attnflow.papers.cooccurrence.claims import evidence
from attnflow.schema.dims import SEED, TIME


def on_clock(run: xr.Dataset, names: tuple[str, ...]) -> xr.Dataset:
    """Some series of a run with b0·t as their time, the same times for all seeds.

    Seeds differ in b0, so that each is read off between its records, along lines over
    log t; beyond a seed's last record nothing is recorded. Time 0 is left out.
    """
    own = evidence.clock(run).transpose(SEED, TIME).isel(time=slice(1, None))
    times = own.median(SEED).values
    kept = run["recorded"].transpose(SEED, TIME).values[:, 1:]
    found = {}
    for name in names:
        table = run[name].isel(time=slice(1, None))
        dims = [d for d in table.dims if d not in (SEED, TIME)]
        rows = table.transpose(SEED, TIME, *dims).values
        moved = [
            _read_off(times, own.values[i][kept[i]], rows[i][kept[i]])
            for i in range(len(rows))
        ]
        found[name] = ((SEED, TIME, *dims), np.array(moved))
    coords = {name: run[name] for name in run.coords if name != TIME}
    made = xr.Dataset(found, coords).assign_coords(time=times)
    first = made[names[0]]
    inner = [d for d in first.dims if d not in (SEED, TIME)]
    return made.assign(recorded=first.notnull().all(inner))


def _read_off(times: np.ndarray, clock: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows at other times; NaN outside of what was recorded."""
    flat = rows.reshape(len(rows), -1)
    columns = [
        np.interp(np.log(times), np.log(clock), column, left=np.nan, right=np.nan)
        for column in flat.T
    ]
    return np.stack(columns, axis=-1).reshape(len(times), *rows.shape[1:])
