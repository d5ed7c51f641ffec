"""Panels of checks: the numbers of each with the threshold between both verdicts."""

import textwrap
from collections.abc import Sequence
from functools import singledispatch

import numpy as np
from matplotlib.axes import Axes

from attnflow import figures
from attnflow.claims import (
    Estimate,
    Exact,
    HighProbability,
    Ladder,
    LargeEnough,
    Measurement,
    Seeds,
    Slope,
    Unchecked,
)
from attnflow.claims.ladder import BAND, QUARTER
from attnflow.claims.statistics import clopper_pearson, fit_line

WIDE = 44
"""Characters of a title line."""
ROUNDING = 1e-9
"""Margins below it are on the border, on an axis that does not enlarge rounding."""


def title(ax: Axes, text: str) -> None:
    """A title of at most two lines."""
    lines = textwrap.wrap(text, WIDE, max_lines=2, placeholder=" …")
    figures.name_panel(ax, "\n".join(lines))


def is_drawable(check: Measurement) -> bool:
    """Whether a check has numbers for a picture."""
    if isinstance(check, Unchecked):
        return False
    if isinstance(check, Seeds):
        return bool(np.isfinite(check.margin).any())
    if isinstance(check, Ladder):
        return int(_usable(check).sum()) >= 2
    if isinstance(check, Estimate):
        return bool(np.isfinite((check.value, *check.interval)).all())
    if isinstance(check, Slope):
        return bool((np.isfinite(check.x) & np.isfinite(check.y)).any())
    return True


def _usable(check: Ladder) -> np.ndarray:
    ratio = np.array(check.ratio)
    return np.isfinite(ratio) & (ratio > 0)


@singledispatch
def draw_check(check: Measurement, ax: Axes, names: Sequence[str]) -> None:
    """Draw a check; `names` are those of its seeds, where it has seeds."""
    raise TypeError(f"{check!r} is not drawn: ask `is_drawable` first.")


@singledispatch
def caption(check: Measurement) -> str:
    """The words over the panel of a check."""
    return getattr(check, "what", "")


