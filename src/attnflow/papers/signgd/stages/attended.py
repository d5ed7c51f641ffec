"""Longer samples: of each sample the noise token that attention ends on.

Where a sample has several noise tokens they compete, and one wins: the paper's a_i, the
largest of a signal's attention after training. Stages are those of this token.
"""

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.papers.signgd.stages import series
from attnflow.schema.dims import HEAD, KEY_POSITION, SAMPLE, SEED, TOKEN

TABLES = ("value", "key_neuron", "query_neuron")


def is_long(run: xr.Dataset) -> bool:
    """Whether samples have more noise tokens than one."""
    return series.noise_count(run) > 1


def winners(run: xr.Dataset) -> xr.DataArray:
    """Which of its noise tokens each sample ends on, counted from 0.

    By the attention of the first signal at the last record, in the mean over heads.

    **Returns:** dims `seed`, `sample`.
    """
    last = schema.last(run, "attention").mean(HEAD)
    noises = slice(-series.noise_count(run), None)
    found = last.isel(query_position=0, key_position=noises)
    return found.argmax(KEY_POSITION)


def attended(run: xr.Dataset) -> xr.Dataset:
    """The run with one noise token in each sample, `noise1`, …: the one it ends on."""
    place = winners(run)
    first = xr.DataArray(np.arange(place.sizes[SAMPLE]), dims=SAMPLE)
    place = first * series.noise_count(run) + place
    names = [f"noise{i + 1}" for i in range(place.sizes[SAMPLE])]
    kept = [str(name) for name in run.data_vars if TOKEN not in run[name].dims]
    tables = {name: _picked(run[name], place, names) for name in TABLES if name in run}
    return run[kept].assign(tables)


def _picked(table: xr.DataArray, place: xr.DataArray, names: list[str]) -> xr.DataArray:
    noise = table.isel(token=slice(1, None)).drop_vars(TOKEN)
    seeds = xr.DataArray(np.arange(place.sizes[SEED]), dims=SEED)
    index = place.drop_vars([str(c) for c in place.coords])
    own = noise.isel(seed=seeds, token=index).rename({SAMPLE: TOKEN})
    own = own.assign_coords({TOKEN: names}).transpose(*table.dims)
    return xr.concat([table.isel(token=[0]), own], TOKEN)
