"""Names beside the axes, without overlaps: at the ends of curves, and above stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.text import Annotation, Text
from matplotlib.transforms import IdentityTransform

from attnflow.figures.axes import typeset
from attnflow.figures.style import current_theme, styled
from attnflow.schema.dims import STAGE
from attnflow.schema.installation import scipy, xr

GAP = 8.0
"""Points between the axes and a label."""


class MarginText(Annotation):
    """A text beside its axes that is repositioned whenever it is measured or drawn.

    A figure's layout changes until it is drawn, and asking for it before computes it
    anew, which takes longer than all drawing.
    """

    reposition: Callable[[], None] | None = None

    def update_positions(self, renderer: RendererBase) -> None:
        """Matplotlib's hook before it measures or draws the text."""
        if self.reposition is not None:
            self.reposition()
        super().update_positions(renderer)


def write_margin(
    ax: Axes, text: str, xy: tuple[float, float], **style: Any
) -> MarginText:
    """A text at a point in fractions of the axes, which may lie outside of them."""
    usual = {"xycoords": "axes fraction", "annotation_clip": False, "clip_on": False}
    label = MarginText(text, xy, **(usual | style))
    # Otherwise its offset is taken for data, until it is measured: below 0 on a
    # logarithmic axis, it would be left out of the layout.
    label.set_transform(IdentityTransform())
    ax.add_artist(label)
    return label


def spread(
    centres: np.ndarray, sizes: np.ndarray, low: float, high: float
) -> np.ndarray:
    """Centres moved as little as possible (least squares) so that nothing overlaps.

    Subtracting what must lie between neighbours turns the problem into isotonic
    regression; clipping its answer keeps all within `[low, high]` where they fit.
    """
    centres, sizes = np.asarray(centres, float), np.asarray(sizes, float)
    order = np.argsort(centres, kind="stable")
    halves = sizes[order] / 2
    offset = np.concatenate([[0.0], np.cumsum(halves[:-1] + halves[1:])])
    free = scipy.optimize.isotonic_regression(centres[order] - offset).x
    top = max(high - offset[-1] - halves[-1], low + halves[0])
    moved = np.empty_like(centres)
    moved[order] = np.clip(free, low + halves[0], top) + offset
    return moved


@styled
def label_ends(ax: Axes, *, size: float = 11.0) -> list[MarginText]:
    """Writes each curve's label beside its right end, in its colour, without overlaps.

    They follow limits and layout, until the figure is drawn. A hairline joins a label
    to its curve where it had to move.
    """
    lines = [
        line
        for line in ax.get_lines()
        if line.get_label() and not str(line.get_label()).startswith("_")
        if np.isfinite(_end(ax, line)).all()
    ]
    labels = [_write(ax, line, size) for line in lines]
    for label in labels:
        label.reposition = partial(_position_ends, ax, lines, labels, size)
    return labels


def _position_ends(
    ax: Axes, lines: Sequence[Line2D], labels: Sequence[MarginText], size: float
) -> None:
    figure = ax.get_figure(root=True)
    assert isinstance(figure, Figure)
    box, points = ax.get_window_extent(), 72 / figure.dpi
    ends = np.array([_end(ax, line) for line in lines])
    # Limits that were set since may leave nothing of a curve.
    here = [bool(np.isfinite(end).all()) for end in ends]
    for label, is_here in zip(labels, here, strict=True):
        # Matplotlib does not update the position of an invisible text again.
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


def _hairline(label: MarginText) -> FancyArrowPatch:
    assert label.arrow_patch is not None
    return label.arrow_patch


def _end(ax: Axes, line: Line2D) -> np.ndarray:
    """The last point of a curve that the axes show."""
    x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    inside = np.isfinite(x) & np.isfinite(y) & (x <= max(ax.get_xlim()))
    if not inside.any():
        return np.array([np.nan, np.nan])
    last = np.flatnonzero(inside)[-1]
    return np.array([x[last], y[last]])


