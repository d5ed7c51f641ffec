"""The appearance of a figure: themes, colours of kinds, and matplotlib's parameters.

Nothing global is ever changed. Drawing functions are wrapped in `styled`, so that a
figure looks the same whoever draws it; `themed("dark")` around them gives the same
figure for a dark slide. The same quantity has the same colour in every paper:

| kind | stands for | also called |
|---|---|---|
| `signal` | the token that carries the class | `class` |
| `common` | a token that names a group, or occurs in every sample | `group` |
| `noise` | what carries no class | |
| `easy` | samples, losses or tokens that are learned first | `consistent`, `train` |
| `hard` | those that are learned last | `conflicting`, `test` |
| `match` | a score between a key and a query that belong together | |
| `mismatch` | a score between a key and a query that do not | |
| `limit` | infinite width: the exact object beside finite ones | `infinite` |
| `theory` | a formula of a paper, or of ours | |
| `loss` | a loss over all samples | |
| `other` | what is shown for context only | |

Every pair within the first five kinds, and within the two scores, stays apart for all
three kinds of colour blindness on both backgrounds (tests/figures/test_palette.py).
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar

import matplotlib
import numpy as np
from matplotlib.colors import Colormap, LinearSegmentedColormap, to_hex, to_rgb

from attnflow.schema.settings import look_up

P = ParamSpec("P")
R = TypeVar("R")
Parameter = str | float | bool | list[str]

FULL_WIDTH = 9.6
"""Inches: a figure of this width with 11-point labels is readable on a slide."""
ALIASES = MappingProxyType(
    {
        "class": "signal",
        "group": "common",
        "consistent": "easy",
        "train": "easy",
        "conflicting": "hard",
        "test": "hard",
        "infinite": "limit",
    }
)


@dataclass(frozen=True)
class Theme:
    """A background, the ink on it, and the colour of each kind of quantity.

    `muted` is for labels of axes, `hairline` for rules and grids, `stages` for the
    two fills that alternate behind stages.
    """

    name: str
    paper: str
    ink: str
    muted: str
    hairline: str
    stages: tuple[str, str]
    kinds: Mapping[str, str]

    def colour(self, kind: str, shade: int = 0) -> str:
        """The colour of a kind of quantity; later shades are nearer to the paper.

        Shades tell members of one kind apart: `c1` is shade 0, `c2` shade 1, …
        """
        base = look_up("kind of quantity", ALIASES.get(kind, kind), self.kinds)
        return mix(base, self.paper, 1 - 0.72**shade)

    def ramp(self, kind: str, count: int) -> list[str]:
        """`count` colours of one kind, from pale to full, for an ordered parameter."""
        base = self.colour(kind)
        return [mix(base, self.paper, w) for w in np.linspace(0.0, 0.45, count)[::-1]]

    @property
    def mass(self) -> Colormap:
        """From paper to full colour: attention, probabilities."""
        full = self.kinds["signal"]
        middle = [mix(full, self.paper, share) for share in (0.95, 0.5)]
        stops = [*middle, mix(full, "#000030", 0.42)]
        return LinearSegmentedColormap.from_list("mass", stops)

    def depth(self, kind: str) -> Colormap:
        """From paper to the full colour of a kind: a quantity without a sign."""
        stops = [mix(self.colour(kind), self.paper, share) for share in (0.95, 0.5, 0)]
        return LinearSegmentedColormap.from_list(f"depth of {kind}", stops)

    @property
    def signed(self) -> Colormap:
        """From one colour through paper to another: scores around zero."""
        low, high = self.kinds["mismatch"], self.kinds["match"]
        middle = mix(self.paper, self.ink, 0.04)
        return LinearSegmentedColormap.from_list("signed", [low, middle, high])


def mix(colour: str, other: str, share: float) -> str:
    """The colour with a `share` of the `other` one in it."""
    red, green, blue = (1 - share) * np.array(to_rgb(colour)) + share * np.array(
        to_rgb(other)
    )
    return to_hex((red, green, blue))


_COLOURS = {
    # Each kind on a light and on a dark background.
    "signal": ("#3F78E0", "#3F8CF0"),
    "common": ("#D96B00", "#E0A040"),
    "noise": ("#7B3676", "#BE92D8"),
    "easy": ("#08764F", "#4CC490"),
    "hard": ("#8E0B1C", "#D0614F"),
    "match": ("#0893B8", "#5FDAFA"),
    "mismatch": ("#B03468", "#FB82CA"),
    "limit": ("#1B1E23", "#E8EAED"),
    "theory": ("#1B1E23", "#E8EAED"),
    "loss": ("#1B1E23", "#E8EAED"),
    "other": ("#8A919B", "#7E858F"),
}
LIGHT = Theme(
    name="light",
    paper="#FFFFFF",
    ink="#1B1E23",
    muted="#565D67",
    hairline="#D5D9DF",
    stages=("#F1F3F6", "#FFFFFF"),
    kinds=MappingProxyType({kind: pair[0] for kind, pair in _COLOURS.items()}),
)
DARK = Theme(
    name="dark",
    paper="#14171C",
    ink="#E8EAED",
    muted="#A4ABB5",
    hairline="#363C45",
    stages=("#1E232A", "#14171C"),
    kinds=MappingProxyType({kind: pair[1] for kind, pair in _COLOURS.items()}),
)
THEMES = MappingProxyType({"light": LIGHT, "dark": DARK})

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


def parameters(theme: Theme) -> dict[Any, Parameter]:
    """Matplotlib's parameters for a theme.

    Only fonts that come with matplotlib are named, and text becomes outlines, so that
    one figure is one file on every machine.
    """
    ticks = {
        "labelsize": 10.5,
        "labelcolor": theme.muted,
        "color": theme.muted,
        "direction": "out",
        "major.size": 3.5,
        "major.width": 0.7,
        "minor.size": 2.0,
    }
    return {
        # Type.
        # The second has subscripts and signs that the first lacks, such as λ₁.
        "font.family": ["STIXGeneral", "DejaVu Serif"],
        "mathtext.fontset": "stix",
        "font.size": 11.5,
        "axes.labelsize": 11.5,
        "axes.titlesize": 12.5,
        "legend.fontsize": 10.5,
        "text.color": theme.ink,
        "axes.labelcolor": theme.muted,
        # Axes and lines.
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
        **{f"{axis}tick.{name}": ticks[name] for axis in "xy" for name in ticks},
        "lines.linewidth": 1.8,
        "lines.solid_capstyle": "round",
        "lines.solid_joinstyle": "round",
        "legend.frameon": False,
        # Pages and files.
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
