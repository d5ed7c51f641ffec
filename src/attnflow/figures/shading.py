"""Stages of training behind the curves."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.text import Text

from attnflow.figures.labels import spread
from attnflow.figures.names import typeset
from attnflow.figures.placed import Placed, write_placed
from attnflow.figures.style import current_theme, styled
from attnflow.schema.dims import STAGE


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
    edges = _edges(ax, boundaries, len(names))
    reached = int(np.argmin(np.isfinite(edges))) if np.isnan(edges).any() else None
    edges, theme = edges[:reached], current_theme()
    for number in range(len(edges) - 1):
        fill = theme.stages[number % 2]
        ax.axvspan(edges[number], edges[number + 1], color=fill, lw=0, zorder=0)
    for edge in edges[1:-1]:
        ax.axvline(edge, color=theme.hairline, lw=0.8, zorder=0.5)
    return _name(ax, edges, list(names)[: len(edges) - 1])


def _edges(ax: Axes, boundaries: Sequence[float | None], count: int) -> np.ndarray:
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


def _name(ax: Axes, edges: np.ndarray, names: list[str]) -> list[Text]:
    """Names centred on their stages, moved apart where stages are narrow."""
    if not any(names):
        return []
    look = {"size": "small", "color": current_theme().muted}
    look |= {"va": "bottom", "ha": "center"}
    texts = [write_placed(ax, typeset(name), (0.5, 1.01), **look) for name in names]
    for text in texts:
        text.place = partial(_place, ax, edges, texts)
    # The title makes room for the names below it.
    ax.set_title(ax.get_title(loc="left"), pad=21.0, color=current_theme().ink)
    return list(texts)


def _place(ax: Axes, edges: np.ndarray, texts: Sequence[Placed]) -> None:
    places, width = _fractions(ax, edges)
    # A text's own extent would ask for its place.
    widths = [Text.get_window_extent(text).width / width + 0.02 for text in texts]
    centres = (places[:-1] + places[1:]) / 2
    moved = spread(centres, np.array(widths), -0.02, 1.02)
    for text, place in zip(texts, moved, strict=True):
        text.xy = (float(place), 1.01)
        text.set_position(text.xy)


def _fractions(ax: Axes, times: np.ndarray) -> tuple[np.ndarray, float]:
    """Times as fractions of the axes, within them, and the axes' width in pixels."""
    left, right = sorted(ax.get_xlim())
    points = np.column_stack([np.clip(times, left, right), np.ones_like(times)])
    box = ax.get_window_extent()
    return (ax.transData.transform(points)[:, 0] - box.x0) / box.width, box.width
