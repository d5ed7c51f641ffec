"""The noise token that attention ends on, for samples with several noise tokens.

Noise tokens of a sample compete, and one wins: the paper's a_i (Appendix B.4), to which
a signal query attends most after training. Stages are those of this token.
"""

from __future__ import annotations

import numpy as np

from attnflow import schema
from attnflow.papers.signgd.stages import series
from attnflow.schema.dims import HEAD, KEY_POSITION, SAMPLE, SEED, TOKEN
from attnflow.schema.installation import xr

TABLES = ("value", "key_neuron", "query_neuron")


def is_long(run: xr.Dataset) -> bool:
    """Whether samples have more than one noise token."""
    return series.noise_count(run) > 1


def winners(run: xr.Dataset) -> xr.DataArray:
    """The index, among a sample's noise tokens, of the one that attention ends on.

    By the attention of the first signal at the last record, averaged over heads.

    **Returns:** dims `seed`, `sample`.
    """
    last = schema.last(run, "attention").mean(HEAD)
    noises = slice(-series.noise_count(run), None)
    paid = last.isel(query_position=0, key_position=noises)
    return paid.argmax(KEY_POSITION)


def with_attended_noise(run: xr.Dataset) -> xr.Dataset:
    """The run with one noise token per sample, `noise1`, …: the one it ends on."""
    index = winners(run)
    first = xr.DataArray(np.arange(index.sizes[SAMPLE]), dims=SAMPLE)
    index = first * series.noise_count(run) + index
    names = [f"noise{i + 1}" for i in range(index.sizes[SAMPLE])]
    other_names = [str(name) for name in run.data_vars if TOKEN not in run[name].dims]
    tables = {
        name: _select_noise(run[name], index, names) for name in TABLES if name in run
    }
    return run[other_names].assign(tables)


def _select_noise(
    table: xr.DataArray, index_of_sample: xr.DataArray, names: list[str]
) -> xr.DataArray:
    noise = table.isel(token=slice(1, None)).drop_vars(TOKEN)
    seeds = xr.DataArray(np.arange(index_of_sample.sizes[SEED]), dims=SEED)
    index = index_of_sample.drop_vars([str(c) for c in index_of_sample.coords])
    selected = noise.isel(seed=seeds, token=index).rename({SAMPLE: TOKEN})
    selected = selected.assign_coords({TOKEN: names}).transpose(*table.dims)
    return xr.concat([table.isel(token=[0]), selected], TOKEN)
