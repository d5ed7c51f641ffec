"""Overview figure: stages of training at finite and at infinite width."""

from typing import TYPE_CHECKING

from attnflow import figures, schema
from attnflow.papers.mixture.figures import panels
from attnflow.papers.mixture.figures.runs import (
    FINITE,
    INFINITE,
    SILENT_TRAINING,
    Numbers,
    at_end,
    comes_before,
    nearly_together,
)
from attnflow.papers.mixture.stages import (
    attention_grown,
    learned,
    neurons_aligned,
    stage_table,
)
from attnflow.schema.declarations import Evidence, Exhibit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

LOSSES = (
    ("loss_by_group[consistent]", "consistent", "consistent"),
    ("loss_by_group[conflicting]", "conflicting", "conflicting"),
)
NEURONS = (("value[+,v1]", "class", "v1"), ("value[+,c1]", "group", "c1"))
SCORES = (
    ("score[+,c1,v1]", "match", "c1, v1"),
    ("score[+,c1,v2]", "mismatch", "c1, v2"),
)
TITLES = (
    "Loss of the two groups of samples",
    "Alignment of the positive head's neuron",
    "Attention scores of the positive head: key, query",
)


def draw(evidence: Evidence) -> "Figure":
    """Three panels on one time axis: losses, neurons, main scores."""
    figure, grid = figures.panels(3, titles=TITLES, size=(8.4, 8.4), share_time=True)
    curves = (LOSSES, NEURONS, SCORES)
    labels = ("loss", panels.ALIGNMENT, panels.SCORE)
    lines = []
    for ax, series, label in zip(grid[:, 0], curves, labels, strict=True):
        lines.append(_both_widths(ax, evidence, series))
        ax.set_ylabel(label)
    _label_widths(grid[1, 0], evidence, lines[1])
    figures.reference(grid[0, 0], panels.LOG2, r"$\log 2$")
    grid[0, 0].set_ylim(0, 0.78)
    for ax in grid[:, 0]:
        panels.finish(ax, evidence["finite"], named=ax is grid[0, 0])
    for ax in grid[:-1, 0]:
        ax.set_xlabel("")
    return figure


def _both_widths(
    ax: "Axes", evidence: Evidence, series: tuple[tuple[str, str, str], ...]
) -> "list[Line2D]":
    """Draw each series at both widths; return the lines of the first one."""
    finite, infinite = evidence["finite"], evidence["infinite"]
    lines = [
        figures.beside(ax, finite, infinite, selector, kind=kind, label=label)
        for selector, kind, label in series
    ]
    return lines[0]


def _label_widths(ax: "Axes", evidence: Evidence, lines: "list[Line2D]") -> None:
    """Legend for the lines of finite and of infinite width."""
    finite = evidence["finite"]
    width, seeds = schema.setting_of(finite)["width"], finite.sizes["seed"]
    names = [f"width {width}, {seeds} seeds", "infinite width"]
    ax.legend(lines, names, loc="lower right", bbox_to_anchor=(1.0, 0.02))


def values(evidence: Evidence) -> Numbers:
    """Stage times and final values at both widths, and the closed forms."""
    return {
        name: {
            "steps": {row.name: row.detected for row in stage_table(run)},
            "at the end": {
                label: at_end(run, selector)
                for selector, _, label in (*LOSSES, *NEURONS, *SCORES)
            },
        }
        for name, run in evidence.items()
    } | {"closed form": {"steps": _closed_forms(evidence)}}


def _closed_forms(evidence: Evidence) -> dict[str, float | None]:
    return {row.name: row.formula for row in stage_table(evidence["infinite"])}


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether stages have the stated order, and width 128 is near infinite width."""
    finite, limit = evidence["finite"], evidence["infinite"]
    stages = [
        (neurons_aligned(run), learned(run, "consistent"), attention_grown(run))
        for run in (finite, limit)
    ]
    return {
        "neurons align, then consistent samples are learned, then attention grows": all(
            comes_before(aligned, easy) and comes_before(easy, attention)
            for aligned, easy, attention in stages
        ),
        "conflicting samples are learned last": all(
            comes_before(learned(run, "consistent"), learned(run, "conflicting"))
            for run in (finite, limit)
        ),
        "at width 128 they are learned within 5% of the time of infinite width": (
            nearly_together(
                learned(finite, "conflicting"), learned(limit, "conflicting"), 1.05
            )
        ),
    }


OVERVIEW = Exhibit(
    id="overview",
    kind="figure",
    title="Three stages of training, at finite and at infinite width",
    caption=(
        "Simultaneous training of all weights by gradient descent: coloured lines are "
        "three runs of width 128, dashed lines the infinitely wide model, computed "
        "exactly. Neurons align until the consistent samples are learned; scores then "
        "grow exponentially from tiny values until the conflicting samples are learned "
        "too; after that both reduce the loss. The paper shows finite runs (Figure 1) "
        "and analyses infinite width."
    ),
    needs={"finite": FINITE, "infinite": INFINITE},
    draw=draw,
    values=values,
    checks=checks,
    silent=SILENT_TRAINING,
)
