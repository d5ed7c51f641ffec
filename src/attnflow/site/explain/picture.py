"""The picture of a verdict: series with levels and stages, and a panel per check."""

import textwrap
from collections.abc import Callable, Sequence
from functools import partial, singledispatch

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attnflow import figures
from attnflow.claims import (
    Evidence,
    Exact,
    HighProbability,
    Ladder,
    LargeEnough,
    Measurement,
    Seeds,
    Slope,
)
from attnflow.claims.ladder import BAND, QUARTER
from attnflow.claims.stages import Detection
from attnflow.claims.statistics import clopper_pearson, fit_line
from attnflow.figures.axes import Scale
from attnflow.figures.curves import thin
from attnflow.figures.style import FULL_WIDTH, styled
from attnflow.papers.base import Paper
from attnflow.schema.dims import STAGE, TIME
from attnflow.site.explain.explanation import Explanation, seed_names, series_of

Drawing = Callable[[Axes], None]
SERIES, CHECKS = 2, 4
"""Panels of each kind at most; the explanation has the others in words."""


@styled
def draw_claim(paper: Paper, explanation: Explanation, evidence: Evidence) -> Figure:
    """What a claim was judged by: series with their levels, and each check."""
    seen = explanation.seen
    series = series_of(seen, evidence)
    # On a ladder, the smallest rung and the largest.
    shown = series if len(series) <= SERIES else (series[0], series[-1])
    drawings = [
        *(partial(draw_series, detection=item, paper=paper) for item in shown),
        *_checks(seen.finding.checks, evidence),
    ]
    columns = min(2, len(drawings))
    rows = -(-len(drawings) // columns)
    size = (FULL_WIDTH * (0.6 if columns == 1 else 1.0), 0.6 + 3.0 * rows)
    figure, grid = figures.panels(rows, columns, size=size)
    for ax in grid.flat[len(drawings) :]:
        ax.remove()
    for ax, draw in zip(grid.flat, drawings, strict=False):
        draw(ax)
    return figure


def _checks(checks: Sequence[Measurement], evidence: Evidence) -> list[Drawing]:
    """All errors in one panel, every other check in one of its own."""
    errors = [check for check in checks if isinstance(check, Exact)]
    drawings: list[Drawing] = [partial(draw_errors, checks=errors)] if errors else []
    for check in checks:
        if not isinstance(check, Exact):
            names = seed_names(len(getattr(check, "held", ())), evidence)
            drawings.append(partial(draw_check, check, names=names))
    return drawings[:CHECKS]


DECADES = 1e3
"""A series that spans more is drawn on a logarithmic axis."""
_LETTER = 0.014
"""The width of a letter of a stage's name, as a share of the axis."""


def draw_series(ax: Axes, detection: Detection, paper: Paper) -> None:
    """Every seed and entry of a series as a line, and where it reached its level."""
    time, lines = _lines(detection)
    colour = figures.current_theme().colour("signal")
    ax.plot(time, lines, color=colour, lw=1.0, alpha=max(0.15, lines.shape[1] ** -0.5))
    values = lines
    if (level := detection.level) is not None:
        figures.reference(ax, level, f"threshold {level:.4g}")
        levels = np.full(len(detection.times), level)
        ax.plot(detection.times, levels, "o", ms=5, color=colour, zorder=5)
        values = np.append(lines, level)
    figures.time_axis(ax, detection.run, scale=_scale(time))
    ax.set(yscale=_scale(values), ylabel=str(detection.series.name or "value"))
    figures.number_axis(ax, "y")
    experiment = detection.run.attrs.get("experiment", "")
    title(ax, f"{detection.name}, {paper.slug}/{experiment}")
    # After the title, which makes room for the names of stages.
    _shade(ax, detection.run, paper)


def _lines(detection: Detection) -> tuple[np.ndarray, np.ndarray]:
    """The recorded times, and a column for each seed and entry."""
    values = detection.series
    if "recorded" in detection.run:
        values = values.where(detection.run["recorded"])
    others = [str(dim) for dim in values.dims if dim != TIME]
    values = thin(values.isel(time=values.notnull().any(others).values))
    time = values[TIME].values.astype(float)
    rows = values.transpose(TIME, ...).values
    return time, rows.reshape(len(time), -1)


def _scale(values: np.ndarray) -> Scale:
    """Logarithmic where all that is not 0 is positive, and spans decades."""
    known = values[np.isfinite(values) & (values != 0.0)]
    if known.size == 0 or known.min() < 0.0:
        return "linear"
    return "log" if known.max() > DECADES * known.min() else "linear"


def _shade(ax: Axes, run: xr.Dataset, paper: Paper) -> None:
    """Stages of training, or those that the paper's stage table detects."""
    if STAGE in run.dims and run.sizes[STAGE] > 1:
        figures.shade_stages(ax, *figures.stage_boundaries(run))
        return
    left, right = ax.get_xlim()
    inside = {t: name for name, t in _detected(run, paper) if left < t < right}
    edges = sorted(inside)
    figures.shade_stages(ax, edges, [""] * (len(edges) + 1))
    if edges:
        # The title makes room for the names below it.
        ax.set_title(ax.get_title(loc="left"), pad=18.0)
    right_end, colour = -1.0, figures.current_theme().muted
    above = {"transform": ax.get_xaxis_transform(), "ha": "center", "va": "bottom"}
    for time in edges:
        share = ax.transAxes.inverted().transform(ax.transData.transform((time, 1)))[0]
        half = _LETTER * (len(inside[time]) + 1) / 2
        if share - half >= right_end:
            text = figures.typeset(inside[time])
            ax.text(time, 1.01, text, size="x-small", color=colour, **above)
            right_end = share + half


def _detected(run: xr.Dataset, paper: Paper) -> list[tuple[str, float]]:
    """Names and times of the stages that a run reached."""
    if paper.stage_table is None:
        return []
    try:
        rows = paper.stage_table(run)
    except (KeyError, ValueError):
        # A run of a ladder may record too little for the paper's stages.
        return []
    return [(row.name, row.detected) for row in rows if row.detected is not None]


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
    entries = np.arange(len(margin))
    ax.vlines(entries, 0.0, margin, color=colours, lw=1.0, alpha=0.5)
    ax.scatter(entries, margin, c=colours, s=30, zorder=4)
    figures.reference(ax, 0.0, "threshold")
    shown = entries[:: max(1, len(entries) // 10)]
    ax.set_xticks(shown, [str(names[entry]) for entry in shown.tolist()])
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
    kind, known = check.kind.removesuffix("-tilde"), ratio[usable]
    stated = 0.0 if kind == "theta" else None
    figures.ladder_plot(
        ax, size[usable].tolist(), known.tolist(), expected_slope=stated
    )
    if kind == "o(1)":
        figures.reference(ax, QUARTER * ratio[0], "a quarter of the first")
    else:
        _draw_band(ax, size, float(np.exp(np.log(known).mean())), check.constant)
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
        slope_text = f"slope {line.slope:.4g}"
    else:
        slope_text = "no slope"
    ax.set(xlabel="x, as fitted", ylabel="y, as fitted")
    ax.margins(x=0.05, y=0.12)
    stated = f"{check.expected:g} ± {check.tolerance:g} stated"
    title(ax, f"{check.what}: {slope_text}, {stated}")


@draw_check.register
def _(check: HighProbability, ax: Axes, names: Sequence[str]) -> None:
    rungs = np.arange(len(check.draws))
    for rung, failures, draws in zip(rungs, check.failures, check.draws, strict=True):
        low, high = clopper_pearson(failures, draws)
        ax.vlines(rung, low, high, color=_colour(True), lw=1.2, alpha=0.6)
        ax.plot(rung, failures / draws, "o", color=_colour(True), zorder=4)
    figures.reference(ax, check.delta, f"threshold {check.delta:g}")
    ax.set_xticks(rungs, [f"{n} draws" for n in check.draws])
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


LEAST, MOST = 1e-4, 1e4
"""Where errors below and above are drawn; their numbers stand beside them."""
_WIDE = 60


def draw_errors(ax: Axes, checks: Sequence[Exact]) -> None:
    """Each error in units of its tolerance, which is the line at 1."""
    muted = figures.current_theme().muted
    ax.axvline(1.0, color=muted, lw=0.8, ls=(0, (1, 2)), zorder=1)
    for row, check in enumerate(checks):
        _draw_error(ax, check, -row)
    is_above = any(not check.error <= check.tolerance for check in checks)
    right = 30 * MOST if is_above else 30.0
    ax.set(xscale="log", xlim=(LEAST / 3, right), ylim=(0.3 - len(checks), 0.7))
    ax.set(yticks=[], xlabel="error / tolerance")
    ax.spines["left"].set_visible(False)
    figures.number_axis(ax, "x")
    figures.name_panel(ax, "errors, in units of what is allowed")


def _draw_error(ax: Axes, check: Exact, height: float) -> None:
    share, colour = _share(check), _colour(check.error <= check.tolerance)
    ax.plot([share], [height], "o", ms=7, color=colour, zorder=4)
    name = textwrap.shorten(check.what, _WIDE, placeholder=" …")
    ax.text(LEAST / 2.5, height + 0.2, figures.typeset(name), size="small")
    ax.annotate(
        f"{check.error:.3g} of {check.tolerance:.3g}",
        (share, height),
        (7, 0),
        textcoords="offset points",
        va="center",
        size="small",
        color=figures.current_theme().muted,
    )


def _share(check: Exact) -> float:
    """The error over its tolerance, within the axis."""
    if check.error <= 0.0:
        return LEAST
    if np.isnan(check.error) or check.tolerance <= 0.0:
        return MOST
    return float(np.clip(check.error / check.tolerance, LEAST, MOST))
