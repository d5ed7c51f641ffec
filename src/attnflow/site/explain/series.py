"""A series as a panel, with the level it was held to and the stages behind it."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from attnflow import figures
from attnflow.claims.stages import Detection
from attnflow.figures.axes import Scale
from attnflow.figures.curves import thin
from attnflow.papers.base import Paper
from attnflow.schema.dims import STAGE, TIME
from attnflow.site.explain.panels import title

DECADES = 1e3
"""A series that spans more is drawn on a logarithmic axis."""
_LETTER = 0.014
"""The width of a letter of a stage's name, as a share of the axis."""


def draw_look(ax: Axes, look: Detection, paper: Paper) -> None:
    """Every seed and entry of a series as a line, and where it reached its level."""
    time, lines = _lines(look)
    colour = figures.current_theme().colour("signal")
    ax.plot(time, lines, color=colour, lw=1.0, alpha=max(0.15, lines.shape[1] ** -0.5))
    values = lines
    if look.level is not None:
        figures.reference(ax, look.level, f"threshold {look.level:.4g}")
        level = np.full(len(look.times), look.level)
        ax.plot(look.times, level, "o", ms=5, color=colour, zorder=5)
        values = np.append(lines, look.level)
    figures.time_axis(ax, look.run, scale=_scale(time))
    ax.set_yscale(_scale(values))
    figures.number_axis(ax, "y")
    ax.set_ylabel(str(look.series.name or "value"))
    experiment = look.run.attrs.get("experiment", "")
    title(ax, f"{look.name}, {paper.slug}/{experiment}")
    # After the title, which makes room for the names of stages.
    _shade(ax, look.run, paper)


def _lines(look: Detection) -> tuple[np.ndarray, np.ndarray]:
    """Times at which something was recorded, and a column for each seed and entry."""
    values = look.series
    if "recorded" in look.run:
        values = values.where(look.run["recorded"])
    others = [str(dim) for dim in values.dims if dim != TIME]
    values = thin(values.isel(time=values.notnull().any(others).values))
    time = values[TIME].values.astype(float)
    rows = values.transpose(TIME, ...).values
    return time, rows.reshape(len(time), -1)


def _scale(values: np.ndarray) -> Scale:
    """Logarithmic where all that is not 0 is positive, and spans decades."""
    known = values[np.isfinite(values) & (values != 0.0)]
    if known.size == 0 or known.min() < 0.0:
        return "linear"
    return "log" if known.max() > DECADES * known.min() else "linear"


def _shade(ax: Axes, run: xr.Dataset, paper: Paper) -> None:
    """Stages of training, or those that the paper's stage table detects."""
    if STAGE in run.dims and run.sizes[STAGE] > 1:
        figures.shade_stages(ax, *figures.stage_boundaries(run))
        return
    left, right = ax.get_xlim()
    inside = {t: name for name, t in _detected(run, paper) if left < t < right}
    edges = sorted(inside)
    figures.shade_stages(ax, edges, [""] * (len(edges) + 1))
    if edges:
        # The title makes room for the names below it.
        ax.set_title(ax.get_title(loc="left"), pad=18.0)
    taken = -1.0
    for time in edges:
        share = ax.transAxes.inverted().transform(ax.transData.transform((time, 1)))[0]
        half = _LETTER * (len(inside[time]) + 1) / 2
        if share - half >= taken:
            _name(ax, time, inside[time])
            taken = share + half


def _name(ax: Axes, time: float, name: str) -> None:
    colour = figures.current_theme().muted
    place = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "bottom"}
    ax.text(time, 1.01, figures.typeset(name), size="x-small", color=colour, **place)


def _detected(run: xr.Dataset, paper: Paper) -> list[tuple[str, float]]:
    """Names and times of the stages that a run reached."""
    if paper.stage_table is None:
        return []
    try:
        rows = paper.stage_table(run)
    except (KeyError, ValueError):
        # A run of a ladder may record too little for the paper's stages.
        return []
    return [(row.name, row.detected) for row in rows if row.detected is not None]
