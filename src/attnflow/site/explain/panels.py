"""Each kind of check as a panel: what was measured, and the threshold it is held to."""

import textwrap
from collections.abc import Sequence
from functools import singledispatch

import numpy as np
from matplotlib.axes import Axes

from attnflow import figures
from attnflow.claims import (
    HighProbability,
    Ladder,
    LargeEnough,
    Measurement,
    Seeds,
    Slope,
)
from attnflow.claims.ladder import BAND, QUARTER
from attnflow.claims.statistics import clopper_pearson, fit_line

WIDE = 52
"""Characters of a title line."""


@singledispatch
def draw_check(check: Measurement, ax: Axes, names: Sequence[str]) -> None:
    """Draw a check; `names` are those of its seeds, where it has seeds."""
    ax.set_axis_off()


def title(ax: Axes, text: str) -> None:
    """A title of at most two lines."""
    lines = textwrap.wrap(text, WIDE, max_lines=2, placeholder=" …")
    figures.name_panel(ax, "\n".join(lines))


@draw_check.register
def _(check: Seeds, ax: Axes, names: Sequence[str]) -> None:
    margin = np.array(check.margin, float)
    colours = [_colour(held) for held in check.held]
    places = np.arange(len(margin))
    ax.vlines(places, 0.0, margin, color=colours, lw=1.0, alpha=0.5)
    ax.scatter(places, margin, c=colours, s=30, zorder=4)
    figures.reference(ax, 0.0, "threshold")
    shown = places[:: max(1, len(places) // 10)]
    ax.set_xticks(shown, [str(names[place]) for place in shown.tolist()])
    ax.tick_params("x", rotation=30 if max(map(len, names)) > 4 else 0)
    ax.set(xlabel="seed", ylabel="margin")
    ax.margins(x=0.05, y=0.12)
    title(ax, f"{check.what}: {sum(check.held)} of {len(margin)}, {check.q:.0%} needed")


@draw_check.register
def _(check: Ladder, ax: Axes, names: Sequence[str]) -> None:
    size, ratio = np.array(check.size), np.array(check.ratio)
    usable = np.isfinite(ratio) & (ratio > 0)
    if usable.sum() < 2:
        ax.set_axis_off()
        return
    points = size[usable].tolist(), ratio[usable].tolist()
    kind = check.kind.removesuffix("-tilde")
    figures.ladder_plot(ax, *points, expected_slope=0.0 if kind == "theta" else None)
    if kind == "o(1)":
        figures.reference(ax, QUARTER * ratio[0], "a quarter of the first")
    else:
        _draw_band(
            ax, size, float(np.exp(np.log(ratio[usable]).mean())), check.constant
        )
    ax.set(xlabel="size", ylabel="measured / predicted")
    title(ax, f"{check.what} ({check.kind})")


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
    grid = np.array([x.min(), x.max()])
    if np.isfinite(y).all() and np.ptp(x) > 0 and len(x) > 2:
        line = fit_line(x, y)
        ax.plot(grid, line.intercept + line.slope * grid, color=_colour(True), lw=1)
        middle = float(y.mean())
        for error in (-check.tolerance, check.tolerance):
            slope = check.expected + error
            figures.theory(ax, grid, middle + slope * (grid - x.mean()))
        found = f"slope {line.slope:.4g}"
    else:
        found = "no slope"
    ax.set(xlabel="x, as fitted", ylabel="y, as fitted")
    ax.margins(x=0.05, y=0.12)
    title(ax, f"{check.what}: {found}, {check.expected:g} ± {check.tolerance:g} stated")


@draw_check.register
def _(check: HighProbability, ax: Axes, names: Sequence[str]) -> None:
    places = np.arange(len(check.draws))
    for place, failures, draws in zip(places, check.failures, check.draws, strict=True):
        low, high = clopper_pearson(failures, draws)
        ax.vlines(place, low, high, color=_colour(True), lw=1.2, alpha=0.6)
        ax.plot(place, failures / draws, "o", color=_colour(True), zorder=4)
    figures.reference(ax, check.delta, f"threshold {check.delta:g}")
    ax.set_xticks(places, [f"{n} draws" for n in check.draws])
    ax.set(ylabel="share of failures", xlabel="rung")
    ax.margins(x=0.2)
    ax.set_ylim(bottom=-0.1 * check.delta)
    title(ax, check.what)


@draw_check.register
def _(check: LargeEnough, ax: Axes, names: Sequence[str]) -> None:
    colours = [_colour(held) for held in check.held]
    ax.scatter(check.size, np.array(check.held, float), c=colours, s=40, zorder=4)
    ax.set(xscale="log", ylim=(-0.5, 1.5), xlabel="size")
    ax.set_xlim(min(check.size) / 2, max(check.size) * 2)
    figures.number_axis(ax, "x")
    ax.set_yticks([0.0, 1.0], ["does not hold", "holds"])
    title(ax, check.what)


def _colour(holds: bool) -> str:
    return figures.current_theme().colour("easy" if holds else "hard")
