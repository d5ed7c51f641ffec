"""Figure 4: all sixteen scores of the positive head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.mixture.figures.panels import MAIN
from attnflow.papers.mixture.figures.runs import FINITE, SILENT_TRAINING, Numbers
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(evidence: Evidence) -> Figure:
    """A grid of all scores over time: one row per key, one column per query."""
    return figures.score_grid(evidence["run"], fixed={"head": "+"}, kinds=MAIN)


def _last(evidence: Evidence) -> xr.DataArray:
    return evidence["run"]["score_at_end"].isel(stage=-1).sel(head="+")


def values(evidence: Evidence) -> Numbers:
    """Final scores, median over seeds: key → query → score."""
    last = _last(evidence).median("seed")
    queries = [str(name) for name in last["query"].values]
    return {
        f"key {key}": dict(zip(queries, last.sel(key=key).values.tolist(), strict=True))
        for key in map(str, last["key"].values)
    }


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether the main scores have the right signs and dominate."""
    last = _last(evidence)
    main = np.stack([last.sel(key=k, query=q).values for k, q in MAIN])
    signs = np.array([1.0 if kind == "match" else -1.0 for kind in MAIN.values()])
    others = np.abs(_without(last)).max(axis=0)
    return {
        "scores of c1, v1 and c2, v2 are positive, of c1, v2 and c2, v1 negative": bool(
            (main * signs[:, None] > 0).all()
        ),
        "each of them is more than twice every other score": bool(
            (np.abs(main).min(axis=0) > 2 * others).all()
        ),
    }


def _without(last: xr.DataArray) -> np.ndarray:
    """Scores other than the main ones, (pair, seed)."""
    pairs = [
        (str(key), str(query))
        for key in last["key"].values
        for query in last["query"].values
    ]
    rest = [pair for pair in pairs if pair not in MAIN]
    return np.stack([last.sel(key=k, query=q).values for k, q in rest])


FIGURE4 = Exhibit(
    id="figure4",
    kind="figure",
    title="Figure 4: all scores of the positive head",
    caption=(
        "The runs of Figure 1. Of the sixteen scores four grow large: those of a group "
        "token as key and a class token as query."
    ),
    needs={"run": FINITE},
    draw=draw,
    values=values,
    checks=checks,
    silent=SILENT_TRAINING,
)
