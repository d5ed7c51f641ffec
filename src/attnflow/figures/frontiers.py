"""What is drawn on a map: conditions that theory gives, and boundaries with a law."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from attnflow.claims.statistics import Boundary
from attnflow.figures.axes import number
from attnflow.figures.curves import DASHES
from attnflow.figures.fields import outlined, rim
from attnflow.figures.names import typeset
from attnflow.figures.style import current_theme, styled

_MANY_DASHES = (DASHES, (0, (1, 1.6)), (0, (6, 2, 1, 2)))
_POINTS = 300
_WIDTH = 1.6


@styled
def condition(
    ax: Axes, curve: Callable[[np.ndarray], np.ndarray], label: str, **look: Any
) -> None:
    r"""Draws a paper's condition on a map: the first key by the second, dashed in ink.

    !!! example
        ```python
        condition(ax, lambda snr: 1000 / snr**2, "$N \cdot$ SNR$^2 = 1000$")
        ```
    """
    limits = ax.get_xlim(), ax.get_ylim()
    space = np.geomspace if ax.get_xscale() == "log" else np.linspace
    x = space(*limits[0], 400)
    ink = current_theme().colour("theory")
    look = {"color": ink, "ls": DASHES, "zorder": 6, **look}
    outlined(ax, x, curve(x), label=typeset(label), **look)
    ax.set(xlim=limits[0], ylim=limits[1])


@styled
def frontier(
    ax: Axes,
    side: Callable[[np.ndarray, np.ndarray], np.ndarray],
    label: str,
    *,
    place: int = 0,
) -> None:
    """Draws a condition on a map as the curve along which `side(x, y)` is 0.

    **Arguments:**

    - `place`: its number among several on one map; each has dashes of its own.
    """
    limits = ax.get_xlim(), ax.get_ylim()
    scales = ax.get_xscale(), ax.get_yscale()
    x, y = (
        (np.geomspace if scale == "log" else np.linspace)(*ends, _POINTS)
        for scale, ends in zip(scales, limits, strict=True)
    )
    ink = current_theme().colour("theory")
    dashes = _MANY_DASHES[place % len(_MANY_DASHES)]
    values = np.asarray(side(*np.meshgrid(x, y)), float)
    lines = ax.contour(x, y, values, levels=[0.0], colors=[ink], zorder=6)
    lines.set(linestyle=[dashes], linewidth=_WIDTH, path_effects=rim(_WIDTH))
    ax.plot([], [], color=ink, ls=dashes, lw=_WIDTH, label=typeset(label))
    ax.set(xlim=limits[0], ylim=limits[1])


@styled
def boundary_law(
    ax: Axes, sizes: np.ndarray, law: Boundary, *, fitted: bool = True
) -> None:
    """Draws where each row crosses its level, and the power law through these places.

    **Arguments:**

    - `sizes`: the values of the first key, to which the places of the law belong.
    - `fitted`: draw the law too, where there is one.
    """
    limits = ax.get_xlim(), ax.get_ylim()
    colour = current_theme().colour("signal")
    dots = {"ls": "", "marker": "o", "ms": 4, "mec": current_theme().paper}
    ax.plot(law.places, sizes, color=colour, label="boundary", zorder=7, **dots)
    if fitted and law.exists:
        count = np.geomspace(*limits[1], 200) if limits[1][0] > 0 else np.array(sizes)
        named = f"exponent {number(law.exponent, 3)}"
        if len(law.by_seed) > 1:
            low, high = (number(end, 3) for end in law.exponent_interval)
            named += f" ({low} … {high})"
        place = np.exp(law.intercept) * count**law.exponent
        outlined(ax, place, count, color=colour, label=named, zorder=5)
    ax.set(xlim=limits[0], ylim=limits[1])
