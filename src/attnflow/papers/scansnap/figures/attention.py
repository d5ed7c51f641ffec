"""Attention per class over iterations, as small bar charts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from attnflow.figures.exhibits import Bars, Panels
from attnflow.papers.scansnap.figures.readings import named
from attnflow.schema.declarations import Evidence
from attnflow.schema.dims import CLASS, SEED, TIME
from attnflow.schema.installation import xr

ITERATIONS = (0, 2, 4, 6, 8, 10, 48)
STEPS = 100
TOKENS = "contextual tokens: common, and distinct of each class from rare to frequent"
STATISTICS = {
    "entropy on distinct tokens": "distinct_entropy",
    "mass of common tokens": "common_mass",
    "share of the top distinct token": "top_share",
}


def is_distinct(run: xr.Dataset, label: int) -> np.ndarray:
    """Mask of the distinct tokens of a class."""
    suffix = f"@{label}"
    return np.array([str(token).endswith(suffix) for token in run["token"].values])


def is_common(run: xr.Dataset) -> np.ndarray:
    """Mask of the common tokens."""
    return np.array([str(token).startswith("common") for token in run["token"].values])


def favourite(run: xr.Dataset, label: int = 0) -> np.ndarray:
    """The class's distinct token with the largest attention at the end, per seed."""
    tokens = run["token"].values[is_distinct(run, label)]
    end = run["attention_per_class"].isel({CLASS: label, TIME: -1})
    return np.argmax(end.sel(token=tokens).transpose(SEED, "token").values, 1)


def numbers(run: xr.Dataset, label: int = 0) -> dict[str, dict[str, float]]:
    """Entropy, common mass and top share of a class by iteration, and at the end."""
    times = [*ITERATIONS, STEPS]
    steps = [f"iteration {time}" for time in times]
    records = run.isel({SEED: 0, CLASS: label}).sel(time=times)
    return {text: named(steps, records[name]) for text, name in STATISTICS.items()}


def _heights(
    evidence: Evidence, run: str, label: int, groups: tuple[int, ...], iteration: int
) -> xr.DataArray:
    """Attention of a class to common tokens and to its own, first seed.

    There are places for the distinct tokens of the classes in `groups`.
    """
    table = evidence[run]["attention_per_class"].isel({SEED: 0, CLASS: label})
    masks = {"common": is_common(evidence[run])}
    masks |= {f"class {n + 1}": is_distinct(evidence[run], n) for n in groups}
    names = np.select(list(masks.values()), list(masks), "")
    heights = table.sel(time=iteration).assign_coords(group=("token", names))
    own = np.isin(names, ("common", f"class {label + 1}"))
    return heights.where(own).isel(token=names != "")


def stems(rows: Mapping[str, tuple[str, int]], about: str) -> Panels:
    """A row for each (run, class), by the name of its axis, a column by iteration.

    `about` names the system and its rates. Attention at the start is outlined.
    """
    groups = tuple(sorted({label for _, label in rows.values()}))
    kinds = {"common": "common"} | {f"class {n + 1}": "signal" for n in groups}
    middle = ITERATIONS[len(ITERATIONS) // 2]
    panels = [
        Bars(
            title=f"iteration {iteration}" if axis == next(iter(rows)) else "",
            name=f"{axis}, {iteration}",
            x=TOKENS if iteration == middle else "",
            y=axis,
            of=partial(_heights, run=run, label=n, groups=groups, iteration=iteration),
            line=partial(_heights, run=run, label=n, groups=groups, iteration=0),
            kinds=kinds,
            remarks={"upper left": f"{about}\nline: at the start"}
            if (axis, iteration) == (next(iter(rows)), 0)
            else {},
        )
        for axis, (run, n) in rows.items()
        for iteration in ITERATIONS
    ]
    return Panels(
        tuple(panels),
        columns=len(ITERATIONS),
        size=(13.2, 0.75 + 1.75 * len(rows)),
        share_time=True,
        share_values=True,
        letters=False,
    )
