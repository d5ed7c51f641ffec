"""Panels shared by several figures of `mixture`: losses, neurons, scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.mixture.stages import shading
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOG2 = float(np.log(2))
KINDS = {"consistent": "consistent", "conflicting": "conflicting", "mixed": "noise"}
MAIN = {
    ("c1", "v1"): "match",
    ("c2", "v2"): "match",
    ("c1", "v2"): "mismatch",
    ("c2", "v1"): "mismatch",
}
"""The scores (key, query) that grow, by whether key and query belong together."""

ALIGNMENT = r"alignment $w_+^{\top}\mu$"
SCORE = r"score $\mu^{\top} W_K^{\top} W_Q\,\nu$"


def losses(ax: Axes, run: xr.Dataset) -> None:
    """Loss of each group of samples over time, with log 2, the loss of a guess."""
    for group in map(str, run["group"].values):
        series = f"loss_by_group[{group}]"
        figures.series(ax, run, series, kind=KINDS[group], label=group)
    figures.reference(ax, LOG2, r"$\log 2$")
    ax.set_ylim(0, 1.12 * max(LOG2, float(run["loss_by_group"].max())))
    ax.set_ylabel("loss")


def neurons(ax: Axes, run: xr.Dataset) -> None:
    """Alignments of the positive head's neuron with the tokens over time (K = 2)."""
    for token, kind, shade in NEURONS:
        series = f"value[+,{token}]"
        figures.series(ax, run, series, kind=kind, shade=shade, label=token)
    ax.set_ylabel(ALIGNMENT)


NEURONS = (
    ("v1", "class", 0),
    ("v2", "class", 1),
    ("c1", "group", 0),
    ("c2", "group", 1),
)


def scores(ax: Axes, run: xr.Dataset) -> None:
    """Scores of the positive head over time: main ones in colour, others pale."""
    figures.score_panel(ax, run, fixed={"head": "+"}, highlight=MAIN)
    ax.set_ylabel(SCORE)


def finish(ax: Axes, run: xr.Dataset, *, named: bool = True) -> None:
    """Add the time axis, shaded stages, and labels at the ends of the curves."""
    figures.time_axis(ax, run)
    figures.number_axis(ax, "y")
    edges, names = shading(run)
    figures.shade_stages(ax, edges, names if named else [""] * len(names))
    figures.label_ends(ax)


def pooled(run: xr.Dataset, observable: str, pairs: list[dict[str, str]]) -> xr.Dataset:
    """One series from several table entries with the same role, as if seeds."""
    table = run[observable].sel(head="+")
    parts = [table.sel(pair, drop=True) for pair in pairs]
    both = xr.concat(parts, "entry").stack(member=("entry", "seed"))
    series = (
        both.transpose("member", "time")
        .drop_vars(["member", "entry", "seed"])
        .rename(member="seed")
    )
    numbered = series.assign_coords(seed=np.arange(series.sizes["seed"]))
    return numbered.to_dataset(name=observable)
