"""Looks into the paper's own run: its two phases, and directions in each.

Phase 1 ends at T1, from when on every sample is right.
"""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from attnflow.claims import Seeds, per_seed
from attnflow.papers.cooccurrence import stages
from attnflow.papers.cooccurrence.claims.evidence import experiment

TEN = tuple(range(200, 210))
"""Seeds that decide; predicates were shaped on 0 to 9."""
RUN = {"run": experiment(seeds=TEN)}
ONE_TARGET = ["first", "second"]

Signs = Mapping[tuple[str, str], float]
SCORES: Signs = {
    ("mu1", "mu2"): 1.0,
    ("mu2", "mu1"): 1.0,
    ("mu3", "mu1"): -1.0,
    ("mu3", "mu2"): -1.0,
}
"""Directions of Lemma 4.7, by key and query."""


def end_of_first(run: xr.Dataset) -> xr.DataArray:
    """T1 by seed, NaN where some sample is wrong at the end."""
    times = stages.all_correct(run).times
    return xr.DataArray(times, dims="seed", coords={"seed": run["seed"]})


def in_first(run: xr.Dataset) -> xr.DataArray:
    """Records of phase 1 and the first one after it; all where it does not end."""
    return ~in_second(run).shift(time=1, fill_value=False)


def in_second(run: xr.Dataset) -> xr.DataArray:
    """Records of phase 2; none where phase 1 does not end."""
    return run["time"] >= end_of_first(run)


def signed(table: xr.DataArray, signs: Signs) -> xr.DataArray:
    """Entries of a table, with signs under which the stated direction is up."""
    parts = [
        sign * table.isel(head=0, drop=True).sel(key=key, query=query, drop=True)
        for (key, query), sign in signs.items()
    ]
    names = [f"{key} {query}" for key, query in signs]
    return xr.concat(parts, xr.Variable("pair", names))


def least_step(run: xr.Dataset, series: xr.DataArray) -> xr.DataArray:
    """By seed the least step between records of phase 2, over the mean of its pair."""
    inside = in_second(run).shift(time=1, fill_value=False)
    return least_over_mean(series - series.shift(time=1), inside)


def least_over_mean(series: xr.DataArray, where: xr.DataArray) -> xr.DataArray:
    """By seed the least entry over the mean of its pair: positive where all are."""
    inside = series.where(where)
    return (inside.min("time") / abs(inside.mean("time"))).min("pair")


def by_seed(margin: xr.DataArray | np.ndarray, what: str, q: float = 0.9) -> Seeds:
    """The rule over seeds; a margin that is not known counts against the claim."""
    return per_seed(margin, what, q, strict=True)


def spread(values: xr.DataArray | np.ndarray) -> list[float]:
    """The least and the largest."""
    return [float(np.min(values)), float(np.max(values))]
