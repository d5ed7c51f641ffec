"""The two phases of the paper's experiment, and directions of change in each.

Phase 1 ends at T1, from which on every sample is classified correctly.
"""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from attnflow.claims import Seeds, per_seed
from attnflow.papers.cooccurrence import stages
from attnflow.papers.cooccurrence.claims.evidence import experiment

TEN = tuple(range(200, 210))
"""Seeds on which claims are judged; predicates were chosen on seeds 0 to 9."""
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
    """T1 by seed, NaN where some sample is misclassified at the end."""
    times = stages.all_correct(run).times
    return xr.DataArray(times, dims="seed", coords={"seed": run["seed"]})


def in_first(run: xr.Dataset) -> xr.DataArray:
    """Mask of phase 1 and the first record after it; all where it does not end."""
    return ~in_second(run).shift(time=1, fill_value=False)


def in_second(run: xr.Dataset) -> xr.DataArray:
    """Mask of phase 2; empty where phase 1 does not end."""
    return run["time"] >= end_of_first(run)


def signed(table: xr.DataArray, signs: Signs) -> xr.DataArray:
    """Entries of a table, times signs that make the stated direction positive."""
    parts = [
        sign * table.isel(head=0, drop=True).sel(key=key, query=query, drop=True)
        for (key, query), sign in signs.items()
    ]
    names = [f"{key} {query}" for key, query in signs]
    return xr.concat(parts, xr.Variable("pair", names))


def least_step(run: xr.Dataset, series: xr.DataArray) -> xr.DataArray:
    """Least step between records of phase 2 over the mean of its pair, by seed."""
    inside = in_second(run).shift(time=1, fill_value=False)
    return least_over_mean(series - series.shift(time=1), inside)


def least_over_mean(series: xr.DataArray, where: xr.DataArray) -> xr.DataArray:
    """Least entry over the mean of its pair, by seed; positive where all are."""
    inside = series.where(where)
    return (inside.min("time") / abs(inside.mean("time"))).min("pair")


def by_seed(margin: xr.DataArray | np.ndarray, what: str, q: float = 0.9) -> Seeds:
    """Check over seeds; an unknown margin counts against the claim."""
    return per_seed(margin, what, q, strict=True)


def spread(values: xr.DataArray | np.ndarray) -> list[float]:
    """Smallest and largest value."""
    return [float(np.min(values)), float(np.max(values))]
