"""Statistics of runs that claims of `scansnap` share: scores, entropies, favourites."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase

import numpy as np

from attnflow import schema
from attnflow.claims import Evidence
from attnflow.papers.scansnap.stages.formulas import classes_of
from attnflow.schema.dims import CLASS, SEED, TIME
from attnflow.schema.installation import xr

COMMON = "common0"
TOP = "distinct9@0"
"""The most frequent distinct token of the first class."""


def score(run: xr.Dataset, token: str) -> xr.DataArray:
    """A token's score with the first query, by seed and time."""
    return run["score"].isel(query=0).sel(token=token, drop=True)


def last(table: xr.DataArray) -> xr.DataArray:
    """The values at the last record; NaN where a run did not come so far."""
    return table.isel({TIME: -1}, drop=True)


def entropy(run: xr.Dataset) -> xr.DataArray:
    """H(DT), the mean entropy among distinct tokens, at the last record."""
    return last(run["mean_distinct_entropy"])


def velocities(run: xr.Dataset, kind: str) -> xr.DataArray:
    """Velocities of the tokens whose names begin with `kind`, after time 0.

    Over the largest of any token at the time, since all of them die out.
    """
    names = [t for t in map(str, run["token"].values) if t.startswith(kind)]
    velocity = run["score_velocity"].isel({"query": 0, TIME: slice(1, None)})
    return velocity.sel(token=names) / abs(velocity).max("token", skipna=False)


def classes(run: xr.Dataset) -> int:
    """Number of classes K of a run."""
    return classes_of(schema.setting_of(run))


def units(run: xr.Dataset) -> float:
    """K/η_Y of a run."""
    return classes(run) / schema.setting_of(run)["value_rate"]


def by_run(
    measure: Callable[[xr.Dataset], xr.DataArray | np.ndarray], pattern: str = "*"
) -> Callable[[Evidence], dict[str, float]]:
    """The median of a measure over seeds, by run, for printing."""

    def numbers(evidence: Evidence) -> dict[str, float]:
        return {
            name: float(np.median(measure(run)))
            for name, run in evidence.items()
            if fnmatchcase(name, pattern)
        }

    return numbers


def reordered(evidence: Evidence) -> Evidence:
    """The runs in reverse order under the settings that they had."""
    pairs = zip(evidence.items(), reversed(list(evidence.values())), strict=True)
    return {
        name: other.assign_attrs(setting=run.attrs["setting"])
        for (name, run), other in pairs
    }


def favourites(run: xr.Dataset, time: int) -> xr.DataArray:
    """Index of the most attended distinct token at a record, by seed and class."""
    attention = run["attention_per_class"].isel({TIME: time}, drop=True)
    names = [str(t) for t in attention["token"].values if str(t).startswith("distinct")]
    by_class = []
    for n in range(attention.sizes[CLASS]):
        tokens = [token for token in names if token.endswith(f"@{n}")]
        shares = attention.isel({CLASS: n}, drop=True).sel(token=tokens)
        index = shares.fillna(-1.0).argmax("token")
        by_class.append(
            index.where(shares.notnull().all("token")).drop_vars(
                "token", errors="ignore"
            )
        )
    return xr.concat(by_class, CLASS).transpose(SEED, CLASS)
