"""Losses, neurons and scores over time, as several figures of `mixture` show them."""

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from attnflow.figures.exhibits import Course, Line, Series
from attnflow.figures.exhibits.course import Edges
from attnflow.papers.mixture.stages import shading
from attnflow.schema.declarations import Evidence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOG2 = math.log(2)
"""The loss of a guess."""
ALIGNMENT = r"alignment $w_+^{\top}\mu$"
SCORE = r"score $\mu^{\top} W_K^{\top} W_Q\,\nu$"
GROUPS = {"consistent": "consistent", "conflicting": "conflicting", "mixed": "noise"}
"""Groups of samples, and the kind of each, which gives its colour."""
TOKENS: dict[str, dict[str, Any]] = {
    "v1": {"kind": "class"},
    "v2": {"kind": "class", "shade": 1},
    "c1": {"kind": "group"},
    "c2": {"kind": "group", "shade": 1},
}
"""Tokens, with the fields of their lines."""
MAIN: dict[tuple[str, str], dict[str, Any]] = {
    ("c1", "v1"): {"kind": "match"},
    ("c2", "v2"): {"kind": "match", "shade": 1},
    ("c1", "v2"): {"kind": "mismatch"},
    ("c2", "v1"): {"kind": "mismatch", "shade": 1},
}
"""The scores (key, query) that grow, by whether key and query belong together."""
OTHERS = tuple(
    (key, query)
    for key in sorted(TOKENS)
    for query in sorted(TOKENS)
    if (key, query) not in MAIN
)
DASHED = {"ls": (0, (4, 2.2)), "lw": 1.1, "zorder": 5}
"""Of lines that a formula gives."""


def shades(run: str = "run", *, named: bool = True) -> Callable[[Evidence], Edges]:
    """Stages of simultaneous training, behind the curves of a run."""

    def edges(evidence: Evidence) -> Edges:
        ends, names = shading(evidence[run])
        return ends, names if named else [""] * len(names)

    return edges


course = partial(Course, shades=shades())


def losses(
    title: str, groups: tuple[str, ...] = ("consistent", "conflicting")
) -> Course:
    """Loss of each group of samples, with log 2, the loss of a guess."""
    return course(
        title=title,
        name="losses",
        y="loss",
        levels={r"$\log 2$": LOG2},
        lines=tuple(Line(g, f"loss_by_group[{g}]", kind=GROUPS[g]) for g in groups),
        finish=_from_zero,
    )


def _from_zero(ax: "Axes", table: Series) -> None:
    largest = max(float(loss.max()) for loss in table.values())
    ax.set_ylim(0, 1.12 * max(LOG2, largest))


NEURONS = course(
    title="Neuron of the positive head",
    name="neurons",
    y=ALIGNMENT,
    lines=tuple(Line(n, f"value[+,{n}]", **style) for n, style in TOKENS.items()),
)
"""Alignments of the positive head's neuron with the tokens (K = 2)."""


def _score(pair: tuple[str, str], **fields: Any) -> Line:
    return Line(", ".join(pair), f"score[+,{','.join(pair)}]", **fields)


PALE: dict[str, Any] = {"band": "none", "style": {"lw": 0.9, "alpha": 0.6, "zorder": 2}}
SCORES = course(
    title="Attention scores of the positive head",
    name="scores",
    y=SCORE,
    lines=(
        _score(OTHERS[0], label="others", **PALE),
        *(_score(pair, label="", **PALE) for pair in OTHERS[1:]),
        *(_score(pair, **style) for pair, style in MAIN.items()),
    ),
)
"""Scores of the positive head: main ones in colour, others pale."""
