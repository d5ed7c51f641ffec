"""Attention per class over iterations, as small bar charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.scansnap.figures.panels import named, remark
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ITERATIONS = (0, 2, 4, 6, 8, 10, 48)
STEPS = 100


def attention(run: xr.Dataset, iteration: float, label: int = 0) -> xr.DataArray:
    """Attention c_n over contextual tokens at an iteration, first seed."""
    selection = {SEED: 0, "class": label}
    return run["attention_per_class"].isel(selection).sel(time=iteration)


def is_distinct(run: xr.Dataset, label: int) -> np.ndarray:
    """Mask of the distinct tokens of a class."""
    suffix = f"@{label}"
    return np.array([str(token).endswith(suffix) for token in run["token"].values])


def is_common(run: xr.Dataset) -> np.ndarray:
    """Mask of the common tokens."""
    return np.array([str(token).startswith("common") for token in run["token"].values])


def stems(rows: list[tuple[str, xr.Dataset, int]], about: str) -> Figure:
    """Figure with a row for each (name, run, class) and a column for each iteration.

    `about` names the system and its rates in the first panel. Common tokens and the
    distinct ones of the class differ in colour; the initial attention is outlined in
    every column. Distinct tokens of classes that have no row are left out.
    """
    size = (13.2, 0.75 + 1.75 * len(rows))
    figure, grid = figures.panels(
        len(rows), len(ITERATIONS), size=size, share_values=True, share_time=True
    )
    labels = sorted({label for _, _, label in rows})
    top = max(
        float(_attention_by_iteration(run, label).max()) for _, run, label in rows
    )
    for index, (name, run, label) in enumerate(rows):
        for ax, iteration in zip(grid[index], ITERATIONS, strict=True):
            _stem(ax, run, iteration, label)
            if index == 0:
                figures.name_panel(ax, f"iteration {iteration}")
        grid[index, 0].set_ylabel(name)
    grid[0, 0].set_ylim(0, 1.04 * top)
    _name_tokens(grid, rows[0][1], labels)
    remark(grid[0, 0], (0.04, 0.97), f"{about}\nline: at the start")
    return figure


def _attention_by_iteration(run: xr.Dataset, label: int) -> np.ndarray:
    """Attention at the iterations that are drawn."""
    return np.array([attention(run, iteration, label) for iteration in ITERATIONS])


def _stem(ax: Axes, run: xr.Dataset, iteration: int, label: int) -> None:
    theme = figures.current_theme()
    now = attention(run, iteration, label).values
    start = attention(run, 0, label).values
    positions = np.arange(len(now))
    for kind, mask in {
        "common": is_common(run),
        "signal": is_distinct(run, label),
    }.items():
        ax.bar(positions[mask], now[mask], 0.84, color=theme.colour(kind), lw=0)
        ax.step(positions[mask], start[mask], where="mid", color=theme.ink, lw=0.9)


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


def numbers(run: xr.Dataset, label: int = 0) -> dict[str, dict[str, float]]:
    """Entropy, common mass and top share of a class by iteration, and at the end."""
    records = run.isel({SEED: 0, "class": label})
    times = [*ITERATIONS, STEPS]
    steps = [f"iteration {time}" for time in times]
    records = records.sel(time=times)
    names = {
        "entropy on distinct tokens": "distinct_entropy",
        "mass of common tokens": "common_mass",
        "share of the top distinct token": "top_share",
    }
    return {text: named(steps, records[name].values) for text, name in names.items()}


def favourite(run: xr.Dataset, label: int = 0) -> np.ndarray:
    """The class's distinct token with the largest attention at the end, per seed."""
    tokens = run["token"].values[is_distinct(run, label)]
    end = run["attention_per_class"].isel({"class": label, TIME: -1})
    return np.argmax(end.sel(token=tokens).transpose(SEED, "token").values, 1)
