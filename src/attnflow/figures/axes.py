"""Panels with letters, axes with readable numbers, and names typeset as mathematics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from attnflow.claims.stages import EVERY, parse_selector
from attnflow.figures.style import FULL_WIDTH, current_theme, styled
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr

Scale = Literal["linear", "log"]

THIN_SPACE = "\u2009"


@styled
def panels(
    rows: int = 1,
    columns: int = 1,
    *,
    titles: Sequence[str] = (),
    size: tuple[float, float] | None = None,
    share_time: bool = False,
    share_values: bool = False,
    letters: bool = True,
) -> tuple[Figure, np.ndarray]:
    """A figure with a grid of panels, lettered (a), (b), … where there are several.

    **Arguments:**

    - `titles`: one per panel, row by row; token names in them are typeset.
    - `size`: inches; by default as wide as a slide, and panels of pleasant shape.
    - `letters`: without them where panels have names enough.

    **Returns:** the figure, and its axes as an array `(rows, columns)`.
    """
    size = size or (FULL_WIDTH * min(1.0, 0.3 + 0.35 * columns), 0.5 + 2.75 * rows)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(
        rows, columns, squeeze=False, sharex=share_time, sharey=share_values
    )
    for ax in grid.flat:
        number_axis(ax, "y")
    for index, title in enumerate(titles):
        is_lettered = letters and rows * columns > 1
        letter = chr(ord("a") + index) if is_lettered else ""
        name_panel(grid.flat[index], title, letter=letter)
    return figure, grid


@styled
def name_panel(ax: Axes, title: str, *, letter: str = "") -> None:
    """A title at the left, after a letter in bold."""
    bold = f"$\\mathbf{{{letter}}}$   " if letter else ""
    ax.set_title(bold + typeset(title), color=current_theme().ink)


@styled
def align_titles(row: Sequence[Axes]) -> None:
    """Titles of panels side by side at one height, that of the highest."""
    # Matplotlib's stubs leave it out.
    shifts = [ax.titleOffsetTrans for ax in row]  # pyright: ignore[reportAttributeAccessIssue]
    heights = [shift.transform((0.0, 0.0))[1] for shift in shifts]
    for ax, height in zip(row, heights, strict=True):
        if height < max(heights):
            figure = ax.get_figure(root=True)
            assert figure is not None
            pad = 72 / figure.dpi * max(heights)
            ax.set_title(ax.get_title(loc="left"), pad=pad)


@styled
def time_axis(
    ax: Axes, run: xr.Dataset, *, scale: Scale = "linear", label: str | None = None
) -> None:
    """Names the time axis as the run does, and sets its scale and numbers.

    The axis spans the recorded times. A logarithmic one cannot show the time 0, and
    begins at the first positive time.
    """
    times = np.asarray(run[TIME].values, float)
    if "recorded" in run:
        times = times[run["recorded"].any(SEED).values]
    ax.set_xlabel(label if label is not None else time_name(run))
    first = times[times > 0].min() if scale == "log" else times.min()
    ax.set_xscale(scale)
    ax.set_xlim(first, times.max())
    number_axis(ax, "x")


def time_name(run: xr.Dataset) -> str:
    """The label of a time axis, from the units of the run's time."""
    units = str(run[TIME].attrs.get("units", "time"))
    return "time $t$" if units.startswith("time") else units


