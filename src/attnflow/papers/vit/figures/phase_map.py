"""Figure 1's map as a panel: test losses, the paper's curve and our boundary."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits import Map
from attnflow.figures.swept import Curve, Level
from attnflow.papers.vit import boundary as b
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = {"snr": "SNR", "samples": "training samples $N$"}
TOP = 0.75
"""End of the colour scale; guessing has the loss log 2 = 0.69."""
SOFT = 0.42
"""Colour of cells above the cut, pale enough for curves to show on it."""
BAR = "test loss, mean over seeds"


def below_curve(snr: np.ndarray, count: np.ndarray) -> np.ndarray:
    """1000 − N · SNR²: positive below the paper's curve, where the loss is high."""
    return b.CURVE - count * snr**2


PAPER = Curve(rf"$N\cdot$SNR$^2 = {b.CURVE:g}$ (paper)", below_curve)
CUT = Level(b.CUT, power=2.0, label=f"mean test loss is {b.CUT:g}")
LEGEND = {
    "loc": "lower left",
    "bbox_to_anchor": (-0.01, 1.0),
    "ncols": 2,
    "borderaxespad": 0.3,
    "handlelength": 1.8,
    "columnspacing": 1.2,
}
"""Above the map."""
loss_map = partial(
    Map,
    x=NAMES["snr"],
    y=NAMES["samples"],
    limits=(0.0, TOP),
    level=CUT,
    curves=(PAPER,),
    ticks={"x": 8},
    at_cells="y",
)
"""The mean test loss, pale where it is small."""


def is_wrong(table: xr.DataArray) -> xr.DataArray:
    """Mask of cells on the wrong side of the paper's curve."""
    return b.above(table) != (b.strength(table) < b.CURVE)


def cross_wrong_cells(ax: Axes, table: xr.DataArray) -> None:
    """A cross in each of these."""
    rows, columns = np.nonzero(is_wrong(table).values)
    ax.plot(
        table["snr"].values[columns],
        table["samples"].values[rows],
        color=figures.current_theme().ink,
        marker="x",
        ls="",
        ms=6,
        label="other side of the curve",
        zorder=8,
    )
