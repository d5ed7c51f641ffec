"""The look of a figure, as a context: nothing global is ever changed.

Drawing functions are wrapped in `styled`, so that a figure looks the same whoever
draws it; `themed("dark")` around them gives the same figure for a dark slide.
"""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

import matplotlib

from attnflow.figures.palette import LIGHT, THEMES, Theme
from attnflow.schema.names import look_up

P = ParamSpec("P")
R = TypeVar("R")

FULL_WIDTH = 9.6
"""Inches: a figure of this width with 11-point labels is readable on a slide."""

_current: ContextVar[Theme] = ContextVar("theme", default=LIGHT)


def current_theme() -> Theme:
    """The theme of the surrounding `themed` block; light outside of any."""
    return _current.get()


@contextmanager
def themed(name: str = "light") -> Iterator[Theme]:
    """Draws, and saves, in one theme inside the block.

    !!! example
        ```python
        with themed("dark"):
            figure = draw(evidence)
            figure.savefig("slide.svg")
        ```
    """
    theme = look_up("theme", name, THEMES)
    token = _current.set(theme)
    try:
        with matplotlib.rc_context(parameters(theme)):
            yield theme
    finally:
        _current.reset(token)


def styled(function: Callable[P, R]) -> Callable[P, R]:
    """The function, drawing in the current theme whatever the user's own style."""

    @functools.wraps(function)
    def inner(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.rc_context(parameters(current_theme())):
            return function(*args, **kwargs)

    return inner


def parameters(theme: Theme) -> dict[Any, Any]:
    """Matplotlib's parameters for a theme.

    Only fonts that come with matplotlib are named, and text becomes outlines, so that
    one figure is one file on every machine.
    """
    return _type(theme) | _axes(theme) | _files(theme)


def _type(theme: Theme) -> dict[str, Any]:
    return {
        "font.family": "STIXGeneral",
        "mathtext.fontset": "stix",
        "font.size": 11.5,
        "axes.labelsize": 11.5,
        "axes.titlesize": 12.5,
        "xtick.labelsize": 10.5,
        "ytick.labelsize": 10.5,
        "legend.fontsize": 10.5,
        "text.color": theme.ink,
        "axes.labelcolor": theme.muted,
        "xtick.labelcolor": theme.muted,
        "ytick.labelcolor": theme.muted,
    }


def _axes(theme: Theme) -> dict[str, Any]:
    return {
        "axes.facecolor": "none",
        "axes.edgecolor": theme.muted,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlelocation": "left",
        "axes.titlepad": 8.0,
        "axes.xmargin": 0.0,
        "axes.axisbelow": True,
        "grid.color": theme.hairline,
        "grid.linewidth": 0.6,
        "xtick.color": theme.muted,
        "ytick.color": theme.muted,
        "xtick.direction": "out",
        "ytick.direction": "out",
        "xtick.major.size": 3.5,
        "ytick.major.size": 3.5,
        "xtick.major.width": 0.7,
        "ytick.major.width": 0.7,
        "xtick.minor.size": 2.0,
        "ytick.minor.size": 2.0,
        "lines.linewidth": 1.8,
        "lines.solid_capstyle": "round",
        "lines.solid_joinstyle": "round",
        "legend.frameon": False,
    }


def _files(theme: Theme) -> dict[str, Any]:
    return {
        "figure.facecolor": theme.paper,
        "figure.constrained_layout.w_pad": 0.1,
        "figure.constrained_layout.h_pad": 0.07,
        "savefig.facecolor": theme.paper,
        "savefig.dpi": 200,
        "savefig.bbox": "standard",
        "svg.fonttype": "path",
        # Without a salt, ids in the file are random and no two files are equal.
        "svg.hashsalt": "attnflow",
        "path.simplify": True,
        "path.simplify_threshold": 0.2,
    }
