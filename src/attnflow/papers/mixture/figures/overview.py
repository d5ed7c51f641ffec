"""Overview figure: stages of training at finite and at infinite width."""

from functools import partial
from typing import TYPE_CHECKING, Any

from attnflow.figures.exhibits import Course, Line, Panels, Series, Tables
from attnflow.papers.mixture.figures.courses import (
    ALIGNMENT,
    FINITE,
    INFINITE,
    LOG2,
    SCORE,
    SILENT_TRAINING,
    comes_before,
    nearly_together,
    shades,
)
from attnflow.papers.mixture.stages import (
    attention_grown,
    learned,
    neurons_aligned,
    stage_table,
)
from attnflow.schema.declarations import Exhibit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTHS = ("finite", "infinite")


def _both(name: str, of: str, kind: str) -> tuple[Line, Line]:
    """A series at both widths."""
    thin = {"lw": 1.0}
    return (
        Line(name, of, run="finite", kind=kind, band="seeds", style=thin),
        Line(f"{name}, infinite", of, run="infinite", role="limit", label=""),
    )


def _label_widths(ax: "Axes", table: Series) -> None:
    """Legend for the lines of finite and of infinite width."""
    lines = ax.get_lines()
    first = [line.get_label() for line in lines].index("$v_{1}$")
    names = "width 128, 3 seeds", "infinite width"
    where = {"loc": "lower right", "bbox_to_anchor": (1.0, 0.02)}
    ax.legend(lines[first : first + 2], names, **where)


_course = partial(Course, clock="finite", shades=shades("finite", named=False))
PANELS = Panels(
    (
        _course(
            title="Loss of the two groups of samples",
            y="loss",
            ylim=(0, 0.78),
            levels={r"$\log 2$": LOG2},
            lines=(
                *_both("consistent", "loss_by_group[consistent]", "consistent"),
                *_both("conflicting", "loss_by_group[conflicting]", "conflicting"),
            ),
            shades=shades("finite"),
        ),
        _course(
            title="Alignment of the positive head's neuron",
            y=ALIGNMENT,
            lines=(
                *_both("v1", "value[+,v1]", "class"),
                *_both("c1", "value[+,c1]", "group"),
            ),
            finish=_label_widths,
        ),
        _course(
            title="Attention scores of the positive head: key, query",
            y=SCORE,
            lines=(
                *_both("c1, v1", "score[+,c1,v1]", "match"),
                *_both("c1, v2", "score[+,c1,v2]", "mismatch"),
            ),
        ),
    ),
    columns=1,
    size=(8.4, 8.4),
    share_time=True,
)


def _at_end(table: Tables, width: str) -> dict[str, float]:
    """Final values of all series at a width, medians over seeds."""
    suffix = ", infinite" if width == "infinite" else ""
    return {
        name: float(panel.ends[name + suffix].median())
        for panel in table.values()
        for name in list(panel)[::2]
    }


def values(table: Tables) -> dict[str, Any]:
    """Stage times and final values at both widths, and the closed forms."""
    rows = {width: stage_table(table.runs[width]) for width in WIDTHS}
    return {
        width: {
            "steps": {row.name: row.detected for row in rows[width]},
            "at the end": _at_end(table, width),
        }
        for width in WIDTHS
    } | {"closed form": {"steps": {row.name: row.formula for row in rows["infinite"]}}}


CHECKS = {
    "neurons align, then consistent samples are learned, then attention grows": (
        lambda t: [
            comes_before(neurons_aligned(run), learned(run, "consistent"))
            and comes_before(learned(run, "consistent"), attention_grown(run))
            for run in t.runs.values()
        ]
    ),
    "conflicting samples are learned last": lambda t: [
        comes_before(learned(run, "consistent"), learned(run, "conflicting"))
        for run in t.runs.values()
    ],
    "at width 128 they are learned within 5% of the time of infinite width": lambda t: (
        nearly_together(
            *(learned(t.runs[w], "conflicting") for w in WIDTHS), factor=1.05
        )
    ),
}

OVERVIEW = Exhibit(
    id="overview",
    kind="figure",
    title="Three stages of training, at finite and at infinite width",
    caption=(
        "Losses, neuron alignments and attention scores when all weights are trained "
        "together by gradient descent: coloured lines are three runs of width 128, "
        "dashed lines the infinitely wide model, computed exactly. Neurons align "
        "until the consistent samples are learned; scores then grow exponentially "
        "from tiny values until the conflicting samples are learned too; after that "
        "both reduce the loss. The paper shows finite runs (Figure 1) and analyses "
        "infinite width."
    ),
    needs={"finite": FINITE, "infinite": INFINITE},
    shows=PANELS,
    values=values,
    checks=CHECKS,
    silent=SILENT_TRAINING,
)
