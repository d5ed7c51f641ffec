"""Checks of an error against a tolerance, all on one axis."""

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from attnflow import figures
from attnflow.claims import Exact

LEAST, MOST = 1e-4, 1e4
"""Where errors below and above are drawn; their numbers stand beside them."""
_WIDE = 60


def draw_errors(ax: Axes, checks: Sequence[Exact]) -> None:
    """Each error in units of its tolerance, which is the line at 1."""
    theme = figures.current_theme()
    ax.axvline(1.0, color=theme.muted, lw=0.8, ls=(0, (1, 2)), zorder=1)
    for row, check in enumerate(checks):
        _draw_error(ax, check, -row)
    right = 30 * MOST if _any_above(checks) else 30.0
    ax.set(xscale="log", xlim=(LEAST / 3, right), ylim=(0.3 - len(checks), 0.7))
    ax.set(yticks=[], xlabel="error / tolerance")
    ax.spines["left"].set_visible(False)
    figures.number_axis(ax, "x")
    figures.name_panel(ax, "errors, in units of what is allowed")


def _draw_error(ax: Axes, check: Exact, place: float) -> None:
    theme = figures.current_theme()
    colour = theme.colour("easy" if check.error <= check.tolerance else "hard")
    share = _share(check)
    ax.plot([share], [place], "o", ms=7, color=colour, zorder=4)
    name = textwrap.shorten(check.what, _WIDE, placeholder=" …")
    ax.text(LEAST / 2.5, place + 0.2, figures.typeset(name), size="small")
    ax.annotate(
        f"{check.error:.3g} of {check.tolerance:.3g}",
        (share, place),
        (7, 0),
        textcoords="offset points",
        va="center",
        size="small",
        color=theme.muted,
    )


def _share(check: Exact) -> float:
    """The error over its tolerance, within the axis."""
    if np.isnan(check.error):
        return MOST
    if check.error <= 0.0:
        return LEAST
    share = check.error / check.tolerance if check.tolerance > 0.0 else MOST
    return float(np.clip(share, LEAST, MOST))


def _any_above(checks: Sequence[Exact]) -> bool:
    return any(not check.error <= check.tolerance for check in checks)
