"""Means over runs with their deviations, at a few points of an axis."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from attnflow.figures.style import current_theme


def deviation(found: np.ndarray) -> np.ndarray:
    """The standard deviation over runs, which are the last axis; 0 of a single one."""
    if found.shape[-1] < 2:
        return np.zeros(found.shape[:-1])
    return found.std(axis=-1, ddof=1)


def error_bars(
    ax: Axes, x: Sequence[float], found: np.ndarray, *, kind: str, label: str
) -> None:
    """Means over runs joined by a line, and their deviations as bars.

    **Arguments:**

    - `found`: `(points, runs)`.
    - `kind`: what is shown, which decides the colour.
    """
    ax.errorbar(
        x,
        found.mean(axis=-1),
        deviation(found),
        color=current_theme().colour(kind),
        marker="o",
        capsize=3,
        label=label,
    )
