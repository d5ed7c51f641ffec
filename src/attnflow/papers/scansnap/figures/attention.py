"""Attention per class over iterations, as small bar charts."""

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from attnflow import figures
from attnflow.papers.scansnap.figures.readings import named
from attnflow.schema.dims import CLASS, SEED, TIME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ITERATIONS = (0, 2, 4, 6, 8, 10, 48)
STEPS = 100
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


def stems(rows: list[tuple[str, xr.Dataset, int]], about: str) -> "Figure":
    """Figure with a row for each (name, run, class) and a column for each iteration.

    `about` names the system and its rates in the first panel. Common tokens and the
    distinct ones of the class differ in colour; the initial attention is outlined in
    every column. Distinct tokens of classes that have no row are left out.
    """
    size = (13.2, 0.75 + 1.75 * len(rows))
    figure, grid = figures.panels(
        len(rows), len(ITERATIONS), size=size, share_values=True, share_time=True
    )
    for line, (name, run, label) in zip(grid, rows, strict=True):
        table = run["attention_per_class"].isel({SEED: 0, CLASS: label})
        masks = {"common": is_common(run), "signal": is_distinct(run, label)}
        for ax, iteration in zip(line, ITERATIONS, strict=True):
            for kind, mask in masks.items():
                _bars(ax, table.sel(time=[0, iteration]).values, mask, kind)
        line[0].set_ylabel(name)
    for ax, iteration in zip(grid[0], ITERATIONS, strict=True):
        figures.name_panel(ax, f"iteration {iteration}")
    grid[0, 0].set_ylim(0, None)
    _name_tokens(grid, rows[0][1], sorted({label for *_, label in rows}))
    figures.remark(grid[0, 0], f"{about}\nline: at the start")
    return figure


def _bars(ax: "Axes", attention: np.ndarray, mask: np.ndarray, kind: str) -> None:
    """Bars of the attention to some tokens now, and a line of that at the start."""
    theme, positions = figures.current_theme(), np.flatnonzero(mask)
    start, now = attention[:, mask]
    ax.bar(positions, now, 0.84, color=theme.colour(kind), lw=0)
    ax.step(positions, start, where="mid", color=theme.ink, lw=0.9)


def _name_tokens(grid: np.ndarray, run: xr.Dataset, labels: list[int]) -> None:
    """Label the groups of tokens on the horizontal axis."""
    groups = {"common": is_common(run)}
    groups |= {f"class {n + 1}": is_distinct(run, n) for n in labels}
    positions = [np.flatnonzero(mask) for mask in groups.values()]
    grid[0, 0].set_xlim(-1.2, max(group.max() for group in positions) + 1.2)
    for ax in grid.flat:
        ax.set_xticks([float(group.mean()) for group in positions], list(groups))
        ax.tick_params(axis="x", length=0, labelsize=9)
    grid[-1, len(ITERATIONS) // 2].set_xlabel(
        "contextual tokens: common, and distinct of each class from rare to frequent"
    )
