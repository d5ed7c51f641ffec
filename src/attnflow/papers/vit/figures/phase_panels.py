"""Panels of Figure 1's map: test losses or their cut, the curve and the boundary."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import figures
from attnflow.papers.vit.figures import boundaries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

TOP = 0.75
"""The fullest colour; a guess has the loss log 2 = 0.69."""
SOFT = 0.42
"""Of cells above the cut in a map of two colours: curves are seen on it."""


def loss_map(ax: "Axes", run: xr.Dataset) -> "QuadMesh":
    """The mean test loss, pale where it is small."""
    mesh = figures.field(ax, boundaries.mean_map(run), limits=(0.0, TOP))
    _name(ax, run)
    return mesh


def cut_map(ax: "Axes", run: xr.Dataset) -> "QuadMesh":
    """Cells above the cut in colour, those below nearly white."""
    table = SOFT * boundaries.above(run).astype(float)
    mesh = figures.field(ax, table)
    _name(ax, run)
    return mesh


def _name(ax: "Axes", run: xr.Dataset) -> None:
    ax.set(xlabel="SNR", ylabel="training samples $N$")
    ax.set_yticks(run["samples"].values)
    ax.tick_params(length=0)


def paper_curve(ax: "Axes") -> None:
    """N · SNR² = 1000, dashed and in ink."""
    figures.frontier(ax, boundaries.below_curve, boundaries.CURVE_LABEL)


def own_boundary(ax: "Axes", run: xr.Dataset, *, seeds: bool = True) -> None:
    """Where the mean map crosses the cut, its power law, and each seed thinly."""
    limits = ax.get_xlim(), ax.get_ylim()
    fit = boundaries.boundary(run)
    colour = figures.current_theme().colour("signal")
    samples = run["samples"].values
    if seeds:
        for place, row in enumerate(fit.by_seed):
            named = "each seed" if place == 0 else "_nolegend_"
            ax.plot(row, samples, color=colour, lw=0.7, alpha=0.8, label=named)
    if fit.exists:
        look: dict[str, Any] = {"color": colour, "zorder": 5}
        count = np.linspace(*limits[1], 200)
        # The margin of an axis may reach below 0, where no power is.
        count = count[count > 0]
        line = np.exp(fit.intercept) * count**fit.exponent
        named = rf"fitted: SNR $\propto N^{{{fit.exponent:.2f}}}$"
        figures.outlined(ax, line, count, width=2.2, label=named, **look)
    dots = {"ls": "", "marker": "o", "ms": 5, "mec": figures.current_theme().paper}
    named = f"mean test loss is {boundaries.CUT:g}"
    ax.plot(fit.places, samples, color=colour, label=named, zorder=7, **dots)
    ax.set(xlim=limits[0], ylim=limits[1])


def wrong_cells(ax: "Axes", run: xr.Dataset) -> None:
    """A cross in cells that are on the wrong side of the paper's curve."""
    wrong = boundaries.above(run) != (boundaries.strength(run) < boundaries.CURVE)
    rows, columns = np.nonzero(wrong.values)
    ax.plot(
        run["snr"].values[columns],
        run["samples"].values[rows],
        color=figures.current_theme().ink,
        marker="x",
        ls="",
        ms=6,
        label="other side of the curve",
        zorder=8,
    )


def legend(ax: "Axes", columns: int = 2) -> None:
    """What the lines are, above the map."""
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(-0.01, 1.0),
        ncols=columns,
        borderaxespad=0.3,
        handlelength=1.8,
        columnspacing=1.2,
    )
