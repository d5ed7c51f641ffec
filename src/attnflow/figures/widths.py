"""Finite widths over the infinite one: thin coloured lines, one thick dashed one."""

from collections.abc import Mapping
from typing import Any

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from attnflow.figures.curves import Band, series
from attnflow.figures.style import current_theme, styled


@styled
def beside(
    ax: Axes,
    finite: xr.Dataset | Mapping[str, xr.Dataset],
    infinite: xr.Dataset,
    selector: str,
    *,
    kind: str = "signal",
    label: str | None = None,
    limit_label: str = "",
    band: Band = "seeds",
) -> list[Line2D]:
    """Draws one series of finite-width runs and of the infinite-width one.

    **Arguments:**

    - `finite`: one run, or name → run in the order of growing width; larger widths
      are drawn in fuller colour and carry their names as labels.
    - `band`: how seeds are shown; each as a thin line unless said.

    **Returns:** the lines, the infinite-width one last.
    """
    runs = {label: finite} if isinstance(finite, xr.Dataset) else dict(finite)
    ramp = current_theme().ramp(kind, len(runs))
    lines = []
    for colour, (name, run) in zip(ramp, runs.items(), strict=True):
        look: dict[str, Any] = {"colour": colour, "label": name, "band": band}
        lines.append(series(ax, run, selector, **look))
        lines[-1].set_linewidth(1.0)
    limit = series(ax, infinite, selector, role="limit", label=limit_label)
    return [*lines, limit]
