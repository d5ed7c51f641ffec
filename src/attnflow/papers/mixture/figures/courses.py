"""Runs of the figures of `mixture`, and panels over time that several of them show."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow.claims.stages import Event
from attnflow.figures.exhibits import Course, Line, Series
from attnflow.figures.exhibits.course import Edges
from attnflow.papers.mixture.stages import shading
from attnflow.schema.declarations import Evidence, Request
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FINITE = Request("figure1", seeds=3)
INFINITE = Request("figure1", {"width": "infinite"}, seeds=1)

LAST = 8e-5
"""The loss at which runs of Algorithm 1 end."""


def algorithm(omega: float, quick: Mapping[str, str | float]) -> Request:
    """All three stages of Algorithm 1 at infinite width, by gradient flow.

    The records give T3 for every ε above `LAST`. One compiled program serves all ω, so
    that each further run costs a fraction of a second.
    """
    overrides = {"omega": omega, "epsilon": LAST, "last_record": 1e5, "records": 601}
    return Request("three-stage", overrides, seeds=1, quick=quick)


SILENT_TRAINING = (
    "The width m and the initial scale ω are not stated. We use m = 128 and ω = 0.1; "
    "the order of events does not depend on them (claim B-Sec3-range).",
    "The number of steps is not stated: 2000.",
    "Whether gradients are over the population or over drawn samples is not stated. We "
    "use the population, whose 8 samples are enumerated.",
    "The number of seeds is not stated. We show three: the median as a line and the "
    "range as a band.",
)


def medians(ends: Mapping[str, xr.DataArray]) -> dict[str, float]:
    """Median over seeds of each series at its end."""
    return {name: float(end.median()) for name, end in ends.items()}


def comes_before(first: Event, second: Event) -> bool:
    """Whether the first event happened in every seed, and before the second.

    A second event that never happened counts as later.
    """
    later = np.where(np.isnan(second.times), np.inf, second.times)
    return bool((first.times < later).all())


def nearly_together(first: Event, second: Event, factor: float) -> bool:
    """Whether both events happened in every seed, at times within a factor."""
    early = np.minimum(first.times, second.times)
    late = np.maximum(first.times, second.times)
    return bool((early > 0).all() and (late < factor * early).all())


def line(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Slope and intercept by least squares; NaN if some point is not finite."""
    if len(x) < 2 or not np.isfinite([x, y]).all():
        return np.full(2, np.nan)
    return np.polyfit(x, y, 1)


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


def _from_zero(ax: Axes, table: Series) -> None:
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
