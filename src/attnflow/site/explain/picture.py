"""The picture of a verdict: series with levels and stages, then checks."""

from collections.abc import Callable, Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attnflow import figures
from attnflow.claims import Evidence, Exact, Measurement
from attnflow.claims.stages import Detection
from attnflow.figures.style import FULL_WIDTH, styled
from attnflow.papers.base import Paper
from attnflow.site.explain.errors import draw_errors
from attnflow.site.explain.explanation import Explanation, seed_names
from attnflow.site.explain.panels import draw_check
from attnflow.site.explain.series import draw_look
from attnflow.site.explain.watching import series_of

Drawing = Callable[[Axes], None]
SERIES, CHECKS = 2, 4
"""Panels of each kind at most; what is more is told in words."""


@styled
def draw_claim(paper: Paper, told: Explanation, evidence: Evidence) -> Figure:
    """What a claim was judged by: series with their levels, and each check."""
    drawings = [
        *_series(paper, told, evidence),
        *_checks(told.seen.finding.checks, evidence),
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


def _series(paper: Paper, told: Explanation, evidence: Evidence) -> list[Drawing]:
    looks = _chosen(series_of(told.seen, evidence))
    return [partial(draw_look, look=look, paper=paper) for look in looks]


def _checks(checks: Sequence[Measurement], evidence: Evidence) -> list[Drawing]:
    """All errors in one panel, every other check in one of its own."""
    errors = [check for check in checks if isinstance(check, Exact)]
    drawings: list[Drawing] = [partial(draw_errors, checks=errors)] if errors else []
    for check in checks:
        if not isinstance(check, Exact):
            names = seed_names(len(getattr(check, "held", ())), evidence)
            drawings.append(partial(draw_check, check, names=names))
    return drawings[:CHECKS]


def _chosen(looks: tuple[Detection, ...]) -> tuple[Detection, ...]:
    """The first and the last: on a ladder, the smallest rung and the largest."""
    return looks if len(looks) <= SERIES else (looks[0], looks[-1])
