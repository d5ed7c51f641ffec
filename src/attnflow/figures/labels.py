"""Names at the ends of curves, in place of a legend."""

from collections.abc import Sequence
from functools import partial
from itertools import compress

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from scipy.optimize import isotonic_regression

from attnflow.figures.placed import Placed, write_placed
from attnflow.figures.style import current_theme, styled

GAP = 8.0
"""Points between the axes and a label."""


def spread(centres: np.ndarray, sizes: np.ndarray, low: float, high: float):
    """Centres moved as little as possible (least squares) so that nothing overlaps.

    Subtracting what must lie between neighbours turns the problem into isotonic
    regression; clipping its answer keeps all within `[low, high]` where they fit.
    """
    centres, sizes = np.asarray(centres, float), np.asarray(sizes, float)
    order = np.argsort(centres, kind="stable")
    halves = sizes[order] / 2
    offset = np.concatenate([[0.0], np.cumsum(halves[:-1] + halves[1:])])
    free = isotonic_regression(centres[order] - offset).x
    top = max(high - offset[-1] - halves[-1], low + halves[0])
    moved = np.empty_like(centres)
    moved[order] = np.clip(free, low + halves[0], top) + offset
    return moved


@styled
def label_ends(ax: Axes, *, size: float = 11.0) -> list[Placed]:
    """Writes each curve's label beside its right end, in its colour, without overlaps.

    They follow limits and layout, until the figure is drawn. A hairline joins a label
    to its curve where it had to move.
    """
    lines = [line for line in ax.get_lines() if _is_named(line)]
    lines = [line for line in lines if np.isfinite(_end(ax, line)).all()]
    labels = [_write(ax, line, size) for line in lines]
    for label in labels:
        label.place = partial(_place, ax, lines, labels, size)
    return labels


def _place(
    ax: Axes, lines: Sequence[Line2D], labels: Sequence[Placed], size: float
) -> None:
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    box, points = ax.get_window_extent(), 72 / figure.dpi
    ends = np.array([_end(ax, line) for line in lines])
    # Limits that were set since may leave nothing of a curve.
    here = [bool(np.isfinite(end).all()) for end in ends]
    for label, is_here in zip(labels, here, strict=True):
        # What is not visible is not asked for its place again.
        label.set_alpha(float(is_here))
        _hairline(label).set_visible(False)
    if not any(here):
        return
    ends, labels = ends[here], list(compress(labels, here))
    heights = (ax.transData.transform(ends)[:, 1] - box.y0) * points
    heights = np.clip(heights, 0, box.height * points)
    sizes = np.full(len(labels), 1.12 * size)
    moved = spread(heights, sizes, -0.5 * size, box.height * points + 0.5 * size)
    shifts = moved - heights
    leads = np.abs(shifts) > 0.45 * size
    away = GAP + 4 * leads.any()
    for label, height, shift, lead in zip(labels, heights, shifts, leads, strict=True):
        label.xy = (1.0, float(height / (box.height * points)))
        label.set_position((away, float(shift)))
        _hairline(label).set_visible(bool(lead))


def _hairline(label: Placed) -> FancyArrowPatch:
    assert label.arrow_patch is not None
    return label.arrow_patch


def _is_named(line: Line2D) -> bool:
    return bool(line.get_label()) and not str(line.get_label()).startswith("_")


def _end(ax: Axes, line: Line2D) -> np.ndarray:
    """The last point of a curve that the axes show."""
    x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    inside = np.isfinite(x) & np.isfinite(y) & (x <= max(ax.get_xlim()))
    if not inside.any():
        return np.array([np.nan, np.nan])
    last = np.flatnonzero(inside)[-1]
    return np.array([x[last], y[last]])


def _write(ax: Axes, line: Line2D, size: float) -> Placed:
    hairline = {"color": current_theme().hairline, "lw": 0.7, "arrowstyle": "-"}
    return write_placed(
        ax,
        str(line.get_label()),
        (1.0, 0.5),
        xytext=(GAP, 0.0),
        textcoords="offset points",
        va="center_baseline",
        ha="left",
        size=size,
        color=line.get_color(),
        arrowprops=hairline | {"shrinkA": 1, "shrinkB": 1.5},
    )
