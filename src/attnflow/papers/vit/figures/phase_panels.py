"""Panels of Figure 1's map: test losses or their cut, the curve and the boundary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.vit.figures import boundaries
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh

TOP = 0.75
"""End of the colour scale; guessing has the loss log 2 = 0.69."""
SOFT = 0.42
"""Colour of cells above the cut, pale enough for curves to show on it."""


def loss_map(ax: Axes, run: xr.Dataset) -> QuadMesh:
    """The mean test loss, pale where it is small."""
    mesh = figures.field(ax, boundaries.mean_map(run), limits=(0.0, TOP))
    _name(ax, run)
    return mesh


def cut_map(ax: Axes, run: xr.Dataset) -> QuadMesh:
    """Cells above the cut in colour, those below nearly white."""
    table = SOFT * boundaries.above(run).astype(float)
    mesh = figures.field(ax, table)
    _name(ax, run)
    return mesh


def _name(ax: Axes, run: xr.Dataset) -> None:
    ax.set(xlabel="SNR", ylabel="training samples $N$")
    ax.set_yticks(run["samples"].values)
    ax.tick_params(length=0)


def paper_curve(ax: Axes) -> None:
    """N · SNR² = 1000, dashed and in ink."""
    figures.frontier(ax, boundaries.below_curve, boundaries.CURVE_LABEL)


def fitted_boundary(ax: Axes, run: xr.Dataset, *, seeds: bool = True) -> None:
    """Where the mean map crosses the cut, its power law, and each seed thinly."""
    limits = ax.get_xlim(), ax.get_ylim()
    fit = boundaries.boundary(run)
    colour = figures.current_theme().colour("signal")
    samples = run["samples"].values
    if seeds:
        for index, row in enumerate(fit.by_seed):
            label = "each seed" if index == 0 else "_nolegend_"
            ax.plot(row, samples, color=colour, lw=0.7, alpha=0.8, label=label)
    if fit.exists:
        count = np.linspace(*limits[1], 200)
        # The margin of an axis may reach below 0, where a power is undefined.
        count = count[count > 0]
        line = np.exp(fit.intercept) * count**fit.exponent
        label = rf"fitted: SNR $\propto N^{{{fit.exponent:.2f}}}$"
        figures.outlined(
            ax, line, count, width=2.2, label=label, color=colour, zorder=5
        )
    dots = {"ls": "", "marker": "o", "ms": 5, "mec": figures.current_theme().paper}
    label = f"mean test loss is {boundaries.CUT:g}"
    ax.plot(fit.places, samples, color=colour, label=label, zorder=7, **dots)
    ax.set(xlim=limits[0], ylim=limits[1])


def wrong_cells(ax: Axes, run: xr.Dataset) -> None:
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


def legend(ax: Axes, columns: int = 2) -> None:
    """Legend above the map."""
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(-0.01, 1.0),
        ncols=columns,
        borderaxespad=0.3,
        handlelength=1.8,
        columnspacing=1.2,
    )
