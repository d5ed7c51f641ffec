"""Figure 4: attention of J on Syn-Small over iterations, for two η_Y."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.papers.scansnap.figures import attention
from attnflow.papers.scansnap.figures.readings import named
from attnflow.papers.scansnap.figures.runs import (
    REPLAYS,
    STREAM_SILENT,
    SYN_SMALL_SILENT,
    syn_small,
)
from attnflow.schema.declarations import Evidence, Exhibit, Numbers, Predicates
from attnflow.schema.dims import CLASS, SEED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOGGED = {"0": 3.52636, "10": 0.01295, "48": 2.51e-5, "98": 2.22e-5}
"""Batch losses in the authors' log of Figure 4, left."""
LOG_DIGITS = 0.005
"""Relative: the log has three digits where the loss is smallest."""
LOSSES = "loss of the batch at iterations"


def draw(evidence: Evidence, side: str) -> "Figure":
    """Both classes, a row each."""
    run = evidence[side]
    rows = [("attention $c_1$", run, 0), ("attention $c_2$", run, 1)]
    rate = schema.setting_of(run)["value_rate"]
    return attention.stems(rows, rf"$\mathbf{{J}}$: $\eta_Y = {rate:g}$, $\eta_Z = 1$")


def batch_losses(run: xr.Dataset) -> np.ndarray:
    """Batch losses at the iterations of the authors' log."""
    return run["batch_loss"].isel({SEED: 0}).sel(time=list(map(int, LOGGED))).values


def values(evidence: Evidence, side: str) -> Numbers:
    """Batch losses, and statistics of attention by class and iteration."""
    run = evidence[side]
    return {
        LOSSES: named(LOGGED, batch_losses(run)),
        **({"the same in the authors' log": LOGGED} if side == "left" else {}),
        **{f"class {n + 1}": attention.numbers(run, n) for n in range(2)},
    }


def _at(runs: Evidence, side: str, record: int, name: str) -> float:
    """An observable at a record: mean over classes, first seed."""
    return float(runs[side][name][0, record].mean(CLASS, skipna=False))


_entropy = partial(_at, name="distinct_entropy")
_mass = partial(_at, name="common_mass")


def _early_share(runs: Evidence, side: str) -> float:
    """Share of the entropy's change that is made in the first ten iterations."""
    first, tenth, last = (_entropy(runs, side, record) for record in (0, 10, -1))
    return (tenth - first) / (last - first)


def _has_stopped(runs: Evidence) -> bool:
    first, late, last = (_entropy(runs, "left", record) for record in (0, 48, -1))
    return abs(last - late) < 0.1 * abs(late - first)


REPLAYED: Predicates = {
    "losses are those of the authors' log, to 0.5%": lambda runs: (
        abs(batch_losses(runs["left"]) / list(LOGGED.values()) - 1) < LOG_DIGITS
    )
}
PLACE = "Caption of Figure 4; Section 8"
_CAPTION = (
    "System J: both tables by heavy ball (0.9) on batches of 128 sequences of 128 "
    "tokens, Syn-Small, zero initial tables. Columns are iterations; common tokens "
    "orange, the class's own blue, attention at the start outlined. "
)
_figure = partial(Exhibit, kind="figure", silent=(*SYN_SMALL_SILENT, STREAM_SILENT))

FIGURE4_LEFT = _figure(
    id="figure4-left",
    title="Figure 4, left: attention on Syn-Small, η_Y = η_Z = 1",
    caption=_CAPTION
    + (
        "η_Y = η_Z = 1. The frequent distinct tokens gain, common ones lose, and after "
        "some ten iterations little moves. The paper prints no losses; the authors' "
        "log does."
    ),
    needs={"left": syn_small("left")},
    draw=partial(draw, side="left"),
    values=partial(values, side="left"),
    stated={
        PLACE: {
            "attention becomes sparse: its entropy on distinct tokens falls, by more "
            "than 0.1": lambda runs: (
                _entropy(runs, "left", -1) < _entropy(runs, "left", 0) - 0.1
            ),
            "it concentrates on the most frequent distinct token of each class": (
                lambda runs: [
                    attention.favourite(runs["left"], n)[0]
                    == attention.is_distinct(runs["left"], n).sum() - 1
                    for n in range(2)
                ]
            ),
        }
    },
    checks=(REPLAYED if REPLAYS else {})
    | {
        "common tokens lose attention: a quarter of theirs or more": lambda runs: (
            _mass(runs, "left", -1) < 0.75 * _mass(runs, "left", 0)
        ),
        "then it stops: from iteration 48 to 100 the entropy changes by less than a "
        "tenth of what it changed before": _has_stopped,
    },
)
FIGURE4_RIGHT = _figure(
    id="figure4-right",
    title="Figure 4, right: attention on Syn-Small, η_Y = 10, η_Z = 1",
    caption=_CAPTION
    + (
        "η_Y = 10, η_Z = 1. The decoder fits within a few iterations, and attention "
        "has less time to move: it ends denser, and common tokens keep more."
    ),
    needs={"right": syn_small("right"), "left": syn_small("left")},
    draw=partial(draw, side="right"),
    values=partial(values, side="right"),
    stated={
        PLACE: {
            "convergence is faster with the larger η_Y: the loss is lower at iteration "
            "4": lambda runs: runs["right"]["loss"][0, 4] < runs["left"]["loss"][0, 4],
            "the final attention is less sparse: entropy on distinct tokens is "
            "higher": lambda runs: (
                _entropy(runs, "right", -1) > _entropy(runs, "left", -1) + 0.05
            ),
        }
    },
    checks={
        "more of the entropy's change is made in the first 10 iterations": (
            lambda runs: _early_share(runs, "right") > _early_share(runs, "left")
        ),
        "common tokens keep more of their attention": lambda runs: (
            _mass(runs, "right", -1) > _mass(runs, "left", -1)
        ),
        "it does become sparser than at the start": lambda runs: (
            _entropy(runs, "right", -1) < _entropy(runs, "right", 0) - 0.02
        ),
    },
)
