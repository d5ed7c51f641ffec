"""Attention per class over iterations, as small panels of stems."""

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from attnflow import figures
from attnflow.papers.scansnap.figures.panels import named, remark
from attnflow.schema.dims import SEED, TIME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ITERATIONS = (0, 2, 4, 6, 8, 10, 48)
STEPS = 100


def attention(run: xr.Dataset, iteration: float, label: int = 0) -> xr.DataArray:
    """c_n over contextual tokens at an iteration; of the first seed."""
    picked = {SEED: 0, "class": label}
    return run["attention_per_class"].isel(picked).sel(time=iteration)


def kinds(run: xr.Dataset, label: int) -> np.ndarray:
    """Which tokens are distinct of a class, as booleans."""
    wanted = f"@{label}"
    return np.array([str(token).endswith(wanted) for token in run["token"].values])


def common(run: xr.Dataset) -> np.ndarray:
    """Which tokens are common, as booleans."""
    return np.array([str(token).startswith("common") for token in run["token"].values])


def stems(rows: list[tuple[str, xr.Dataset, int]], about: str) -> "Figure":
    """A row for each (name, run, class), a column for each iteration.

    `about` says in the first panel of which system it is, with which rates. Common
    tokens and the class's own have colours of their own; the attention at the
    start is outlined in front of each later one. Of other classes' tokens, those are
    left out that no row is about.
    """
    size = (13.2, 0.75 + 1.75 * len(rows))
    figure, grid = figures.panels(
        len(rows), len(ITERATIONS), size=size, share_values=True, share_time=True
    )
    labels = sorted({label for _, _, label in rows})
    top = max(float(_shown(run, label).max()) for _, run, label in rows)
    for place, (name, run, label) in enumerate(rows):
        for ax, iteration in zip(grid[place], ITERATIONS, strict=True):
            _stem(ax, run, iteration, label)
            if place == 0:
                figures.name_panel(ax, f"iteration {iteration}")
        grid[place, 0].set_ylabel(name)
    grid[0, 0].set_ylim(0, 1.04 * top)
    _name_tokens(grid, rows[0][1], labels)
    remark(grid[0, 0], (0.04, 0.97), f"{about}\nline: at the start")
    return figure


def _shown(run: xr.Dataset, label: int) -> np.ndarray:
    """Attention at all iterations that are shown."""
    return np.array([attention(run, iteration, label) for iteration in ITERATIONS])


def _stem(ax: "Axes", run: xr.Dataset, iteration: int, label: int) -> None:
    theme = figures.current_theme()
    now = attention(run, iteration, label).values
    start = attention(run, 0, label).values
    place = np.arange(len(now))
    for kind, chosen in {"common": common(run), "signal": kinds(run, label)}.items():
        ax.bar(place[chosen], now[chosen], 0.84, color=theme.colour(kind), lw=0)
        ax.step(place[chosen], start[chosen], where="mid", color=theme.ink, lw=0.9)


def _name_tokens(grid: np.ndarray, run: xr.Dataset, labels: list[int]) -> None:
    """Groups of tokens below the last row."""
    groups = {"common": common(run)}
    groups |= {f"class {n + 1}": kinds(run, n) for n in labels}
    places = [np.flatnonzero(chosen) for chosen in groups.values()]
    grid[0, 0].set_xlim(-1.2, max(group.max() for group in places) + 1.2)
    for ax in grid.flat:
        ax.set_xticks([float(group.mean()) for group in places], list(groups))
        ax.tick_params(axis="x", length=0, labelsize=9)
    grid[-1, len(ITERATIONS) // 2].set_xlabel(
        "contextual tokens: common, and distinct of each class from rare to frequent"
    )


def numbers(run: xr.Dataset, label: int = 0) -> dict[str, dict[str, float]]:
    """Entropy, common mass and top share of a class by iteration, and at the end."""
    picked = run.isel({SEED: 0, "class": label})
    times = [*ITERATIONS, STEPS]
    steps = [f"iteration {time}" for time in times]
    picked = picked.sel(time=times)
    names = {
        "entropy on distinct tokens": "distinct_entropy",
        "mass of common tokens": "common_mass",
        "share of the top distinct token": "top_share",
    }
    return {text: named(steps, picked[name].values) for text, name in names.items()}


def favourite(run: xr.Dataset, label: int = 0) -> np.ndarray:
    """The class's distinct token with the largest attention at the end, per seed."""
    chosen = run["token"].values[kinds(run, label)]
    end = run["attention_per_class"].isel({"class": label, TIME: -1})
    return np.argmax(end.sel(token=chosen).transpose(SEED, "token").values, 1)