def _write(ax: Axes, line: Line2D, size: float) -> MarginText:
    hairline = {"color": current_theme().hairline, "lw": 0.7, "arrowstyle": "-"}
    return write_margin(
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


def stage_boundaries(run: xr.Dataset) -> tuple[list[float], list[str]]:
    """Edges (one more than there are stages) and names of a run's stages.

    With several seeds an edge is their median; a stage that no seed reached has NaN.
    """
    names = [str(name) for name in run[STAGE].values]
    ends = [_middle(run["stage_end"].sel(stage=name)) for name in names]
    return [_middle(run["stage_start"].isel(stage=0)), *ends], names


def _middle(times: xr.DataArray) -> float:
    reached = times.values[np.isfinite(times.values)]
    return float(np.median(reached)) if reached.size else float("nan")


@styled
def shade_stages(
    ax: Axes, boundaries: Sequence[float | None], names: Sequence[str]
) -> list[Text]:
    """Shades stages by turns, and names them above the axes.

    **Arguments:**

    - `boundaries`: the times between stages, one fewer than `names`; or with both
      outer edges, one more. `None` or NaN where a stage was not reached: it and all
      after it are left out.
    - `names`: where all are empty, as below a panel that names them, only the shades
      are drawn.
    """
    edges = _stage_edges(ax, boundaries, len(names))
    reached = int(np.argmin(np.isfinite(edges))) if np.isnan(edges).any() else None
    edges, theme = edges[:reached], current_theme()
    for number in range(len(edges) - 1):
        fill = theme.stages[number % 2]
        ax.axvspan(edges[number], edges[number + 1], color=fill, lw=0, zorder=0)
    for edge in edges[1:-1]:
        ax.axvline(edge, color=theme.hairline, lw=0.8, zorder=0.5)
    return _name_stages(ax, edges, list(names)[: len(edges) - 1])


@styled
def mark_times(ax: Axes, times: Mapping[str, float | None]) -> None:
    """Marks times by dotted lines, named above the axes; `None` is left out."""
    theme = current_theme()
    known = {name: time for name, time in times.items() if time is not None}
    for name, time in known.items():
        ax.axvline(time, color=theme.muted, lw=0.8, ls=(0, (1, 2)), zorder=0.5)
        ax.annotate(
            typeset(name),
            (time, 1.0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(0, 2),
            textcoords="offset points",
            ha="center",
            va="bottom",
            size="small",
            color=theme.muted,
        )
    if known:
        # The title makes room for the names below it.
        ax.set_title(ax.get_title(loc="left"), pad=20.0)


@styled
def mark_place(ax: Axes, place: float, name: str = "") -> None:
    """Marks a number on the horizontal axis by a dotted line, named beside its top."""
    theme = current_theme()
    ax.axvline(place, color=theme.muted, lw=0.8, ls=(0, (1, 2)), zorder=1)
    ax.annotate(
        typeset(name),
        (place, 1.0),
        xycoords=ax.get_xaxis_transform(),
        xytext=(3, -3),
        textcoords="offset points",
        va="top",
        size="small",
        color=theme.muted,
    )


@styled
def remark(ax: Axes, text: str, place: str = "upper left") -> None:
    """A short text inside the axes, at a place such as `upper left`."""
    up, side = place.split()
    x, y = {"left": 0.04, "right": 0.97}[side], 0.96 if up == "upper" else 0.04
    style: dict[str, Any] = {"size": "small", "color": current_theme().muted}
    style |= {"ha": side, "va": "top" if up == "upper" else "bottom"}
    ax.text(x, y, typeset(text), transform=ax.transAxes, **style)


@styled
def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Names rows 0, 1, … of a panel from the top, each on a hairline."""
    theme = current_theme()
    ax.set_yticks(range(len(names)), [typeset(name) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.8)
    ax.tick_params(axis="y", length=0, labelcolor=theme.ink)
    ax.spines["left"].set_visible(False)
    for row in range(len(names)):
        ax.axhline(row, color=theme.hairline, lw=0.7, zorder=0)


def _stage_edges(
    ax: Axes, boundaries: Sequence[float | None], count: int
) -> np.ndarray:
    edges = [np.nan if edge is None else float(edge) for edge in boundaries]
    if len(edges) == count - 1:
        left, right = ax.get_xlim()
        edges = [left, *edges, right]
    if len(edges) != count + 1:
        raise ValueError(
            f"{len(boundaries)} boundaries do not make {count} stages: give "
            f"{count - 1} (between the stages) or {count + 1} (with both ends)."
        )
    return np.array(edges)


def _name_stages(ax: Axes, edges: np.ndarray, names: list[str]) -> list[Text]:
    """Names centred on their stages, moved apart where stages are narrow."""
    if not any(names):
        return []
    style = {"size": "small", "color": current_theme().muted}
    style |= {"va": "bottom", "ha": "center"}
    texts = [write_margin(ax, typeset(name), (0.5, 1.01), **style) for name in names]
    for text in texts:
        text.reposition = partial(_position_names, ax, edges, texts)
    # The title makes room for the names below it.
    ax.set_title(ax.get_title(loc="left"), pad=21.0, color=current_theme().ink)
    return list(texts)


def _position_names(ax: Axes, edges: np.ndarray, texts: Sequence[MarginText]) -> None:
    left, right = sorted(ax.get_xlim())
    points = np.column_stack([np.clip(edges, left, right), np.ones_like(edges)])
    box = ax.get_window_extent()
    fractions = (ax.transData.transform(points)[:, 0] - box.x0) / box.width
    # The extent of a `MarginText` would ask for its position.
    widths = [Text.get_window_extent(text).width / box.width + 0.02 for text in texts]
    centres = (fractions[:-1] + fractions[1:]) / 2
    moved = spread(centres, np.array(widths), -0.02, 1.02)
    for text, centre in zip(texts, moved, strict=True):
        text.xy = (float(centre), 1.01)
        text.set_position(text.xy)
