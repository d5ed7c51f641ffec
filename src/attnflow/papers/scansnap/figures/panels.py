"""Colours, labels and statistics that the figures share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.scansnap.stages import series
from attnflow.papers.scansnap.stages.formulas import classes_of, decoder_of
from attnflow.papers.scansnap.systems.decoder import Decoder
from attnflow.schema import dims as _dims
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = {"J": "easy", "Q": "noise", "C": "hard"}
"""The kind of series of each system, which gives its colour."""
SYSTEMS = {
    "J": "both tables trained",
    "Q": "quasi-static decoder",
    "C": "scalar model",
}
TIME = r"time $t$ (samples)"
CLOCK = r"rescaled time $\eta_Y\,t/K$"
ENTROPY = "entropy of attention on distinct tokens"


def system_name(letter: str) -> str:
    """Title of a system: its letter in bold, and its name."""
    return rf"$\mathbf{{{letter}}}$: {SYSTEMS[letter]}"


def queries_title(queries: int) -> str:
    """Title of a panel of Figures 6, 11 and 12, all of J."""
    label = f"{queries} {'query' if queries == 1 else 'queries'}"
    return rf"$\mathbf{{J}}$, {label}, $K = {2 * queries}$"


def remark(ax: Axes, position: tuple[float, float], text: str) -> None:
    """Write a short text at `position`, in axes coordinates from 0 to 1."""
    low = position[1] < 0.5
    ax.text(
        *position,
        text,
        transform=ax.transAxes,
        va="bottom" if low else "top",
        size="small",
        color=figures.current_theme().muted,
    )


def decoder(run: xr.Dataset) -> Decoder:
    """Closed forms of the decoder at the run's sizes."""
    closed_forms = decoder_of(run)
    if closed_forms is None:
        raise ValueError(
            "The run has value_rate=0, for which the decoder's closed forms have no "
            "clock: use a positive rate."
        )
    return closed_forms


def clock(run: xr.Dataset) -> float:
    """η_Y/K of a run, the factor from time to rescaled time."""
    setting = schema.setting_of(run)
    return setting["value_rate"] / classes_of(setting)


def common_fall(run: xr.Dataset) -> xr.DataArray:
    """B = −z of the common token over time, first seed."""
    if "drive_integral" in run and "score" not in run:
        fall = run["drive_integral"]
    else:
        fall = -run["score"].sel(query="query0", token="common0", drop=True)
    return fall.isel({_dims.SEED: 0}, drop=True)


def growth_exponent(run: xr.Dataset) -> xr.DataArray:
    """The exponent ln χ of the dominant token: 2(z − z(0)), and in C its bound 2B."""
    if "score" not in run:
        return 2 * common_fall(run)
    score = series.top_score(run).isel({_dims.SEED: 0}, drop=True)
    return 2 * (score - score.isel({_dims.TIME: 0}, drop=True))


def at(curve: xr.DataArray, time: float) -> float:
    """Value of a curve at a time, interpolated in the logarithm of time."""
    grid = curve[_dims.TIME].values
    later = grid > 0
    values = curve.values[later]
    return float(np.interp(np.log(time), np.log(grid[later]), values))


def reach(curve: xr.DataArray, level: float) -> float:
    """First recorded time at which a curve reaches a level; NaN if it never does."""
    above = np.flatnonzero(curve.values >= level)
    return float(curve[_dims.TIME].values[above[0]]) if len(above) else float("nan")


def positive(curve: xr.DataArray, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Times (times `scale`) and values of a curve at positive times."""
    later = curve.isel({_dims.TIME: curve[_dims.TIME].values > 0})
    return scale * later[_dims.TIME].values, later.values


def dot(ax: Axes, x: float, y: float, colour: str, *, size: float = 6.5) -> None:
    """Draw a dot on a curve."""
    paper = figures.current_theme().paper
    ax.plot(
        [x],
        [y],
        color=colour,
        marker="o",
        ms=size,
        mec=paper,
        mew=0.9,
        ls="",
        zorder=6,
    )


def named(names: Iterable[str], numbers: Iterable[float]) -> dict[str, float]:
    """Numbers by their names."""
    return {n: float(number) for n, number in zip(names, numbers, strict=True)}


def name_time(ax: Axes, time: float, text: str, *, left: bool = False) -> None:
    """Draw a dashed line at a time, with its name beside its foot."""
    theme = figures.current_theme()
    ax.axvline(time, color=theme.muted, lw=0.9, ls=(0, (3, 2)), zorder=1)
    ax.annotate(
        text,
        (time, 0.03),
        xycoords=ax.get_xaxis_transform(),
        xytext=(-3 if left else 3, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        size="small",
        color=theme.muted,
    )
