"""Figure 4: attention of J on Syn-Small over iterations, for two η_Y."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from attnflow import schema
from attnflow.papers.scansnap._types import Numbers
from attnflow.papers.scansnap.figures import attention
from attnflow.papers.scansnap.figures.runs import (
    REPLAYS,
    STREAM_SILENT,
    SYN_SMALL_SILENT,
    syn_small,
)
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.dims import SEED
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOGGED = {"0": 3.52636, "10": 0.01295, "48": 2.51e-5, "98": 2.22e-5}
"""Batch losses in the authors' log of Figure 4, left."""
LOG_DIGITS = 0.005
"""Relative: the log has three digits where the loss is smallest."""
LOSSES = "loss of the batch at iterations"
FEW = 10
"""Iterations by which Figure 4 has most of its change."""


def _draw(side: str) -> Callable[[Evidence], Figure]:
    def draw(evidence: Evidence) -> Figure:
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
            **({"the same in the authors' log": LOGGED} if side == "left" else {}),
            **{f"class {n + 1}": attention.numbers(run, n) for n in range(2)},
        }

    return values


def series(run: xr.Dataset, name: str) -> np.ndarray:
    """An observable by iteration: mean over classes, first seed."""
    return run[name].isel({SEED: 0}).mean("class").values


def stated_left(evidence: Evidence) -> dict[str, Sentences]:
    """The paper's sentences on Figure 4, left."""
    run = evidence["left"]
    entropy = series(run, "distinct_entropy")
    sentences = {
        "attention becomes sparse: its entropy on distinct tokens falls, by more than "
        "0.1": bool(entropy[-1] < entropy[0] - 0.1),
        "it concentrates on the most frequent distinct token of each class": all(
            int(attention.favourite(run, n)[0])
            == attention.is_distinct(run, n).sum() - 1
            for n in range(2)
        ),
    }
    return {"Caption of Figure 4; Section 8": sentences}


def as_logged(run: xr.Dataset) -> bool:
    """Whether batch losses are those of the authors' log."""
    losses = run["batch_loss"].isel({SEED: 0})
    return all(
        abs(float(losses.sel(time=int(step))) / loss - 1) < LOG_DIGITS
        for step, loss in LOGGED.items()
    )


def checks_left(evidence: Evidence) -> dict[str, bool]:
    """Sentences of our own on Figure 4, left."""
    run = evidence["left"]
    entropy, mass = series(run, "distinct_entropy"), series(run, "common_mass")
    change = entropy - entropy[0]
    replayed = {"losses are those of the authors' log, to 0.5%": as_logged(run)}
    return (replayed if REPLAYS else {}) | {
        "common tokens lose attention: a quarter of theirs or more": bool(
            mass[-1] < 0.75 * mass[0]
        ),
        "then it stops: from iteration 48 to 100 the entropy changes by less than a "
        "tenth of what it changed before": bool(
            abs(change[-1] - change[48]) < 0.1 * abs(change[48])
        ),
    }


def stated_right(evidence: Evidence) -> dict[str, Sentences]:
    """The paper's sentences on Figure 4, right, compared with the left."""
    left, right = evidence["left"], evidence["right"]
    last = {key: series(run, "distinct_entropy")[-1] for key, run in evidence.items()}
    sentences = {
        "convergence is faster with the larger η_Y: the loss is lower at iteration 4": (
            bool(series_of_loss(right)[4] < series_of_loss(left)[4])
        ),
        "the final attention is less sparse: entropy on distinct tokens is higher": (
            bool(last["right"] > last["left"] + 0.05)
        ),
    }
    return {"Caption of Figure 4; Section 8": sentences}


def checks_right(evidence: Evidence) -> dict[str, bool]:
    """Sentences of our own on Figure 4, right, compared with the left."""
    entropy = {key: series(run, "distinct_entropy") for key, run in evidence.items()}
    mass = {key: series(run, "common_mass") for key, run in evidence.items()}
    share = {
        key: (table[FEW] - table[0]) / (table[-1] - table[0])
        for key, table in entropy.items()
    }
    return {
        "more of the entropy's change is made in the first 10 iterations": bool(
            share["right"] > share["left"]
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
        "some ten iterations little moves. The paper prints no losses; the authors' "
        "log does."
    ),
    needs={"left": syn_small("left")},
    draw=_draw("left"),
    values=_values("left"),
    stated=stated_left,
    checks=checks_left,
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
    stated=stated_right,
    checks=checks_right,
    silent=_SILENT,
)
