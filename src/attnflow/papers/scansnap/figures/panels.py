"""Colours, names and readings that the figures share."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import figures, schema
from attnflow.papers.scansnap.stages import series
from attnflow.papers.scansnap.stages.formulas import classes_of, decoder_of
from attnflow.papers.scansnap.systems.decoder import Decoder
from attnflow.schema import dims as _dims

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = {"J": "easy", "Q": "noise", "C": "hard"}
"""The kind of quantity, which gives the colour, of each system."""
SYSTEMS = {
    "J": "both tables trained",
    "Q": "quasi-static decoder",
    "C": "scalar model",
}
TIME = r"time $t$ (samples)"
CLOCK = r"rescaled time $\eta_Y\,t/K$"
ENTROPY = "entropy of attention on distinct tokens"


def system_name(letter: str) -> str:
    """The system's letter in bold, and what it is."""
    return rf"$\mathbf{{{letter}}}$: {SYSTEMS[letter]}"


def queries_title(queries: int) -> str:
    """The title of a panel of Figures 6, 11 and 12, which are all of J."""
    asked = f"{queries} {'query' if queries == 1 else 'queries'}"
    return rf"$\mathbf{{J}}$, {asked}, $K = {2 * queries}$"


def remark(ax: "Axes", place: tuple[float, float], text: str) -> None:
    """A few words in a corner: `place` is theirs, from 0 to 1, lower left or upper."""
    low = place[1] < 0.5
    ax.text(
        *place,
        text,
        transform=ax.transAxes,
        va="bottom" if low else "top",
        size="small",
        color=figures.current_theme().muted,
    )


def decoder(run: xr.Dataset) -> Decoder:
    """The closed forms at the run's sizes."""
    found = decoder_of(run)
    if found is None:
        raise ValueError(
            "The run has value_rate=0, for which the decoder's closed forms have no "
            "clock: use a positive rate."
        )
    return found


def clock(run: xr.Dataset) -> float:
    """η_Y/K of a run: what turns its time into the rescaled one."""
    setting = schema.setting_of(run)
    return setting["value_rate"] / classes_of(setting)


def common_fall(run: xr.Dataset) -> xr.DataArray:
    """B = −z of the common token, over time; of the first seed."""
    if "drive_integral" in run and "score" not in run:
        found = run["drive_integral"]
    else:
        found = -run["score"].sel(query="query0", token="common0", drop=True)
    return found.isel({_dims.SEED: 0}, drop=True)


def growth_exponent(run: xr.Dataset) -> xr.DataArray:
    """The exponent ln χ of the dominant token: 2(z − z(0)), and in C its bound 2B."""
    if "score" not in run:
        return 2 * common_fall(run)
    score = series.top_score(run).isel({_dims.SEED: 0}, drop=True)
    return 2 * (score - score.isel({_dims.TIME: 0}, drop=True))


def at(curve: xr.DataArray, time: float) -> float:
    """A curve at a time, between records by the logarithm of time."""
    grid = curve[_dims.TIME].values
    later = grid > 0
    values = curve.values[later]
    return float(np.interp(np.log(time), np.log(grid[later]), values))


def reach(curve: xr.DataArray, level: float) -> float:
    """The first recorded time at which a curve is at a level or above; else none."""
    above = np.flatnonzero(curve.values >= level)
    return float(curve[_dims.TIME].values[above[0]]) if len(above) else float("nan")


def positive(curve: xr.DataArray, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Times, rescaled, and values of a curve from its first positive time on."""
    later = curve.isel({_dims.TIME: curve[_dims.TIME].values > 0})
    return scale * later[_dims.TIME].values, later.values


def dot(ax: "Axes", x: float, y: float, colour: str, **look: Any) -> None:
    """A mark on a curve."""
    paper = figures.current_theme().paper
    style = {"marker": "o", "ms": 6.5, "mec": paper, "mew": 0.9, "ls": "", "zorder": 6}
    ax.plot([x], [y], color=colour, **(style | look))


def named(names: Iterable[str], numbers: Iterable[Any]) -> dict[str, float]:
    """Numbers by their names."""
    return {n: float(number) for n, number in zip(names, numbers, strict=True)}


def name_time(ax: "Axes", time: float, text: str, *, left: bool = False) -> None:
    """A dashed rule at a time, with its name at its foot: right of it, or left."""
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
