"""Readings of flows that figures share: falls, exponents, and times of the decoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.claims.stages import Detected, Event
from attnflow.papers.scansnap.stages import series
from attnflow.papers.scansnap.stages.formulas import decoder_of
from attnflow.papers.scansnap.systems.decoder import Decoder
from attnflow.schema import dims as _dims
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = {"J": "easy", "Q": "noise", "C": "hard"}
"""The kind of series of each system, which gives its colour."""
TIME = r"time $t$ (samples)"
CLOCK = r"rescaled time $\eta_Y\,t/K$"
ENTROPY = "entropy of attention on distinct tokens"
PEAK, SNAP = "γ's peak", "$t_0$"
FORMULA = {"marker": "", "ls": (0, (4, 2.2)), "lw": 1.1, "zorder": 5}
"""Style of a formula's curve, that of `figures.theory`."""


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


def in_clock(time: Callable[[Decoder], float]) -> Callable[[xr.Dataset], float]:
    """A time of the decoder's closed forms in K/η_Y, as a function of a run."""
    return lambda run: time(decoder_of(run)) / decoder_of(run).clock


def rescaled(
    of: Callable[[xr.Dataset], xr.DataArray],
) -> Callable[[xr.Dataset], xr.DataArray]:
    """A series over η_Y t/K, as a function of a run."""

    def over_clock(run: xr.Dataset) -> xr.DataArray:
        table = of(run)
        time = table[_dims.TIME].values / decoder_of(run).clock
        return table.assign_coords({_dims.TIME: time})

    return over_clock


def at(curve: xr.DataArray, time: float) -> float:
    """Value of a curve at a time, interpolated in the logarithm of time."""
    later = curve.squeeze().isel({_dims.TIME: curve[_dims.TIME].values > 0})
    return float(np.interp(np.log(time), np.log(later[_dims.TIME]), later))


def at_snap(
    of: Callable[[xr.Dataset], xr.DataArray],
) -> Callable[[xr.Dataset], float]:
    """A series at t₀, as a function of a run."""
    return lambda run: at(of(run), decoder_of(run).snap)


def reach(curve: xr.DataArray, level: float) -> float:
    """First recorded time at which a curve reaches a level; NaN if it never does."""
    above = np.flatnonzero(curve.values >= level)
    return float(curve[_dims.TIME].values[above[0]]) if len(above) else float("nan")


def _mark(time: Callable[[Decoder], float]) -> Callable[[xr.Dataset], Event]:
    return lambda run: Event("", (0,), (Detected(in_clock(time)(run)),))


MARKS = {PEAK: _mark(lambda d: d.peak), SNAP: _mark(lambda d: d.snap)}
"""Times of the decoder that are marked over rescaled time."""


def dot_snaps(
    ax: Axes, curves: Mapping[str, xr.DataArray], runs: Mapping[str, xr.Dataset]
) -> None:
    """Draw a dot on each curve at the t₀ of its run."""
    style = {
        "marker": "o",
        "ms": 6.5,
        "mec": figures.current_theme().paper,
        "zorder": 6,
    }
    for line, (name, curve) in zip(ax.get_lines(), curves.items(), strict=False):
        snap = decoder_of(runs[name]).snap
        ax.plot(snap, at(curve, snap), color=line.get_color(), mew=0.9, **style)


def named(names: Iterable[str], numbers: Iterable[float]) -> dict[str, float]:
    """Numbers by their names."""
    return {n: float(number) for n, number in zip(names, numbers, strict=True)}
