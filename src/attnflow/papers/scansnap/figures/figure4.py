"""Figure 4: attention of J on Syn-Small over iterations, for two η_Y."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.papers.scansnap._types import Numbers
from attnflow.papers.scansnap.figures import attention
from attnflow.papers.scansnap.figures.runs import (
    REPLAYS,
    STREAM_SILENT,
    SYN_SMALL_SILENT,
    syn_small,
)
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.dims import SEED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOGGED = {"0": 3.52636, "10": 0.01295, "48": 2.51e-5, "98": 2.22e-5}
"""Batch losses in the authors' log of Figure 4, left."""
LOSSES = "loss of the batch at iterations"
FEW = 10
"""Iterations by which Figure 4 has most of its change."""


def _draw(side: str) -> Callable[[Evidence], "Figure"]:
    def draw(evidence: Evidence) -> "Figure":
        """Both classes, a row each."""
        run = evidence[side]
        rows = [("attention $c_1$", run, 0), ("attention $c_2$", run, 1)]
        rate = schema.setting_of(run)["value_rate"]
        return attention.stems(
            rows, rf"$\mathbf{{J}}$: $\eta_Y = {rate:g}$, $\eta_Z = 1$"
        )

    return draw


def _values(side: str) -> Callable[[Evidence], Numbers]:
    def values(evidence: Evidence) -> Numbers:
        """Batch losses, and statistics of attention by class and iteration."""
        run = evidence[side]
        losses = run["batch_loss"].isel({SEED: 0})
        return {
            LOSSES: {key: float(losses.sel(time=int(key))) for key in LOGGED},
            **{f"class {n + 1}": attention.numbers(run, n) for n in range(2)},
        }

    return values


def series(run: xr.Dataset, name: str) -> np.ndarray:
    """An observable by iteration: mean over classes, first seed."""
    return run[name].isel({SEED: 0}).mean("class").values


def seen_left(evidence: Evidence) -> dict[str, bool]:
    """Sentences on Figure 4, left."""
    run = evidence["left"]
    entropy, mass = series(run, "distinct_entropy"), series(run, "common_mass")
    change = entropy - entropy[0]
    return {
        "attention on distinct tokens becomes sparser": bool(change[-1] < -0.1),
        "the most frequent distinct token of each class has most of it": all(
            int(attention.favourite(run, n)[0])
            == attention.is_distinct(run, n).sum() - 1
            for n in range(2)
        ),
        "common tokens lose attention: a quarter of theirs or more": bool(
            mass[-1] < 0.75 * mass[0]
        ),
        "then it stops: from iteration 48 to 100 the entropy changes by less than a "
        "tenth of what it changed before": bool(
            abs(change[-1] - change[48]) < 0.1 * abs(change[48])
        ),
    }


def seen_right(evidence: Evidence) -> dict[str, bool]:
    """Sentences on Figure 4, right, compared with the left."""
    left, right = evidence["left"], evidence["right"]
    entropy = {key: series(run, "distinct_entropy") for key, run in evidence.items()}
    mass = {key: series(run, "common_mass") for key, run in evidence.items()}
    share = {
        key: (table[FEW] - table[0]) / (table[-1] - table[0])
        for key, table in entropy.items()
    }
    return {
        "the loss falls faster with the larger η_Y: at iteration 4 it is lower": bool(
            series_of_loss(right)[4] < series_of_loss(left)[4]
        ),
        "more of the entropy's change is made in the first 10 iterations": bool(
            share["right"] > share["left"]
        ),
        "attention ends denser: entropy on distinct tokens is higher": bool(
            entropy["right"][-1] > entropy["left"][-1] + 0.05
        ),
        "common tokens keep more of their attention": bool(
            mass["right"][-1] > mass["left"][-1]
        ),
        "it does become sparser than at the start": bool(
            entropy["right"][-1] < entropy["right"][0] - 0.02
        ),
    }


def series_of_loss(run: xr.Dataset) -> np.ndarray:
    """The population loss by iteration, first seed."""
    return run["loss"].isel({SEED: 0}).values


_CAPTION = (
    "System J: both tables by heavy ball (0.9) on batches of 128 sequences of 128 "
    "tokens, Syn-Small, zero initial tables. Columns are iterations; common tokens "
    "orange, the class's own blue, attention at the start outlined. "
)
_SILENT = (*SYN_SMALL_SILENT, STREAM_SILENT)

FIGURE4_LEFT = Exhibit(
    id="figure4-left",
    kind="figure",
    title="Figure 4, left: attention on Syn-Small, η_Y = η_Z = 1",
    caption=_CAPTION
    + (
        "η_Y = η_Z = 1. The frequent distinct tokens gain, common ones lose, and after "
        "some ten iterations little moves. The losses beside ours are those of the "
        "authors' log, which the paper itself does not print."
    ),
    needs={"left": syn_small("left")},
    draw=_draw("left"),
    values=_values("left"),
    seen=seen_left,
    printed={LOSSES: LOGGED} if REPLAYS else {},
    tolerance=0.005,
    silent=_SILENT,
)
FIGURE4_RIGHT = Exhibit(
    id="figure4-right",
    kind="figure",
    title="Figure 4, right: attention on Syn-Small, η_Y = 10, η_Z = 1",
    caption=_CAPTION
    + (
        "η_Y = 10, η_Z = 1. The decoder fits within a few iterations, and attention "
        "has less time to move: it ends denser, and common tokens keep more."
    ),
    needs={"right": syn_small("right"), "left": syn_small("left")},
    draw=_draw("right"),
    values=_values("right"),
    seen=seen_right,
    silent=_SILENT,
)
