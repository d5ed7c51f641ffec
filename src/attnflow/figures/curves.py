"""Curves of a run over time: the median over seeds, and how far seeds spread."""

from typing import Literal

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from attnflow.claims.stages import select
from attnflow.figures.names import selector_label, typeset
from attnflow.figures.style import current_theme, styled
from attnflow.schema.dims import SEED, TIME

Band = Literal["range", "quartiles", "seeds", "none"]
Role = Literal["finite", "limit"]

# More points than this are below the width of a line even on a whole slide.
POINTS = 500
DASHES = (0, (4, 2.2))


def curve(run: xr.Dataset, selector: str | xr.DataArray) -> xr.DataArray:
    """One series of a run with dims `(seed, time)`; NaN where nothing was recorded.

    `selector` is written as `score[+,c1,v1]`, or is such a series already.
    """
    found = select(run, selector) if isinstance(selector, str) else selector
    extra = set(found.dims) - {SEED, TIME}
    if extra or TIME not in found.dims:
        raise ValueError(
            f"{selector if isinstance(selector, str) else found.name!r} has dims "
            f"{found.dims}; a curve has only 'seed' and 'time'. Select one entry of "
            f"{sorted(map(str, extra)) or 'a recorded series'}."
        )
    if SEED not in found.dims:
        found = found.expand_dims(SEED)
    found = found.transpose(SEED, TIME)
    return found.where(run["recorded"]) if "recorded" in run else found


@styled
def series(
    ax: Axes,
    run: xr.Dataset,
    selector: str | xr.DataArray,
    *,
    kind: str = "other",
    label: str | None = None,
    shade: int = 0,
    band: Band = "range",
    role: Role = "finite",
    colour: str | None = None,
) -> Line2D:
    """Draws the median over seeds of one series, with its spread as a band.

    **Arguments:**

    - `selector`: such as `score[+,c1,v1]`, or a DataArray `(seed, time)`.
    - `kind`: what sort of quantity it is, which gives the colour (`palette`);
      `shade` tells members of a kind apart.
    - `label`: for `label_ends`; token names in it are typeset; `""` for none, and
      without it the selector's tokens.
    - `band`: from the least to the largest seed, between quartiles, each seed as a
      thin line, or nothing.
    - `role`: `limit` draws the infinite-width line, thick, dashed and in ink.
    - `colour`: instead of the kind's, for a colour of a `ramp`.
    """
    values = _recorded(curve(run, selector))
    at = thin(values)
    times, middle = at[TIME].values, at.median(SEED).values
    if role == "limit":
        kind, band = "limit", "none"
    colour = colour or current_theme().colour(kind, shade)
    if values.sizes[SEED] > 1 and values.sizes[TIME]:
        _spread(ax, at, band, colour)
    (line,) = ax.plot(times, middle, color=colour, zorder=3)
    if role == "limit":
        # Below the thin lines: what lies on the limit would else not be seen.
        line.set(linestyle=DASHES, linewidth=2.6, zorder=2.5)
    line.set_label(_label(label, selector))
    return line


def _label(label: str | None, selector: str | xr.DataArray) -> str:
    if label is None and isinstance(selector, str):
        label = selector_label(selector)
    return typeset(label or "") or "_nolegend_"


def _recorded(values: xr.DataArray) -> xr.DataArray:
    """Without the times at which no seed was recorded: their median warns."""
    return values.isel(time=values.notnull().any(SEED).values)


def thin(values: xr.DataArray, points: int = POINTS) -> xr.DataArray:
    """At most about `points` times: even both on a linear and on a logarithmic axis."""
    count = values.sizes[TIME]
    if count <= points:
        return values
    even = np.linspace(0, count - 1, points // 2)
    early = np.geomspace(1, count, points // 2) - 1
    index = np.unique(np.concatenate([even, early]).round().astype(int))
    return values.isel(time=index)


def _spread(ax: Axes, values: xr.DataArray, band: Band, colour: str) -> None:
    times = values[TIME].values
    if band == "seeds":
        ax.plot(times, values.T.values, color=colour, lw=0.6, alpha=0.55, zorder=2)
    elif band != "none":
        ends = {"range": (0.0, 1.0), "quartiles": (0.25, 0.75)}[band]
        low, high = values.quantile(ends, dim=SEED).values
        ax.fill_between(times, low, high, color=colour, alpha=0.18, lw=0, zorder=1)


@styled
def theory(ax: Axes, x: object, y: object, *, label: str = "") -> Line2D:
    """A formula's curve: thin, dashed and in ink, above what was measured."""
    colour = current_theme().colour("theory")
    (line,) = ax.plot(np.asarray(x), np.asarray(y), color=colour, lw=1.1, zorder=5)
    line.set(linestyle=DASHES, label=typeset(label) or "_nolegend_")
    return line


@styled
def reference(ax: Axes, value: float, label: str = "") -> Line2D:
    """A level to compare with, such as log 2, named at the right just above it."""
    theme = current_theme()
    line = ax.axhline(value, color=theme.muted, lw=0.8, ls=(0, (1, 2)), zorder=1)
    ax.annotate(
        typeset(label),
        (1.0, value),
        xycoords=ax.get_yaxis_transform(),
        xytext=(-3, 2.5),
        textcoords="offset points",
        ha="right",
        va="bottom",
        size="small",
        color=theme.muted,
    )
    return line