@styled
def number_axis(ax: Axes, which: Literal["x", "y"], *, ticks: int = 5) -> None:
    """Few ticks, with numbers such as 500, 20 000, 3×10⁶; powers of ten if log."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    if axis.get_scale() != "log":
        axis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
        return
    low, high = sorted(axis.get_view_interval())
    # One power of ten alone gives no scale.
    narrow = np.floor(np.log10(high)) - np.ceil(np.log10(low)) < 1
    subs = (1.0, 2.0, 5.0) if narrow else (1.0,)
    axis.set_major_locator(LogLocator(subs=subs, numticks=ticks + 1))
    text = number if narrow else _power
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_formatter(NullFormatter())


def _power(value: float) -> str:
    exponent = round(np.log10(value))
    return {0: "1", 1: "10"}.get(exponent, f"$10^{{{exponent}}}$")


def number(value: float, digits: int = 4) -> str:
    r"""A number as it is printed: grouped by thin spaces, or with a power of ten.

    !!! example
        ```python
        number(2000)       # 2000
        number(20000)      # 20 000
        number(3.5e6)      # $3.5\times 10^{6}$
        number(-0.25)      # −0.25
        ```
    """
    if not np.isfinite(value):
        return "—"
    size = abs(value)
    if size >= 1e6 or 0 < size < 1e-3:
        exponent = int(np.floor(np.log10(size)))
        factor = f"{value / 10.0**exponent:.{digits}g}"
        return f"${factor}\\times 10^{{{exponent}}}$"
    if size >= 10_000:
        return f"{value:,.0f}".replace(",", THIN_SPACE).replace("-", "−")
    return f"{value:.{digits}g}".replace("-", "−")


GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa"),
    *("lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "phi", "chi", "psi"),
    "omega",
)
# A name of one letter, or a Greek one, followed by a number; X1+- has signs as well.
_TOKEN = re.compile(
    r"(?<![\w$\\])(?P<sign>[+-]?)(?P<stem>[A-Za-z]|" + "|".join(GREEK) + r")"
    r"_?(?P<index>\d+)(?P<signs>[+-]*)(?!\w)"
)

# Heads are said in a panel's title, not at every curve.
_UNNAMED = frozenset({"+", "-", EVERY})


def typeset(text: str) -> str:
    r"""The text with every token name in it as mathematics.

    !!! example
        ```python
        typeset("c1")               # $c_{1}$
        typeset("-v2")              # $-v_{2}$
        typeset("mu1 and common")   # $\mu_{1}$ and common
        typeset("c1 v1 -v2")        # $c_{1}$, $v_{1}$, $-v_{2}$
        typeset("+")                # $+$
        ```
    """
    if "$" in text:
        return text
    if text.strip() in {"+", "-"}:
        return f"${text.strip()}$"
    words = text.split()
    if len(words) > 1 and all(_TOKEN.fullmatch(word) for word in words):
        # A sample: without commas, $c_1 -v_2$ would read as a difference.
        text = ", ".join(words)
    text = _TOKEN.sub(_as_math, text)
    # With mathematics in it, no second font is asked for what the first lacks.
    return _SCRIPTS.sub(_as_script, text) if "$" in text else text


_BELOW = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼₖₘₙ", "0123456789+-ijkmn", strict=True))
_ABOVE = dict(zip("⁰⁴⁵⁶⁷⁸⁹⁺⁻ⁱⁿ", "0456789+-in", strict=True))
_SCRIPTS = re.compile(f"[{''.join(_BELOW)}]+|[{''.join(_ABOVE)}¹²³ᵀ]+")
_ABOVE |= {"¹": "1", "²": "2", "³": "3", "ᵀ": r"\top"}


def _as_script(match: re.Match[str]) -> str:
    """Subscripts and superscripts of Unicode as mathematics."""
    sign, letters = ("_", _BELOW) if match[0][0] in _BELOW else ("^", _ABOVE)
    return f"${sign}{{{''.join(letters[letter] for letter in match[0])}}}$"


def _as_math(match: re.Match[str]) -> str:
    stem = match["stem"]
    letter = f"\\{stem}" if stem in GREEK else stem
    signs = f"^{{{match['signs']}}}" if match["signs"] else ""
    return f"${match['sign']}{letter}_{{{match['index']}}}{signs}$"


def selector_label(selector: str) -> str:
    """The default label of a curve: its tokens, or else its name.

    !!! example
        ```python
        selector_label("score[+,c1,v1]")     # $c_{1}$, $v_{1}$
        selector_label("loss_conflicting")   # loss conflicting
        ```
    """
    parsed = parse_selector(selector)
    shown = [typeset(label) for label in parsed.labels if label not in _UNNAMED]
    return ", ".join(shown) or parsed.name.replace("_", " ")
