"""The picture of a verdict: series with levels and stages, and a panel per check."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attnflow import figures
from attnflow.claims import Evidence, Exact, HighProbability, Measurement, Rule
from attnflow.claims.judgement import corrected_rule_of, rule_of
from attnflow.claims.stages import Detection
from attnflow.claims.trials import Reading
from attnflow.figures.axes import Scale
from attnflow.figures.curves import thin
from attnflow.figures.style import FULL_WIDTH, styled
from attnflow.papers.base import Paper
from attnflow.schema.dims import SEED, STAGE, TIME
from attnflow.schema.installation import xr
from attnflow.site.explain.check_panels import (
    caption,
    draw_check,
    draw_errors,
    draw_rates,
    is_drawable,
    title,
)
from attnflow.site.explain.explanation import AS_CORRECTED, Explanation, seed_names
from attnflow.site.explain.shown_series import Shown, by_gravity, shown_series

Drawing = Callable[[Axes], None]
SERIES, CHECKS = 2, 4
"""Panels of each kind at most; the explanation has the others in words."""


@styled
def draw_claim(
    paper: Paper, explanation: Explanation, evidence: Evidence
) -> Figure | None:
    """What a claim was judged by: series with their levels, and each check.

    `None` where there is nothing to draw.
    """
    series = shown_series(explanation, evidence)
    # On a ladder, the smallest rung and the largest.
    shown = series if len(series) <= SERIES else (series[0], series[-1])
    drawings = [
        *(partial(draw_series, shown=item, paper=paper) for item in shown),
        *_checks(explanation, evidence),
    ]
    if not drawings:
        return None
    columns = min(2, len(drawings))
    rows = -(-len(drawings) // columns)
    size = (FULL_WIDTH * (0.6 if columns == 1 else 1.0), 0.6 + 3.0 * rows)
    figure, grid = figures.panels(rows, columns, size=size)
    for ax in grid.flat[len(drawings) :]:
        ax.remove()
    for ax, draw in zip(grid.flat, drawings, strict=False):
        draw(ax)
    return figure


def _checks(explanation: Explanation, evidence: Evidence) -> list[Drawing]:
    """Panels of the checks on which each statement depends, the printed one first."""
    claim = explanation.claim
    panels = _panels("", explanation.printed, rule_of(claim), evidence)
    if explanation.corrected is None:
        return panels[:CHECKS]
    rule = corrected_rule_of(claim)
    corrected = _panels(f"{AS_CORRECTED}: ", explanation.corrected, rule, evidence)
    mine = CHECKS - min(len(corrected), CHECKS // 2)
    return [*panels[:mine], *corrected[: CHECKS - min(len(panels), mine)]]


def _panels(
    which: str, reading: Reading, rule: Rule, evidence: Evidence
) -> list[Drawing]:
    """All errors in one panel, all rates of failures in one, others by themselves."""
    checks = by_gravity(reading.finding, rule)
    errors = [check for check in checks if isinstance(check, Exact)]
    rates = [check for check in checks if isinstance(check, HighProbability)]
    panels: list[Drawing] = []
    if errors:
        panels.append(partial(draw_errors, checks=errors, which=which))
    if len(rates) > 1:
        panels.append(partial(draw_rates, checks=rates, which=which))
    together = [*errors, *(rates if len(rates) > 1 else ())]
    for check in checks:
        if check not in together and is_drawable(check):
            names = _names(check, evidence)
            panels.append(partial(_draw_named, check=check, which=which, names=names))
    return panels


def _names(check: Measurement, evidence: Evidence) -> list[str]:
    """Names of a check's seeds; of its rungs, where draws are counted run by run."""
    if isinstance(check, HighProbability):
        return [*evidence] if len(evidence) == len(check.draws) else []
    return seed_names(len(getattr(check, "held", ())), evidence)


def _draw_named(ax: Axes, check: Measurement, which: str, names: Sequence[str]) -> None:
    draw_check(check, ax, names)
    title(ax, which + caption(check))


DECADES = 1e3
"""A series that spans more is drawn on a logarithmic axis."""
_LETTER = 0.014
"""The width of a letter of a stage's name, as a share of the axis."""
AROUND = 1e4
"""How far around its threshold a series is shown on a logarithmic axis."""
_MANY = (0.4, 0.3)
"""Width and opacity of the lines of a seed that has many entries."""
_NAME = 40
"""Characters of an axis's name."""


def draw_series(ax: Axes, shown: Shown, paper: Paper) -> None:
    """Every seed and entry of a series as a line, and where it reached its level."""
    detection = shown.detection
    time, lines = _lines(detection.run, detection.series)
    theme = figures.current_theme()
    colour = theme.colour("signal")
    flat = lines.reshape(len(time), -1)
    ax.plot(time, flat, color=colour, lw=1.0, alpha=max(0.15, flat.shape[1] ** -0.5))
    if shown.seed is not None and lines.shape[1] > 1:
        name = detection.run[SEED].values[shown.seed]
        entries = lines[:, shown.seed]
        width, alpha = (1.4, 1.0) if entries.shape[1] == 1 else _MANY
        ax.plot(time, entries, color=theme.ink, lw=width, alpha=alpha, zorder=4)
        ax.plot([], [], color=theme.ink, lw=1.4, label=f"seed {name}, which decides")
        ax.legend(loc="best")
    values = flat
    if (level := detection.level) is not None:
        figures.reference(ax, level, f"threshold {level:.4g}")
        levels = np.full(len(detection.times), level)
        ax.plot(detection.times, levels, "o", ms=5, color=colour, zorder=5)
        values = np.append(flat, level)
    figures.time_axis(ax, detection.run, scale=_scale(time))
    if _has_own_clock(detection):
        ax.set_xlabel("time, on the clock of what is compared")
    if time[-1] > time[0] > 0.0 or (time[-1] > 0.0 and _scale(time) == "linear"):
        ax.set_xlim(time[0], time[-1])
    ax.set_yscale(_scale(values))
    if level is not None and _scale(values) == "log":
        low, high = np.nanmin(values[values > 0.0]), np.nanmax(values)
        ax.set_ylim(max(low, level / AROUND), min(high * 2.0, level * AROUND))
    figures.number_axis(ax, "y")
    name = str(detection.series.name or detection.name)
    ax.set_ylabel(figures.typeset(textwrap.shorten(name, _NAME, placeholder=" …")))
    title(ax, f"{detection.name}, {shown.where(paper.slug)}")
    # After the title, which makes room for the names of stages.
    if not _has_own_clock(detection):
        _shade(ax, detection.run, paper)


def _has_own_clock(detection: Detection) -> bool:
    """Whether a series was computed with other times than those of its run."""
    times = (detection.series[TIME].values, detection.run[TIME].values)
    return not np.array_equal(*times)


def _lines(run: xr.Dataset, values: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
    """The recorded times, and values by time, seed and entry."""
    if "recorded" in run and values.sizes[TIME] == run.sizes[TIME]:
        # By place: a series may have a clock of its own.
        values = values.where(run["recorded"].assign_coords({TIME: values[TIME]}))
    others = [str(dim) for dim in values.dims if dim != TIME]
    values = thin(values.isel(time=values.notnull().any(others).values))
    time = values[TIME].values.astype(float)
    rows = values.transpose(TIME, SEED, ...).values
    return time, rows.reshape(*rows.shape[:2], -1)


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