@draw_check.register
def _(check: Seeds, ax: Axes, names: Sequence[str]) -> None:
    margin = np.array(check.margin, float)
    colours = [_colour(held) for held in check.held]
    entries = np.arange(len(margin))
    ax.vlines(entries, 0.0, margin, color=colours, lw=1.0, alpha=0.5)
    ax.scatter(entries, margin, c=colours, s=30, zorder=4)
    figures.reference(ax, 0.0, "threshold")
    shown = entries[:: max(1, len(entries) // 10)]
    ax.set_xticks(shown, [str(names[entry]) for entry in shown.tolist()])
    ax.tick_params("x", rotation=30 if max(map(len, names)) > 4 else 0)
    ax.set(xlabel="seed", ylabel="margin, in the claim's unit")
    ax.margins(x=0.05, y=0.12)
    if np.nanmax(np.abs(margin)) < ROUNDING:
        ax.set_ylim(-1.0, 1.0)


@caption.register
def _(check: Seeds) -> str:
    return f"{check.what}: in {sum(check.held)} of {len(check.margin)} seeds"


@draw_check.register
def _(check: Ladder, ax: Axes, names: Sequence[str]) -> None:
    usable = _usable(check)
    size, ratio = np.array(check.size)[usable], np.array(check.ratio)[usable]
    kind = check.kind.removesuffix("-tilde")
    stated = 0.0 if kind == "theta" else None
    figures.ladder_plot(ax, size.tolist(), ratio.tolist(), expected_slope=stated)
    if kind == "o(1)":
        figures.reference(ax, QUARTER * ratio[0], "a quarter of the first")
    else:
        _draw_band(ax, size, float(np.exp(np.log(ratio).mean())), check.constant)
    ax.set(xlabel=check.axis, ylabel="measured / predicted")
    ax.margins(y=0.25)  # the slope is written above the line of the constant


@caption.register
def _(check: Ladder) -> str:
    return f"{check.what} ({check.kind})"


def _draw_band(ax: Axes, size: np.ndarray, middle: float, constant: float) -> None:
    """Slopes within the band through the middle, and the factor that is allowed."""
    centre = np.exp(np.log(size).mean())
    grid = np.array([size.min(), size.max()])
    edges = [middle * (grid / centre) ** slope for slope in (-BAND, BAND)]
    theme = figures.current_theme()
    ax.fill_between(grid, *edges, color=theme.hairline, alpha=0.6, lw=0, zorder=0)
    half = np.sqrt(constant)
    figures.reference(ax, middle * half)
    figures.reference(ax, middle / half, f"a factor {constant:g} between the lines")


@draw_check.register
def _(check: Slope, ax: Axes, names: Sequence[str]) -> None:
    x, y = np.array(check.x), np.array(check.y)
    ax.plot(x, y, "o", ms=5.5, color=_colour(True), zorder=4)
    grid = np.array([np.nanmin(x), np.nanmax(x)])
    if _is_line(check):
        line = fit_line(x, y)
        ax.plot(grid, line.intercept + line.slope * grid, color=_colour(True), lw=1)
        middle = float(y.mean())
        for error in (-check.tolerance, check.tolerance):
            slope = check.expected + error
            figures.theory(ax, grid, middle + slope * (grid - x.mean()))
    ax.set(xlabel=check.axes[0], ylabel=check.axes[1])
    ax.margins(x=0.05, y=0.12)


@caption.register
def _(check: Slope) -> str:
    slope = "no slope"
    if _is_line(check):
        slope = f"slope {fit_line(np.array(check.x), np.array(check.y)).slope:.4g}"
    stated = f"{check.expected:g} ± {check.tolerance:g} stated"
    return f"{check.what}: {slope}, {stated}"


def _is_line(check: Slope) -> bool:
    finite = np.isfinite(check.x).all() and np.isfinite(check.y).all()
    return bool(finite) and len(check.x) > 2 and np.ptp(check.x) > 0


@draw_check.register
def _(check: Estimate, ax: Axes, names: Sequence[str]) -> None:
    ax.hlines(0.0, *check.interval, color=_colour(True), lw=1.2, alpha=0.6)
    ax.plot(check.value, 0.0, "o", color=_colour(True), zorder=4)
    theme = figures.current_theme()
    for error in (-check.tolerance, check.tolerance):
        ax.axvline(check.expected + error, color=theme.muted, lw=0.8, ls=(0, (1, 2)))
    ax.set(yticks=[], xlabel="estimate, with its 95% interval")


@caption.register
def _(check: Estimate) -> str:
    stated = f"{check.expected:g} ± {check.tolerance:g} stated"
    return f"{check.what}: {check.value:.4g}, {stated}"


@draw_check.register
def _(check: HighProbability, ax: Axes, names: Sequence[str]) -> None:
    rungs = np.arange(len(check.draws))
    for rung, failures, draws in zip(rungs, check.failures, check.draws, strict=True):
        low, high = clopper_pearson(failures, draws)
        colour = _colour(failures / draws <= check.delta)
        ax.vlines(rung, low, high, color=colour, lw=1.2, alpha=0.6)
        ax.plot(rung, failures / draws, "o", color=colour, zorder=4)
    figures.reference(ax, check.delta, f"threshold {check.delta:g}")
    lines = [f"{n} draws" for n in check.draws]
    if names:
        lines = [f"{name}\n{line}" for name, line in zip(names, lines, strict=True)]
    ax.set_xticks(rungs, lines)
    ax.set(ylabel="share of failures", xlabel="" if names else "rung")
    ax.margins(x=0.2)
    ax.set_ylim(bottom=-0.1 * check.delta)


@draw_check.register
def _(check: LargeEnough, ax: Axes, names: Sequence[str]) -> None:
    heights = [0.5 if held is None else float(held) for held in check.held]
    colours = [_colour(held is True) for held in check.held]
    ax.scatter(check.size, heights, c=colours, s=40, zorder=4)
    ax.set(xscale="log", ylim=(-0.5, 1.5), xlabel=check.axis)
    ax.set_xlim(min(check.size) / 2, max(check.size) * 2)
    figures.number_axis(ax, "x")
    words = {0.0: "does not hold", 0.5: "not known", 1.0: "holds"}
    shown = sorted({0.0, 1.0, *heights})
    ax.set_yticks(shown, [words[height] for height in shown])


def _colour(holds: bool) -> str:
    return figures.current_theme().colour("easy" if holds else "hard")


LEAST, MOST = 1e-4, 1e4
"""Where quotients below and above are drawn; their numbers stand beside them."""
_WIDE = 52
ROWS = 8
"""Rows of a panel at most: those on which the verdict depends."""


def draw_errors(ax: Axes, checks: Sequence[Exact], which: str) -> None:
    """Each error in units of its tolerance, which is the line at 1."""
    for row, check in enumerate(checks[:ROWS]):
        text = f"{check.error:.3g} of {check.tolerance:.3g}"
        share = _share(check.error, check.tolerance)
        _draw_row(ax, -row, check.what, (share, share), text, check.error)
    is_above = any(not check.error <= check.tolerance for check in checks)
    _finish(ax, min(len(checks), ROWS), right=30 * MOST if is_above else 30.0)
    ax.set_xlabel("error / tolerance")
    title(ax, f"{which}errors, in units of what is allowed")


def draw_rates(ax: Axes, checks: Sequence[HighProbability], which: str) -> None:
    """Each rate of failures with its interval in units of δ, the line at 1."""
    for row, check in enumerate(checks[:ROWS]):
        failures, draws = check.failures[-1], check.draws[-1]
        ends = [end / check.delta for end in clopper_pearson(failures, draws)]
        text = f"{failures} of {draws}, stated {check.delta:g}"
        span = (max(ends[0], LEAST), min(ends[1], MOST))
        share = _share(failures / draws, check.delta)
        _draw_row(ax, -row, check.what, span, text, share, at=share)
    _finish(ax, min(len(checks), ROWS), right=100.0)
    ax.set_xlabel("share of failures / δ")
    title(ax, f"{which}rates of failures, in units of what is allowed")


def _draw_row(
    ax: Axes,
    height: float,
    name: str,
    span: tuple[float, float],
    text: str,
    value: float,
    at: float | None = None,
) -> None:
    """A number as a point, below a line with its name and its text."""
    theme = figures.current_theme()
    place = span[0] if at is None else at
    colour = _colour(place <= 1.0 and not np.isnan(value))
    ax.hlines(height, *span, color=colour, lw=1.2, alpha=0.6)
    ax.plot([place], [height], "o", ms=6, color=colour, zorder=4)
    short = textwrap.shorten(name, _WIDE, placeholder=" …")
    line = height + 0.25
    ax.text(LEAST / 2.5, line, figures.typeset(short), size="small")
    edge = ax.get_yaxis_transform()
    ax.text(
        1.0, line, text, transform=edge, ha="right", size="small", color=theme.muted
    )


def _finish(ax: Axes, rows: int, right: float) -> None:
    theme = figures.current_theme()
    ax.axvline(1.0, color=theme.muted, lw=0.8, ls=(0, (1, 2)), zorder=1)
    ax.set(xscale="log", xlim=(LEAST / 3, right), ylim=(0.3 - rows, 0.7), yticks=[])
    ax.spines["left"].set_visible(False)
    figures.number_axis(ax, "x")


def _share(value: float, allowed: float) -> float:
    """A number over what is allowed, within the axis."""
    if np.isnan(value):
        return MOST
    if value <= 0.0:
        return LEAST
    return float(np.clip(value / allowed if allowed > 0.0 else MOST, LEAST, MOST))
