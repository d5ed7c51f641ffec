"""Figure 12: training and test loss on samples of ten tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import schema
from attnflow.claims.stages import first_crossing
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.long_samples import MEMORISE, SETTING, long_exhibit
from attnflow.papers.signgd.figures.statistics import late_laws, law_table
from attnflow.schema.declarations import Evidence, Sentences
from attnflow.schema.dims import TIME
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL_LOSS = 0.01


def draw_losses(evidence: Evidence) -> Figure:
    """Draw training, test and 0–1 loss under each optimiser."""
    return panels.side_by_side(evidence, panels.losses)


def loss_values(evidence: Evidence) -> Values:
    """Losses at the end, when the training loss is small, and its law."""
    return {
        name: {
            **losses(run),
            "law, second half, seed 0": law_table(late_laws(run)[0]),
        }
        for name, run in evidence.items()
    }


def losses(run: xr.Dataset) -> dict[str, float]:
    """Losses at the end, medians over seeds, and when the training loss is small."""
    return {
        "training loss at the end": float(schema.last(run, "loss").median()),
        "test loss at the end": float(schema.last(run, "test_loss").median()),
        "least test loss": float(run["test_loss"].min(TIME).median()),
        f"training loss below {SMALL_LOSS:g} at": small_at(run),
    }


def small_at(run: xr.Dataset) -> float:
    """The step at which the training loss falls to `SMALL_LOSS`, median over seeds."""
    event = first_crossing(run, "loss", level=SMALL_LOSS, direction="down", scale="log")
    return float(np.median(event.times))


def stated_losses(evidence: Evidence) -> dict[str, Sentences]:
    """The statement of the paper on Figure 12."""
    by_optimiser = {name: losses(run) for name, run in evidence.items()}
    small = f"training loss below {SMALL_LOSS:g} at"
    faster = {
        "gradient descent, with its rate of 1, converges faster: it has a small loss "
        "before SignGD and Adam": all(
            by_optimiser["GD"][small] < by_optimiser[name][small] for name in MEMORISE
        )
    }
    return {"Caption of Figure 12": faster}


def checks_losses(evidence: Evidence) -> dict[str, bool]:
    """The later course."""
    by_optimiser = {name: losses(run) for name, run in evidence.items()}
    return {
        "gradient descent ends with a larger training loss": all(
            by_optimiser["GD"]["training loss at the end"]
            > by_optimiser[name]["training loss at the end"]
            for name in MEMORISE
        ),
        "gradient descent generalises, test loss below 0.01; SignGD and Adam do not, "
        "above 0.2": (
            by_optimiser["GD"]["test loss at the end"] < 0.01
            and all(by_optimiser[name]["least test loss"] > 0.2 for name in MEMORISE)
        ),
    }


FIGURE12 = long_exhibit(
    id="figure12",
    title="Figure 12: training and test loss, samples of ten tokens",
    caption=(
        f"{SETTING} Claimed: gradient descent, whose rate is 10⁴ times as large, "
        "converges much faster. It is the first to reach a small loss; but its loss "
        "falls as a power of t, while those of SignGD and Adam fall exponentially and "
        "end far below."
    ),
    draw=draw_losses,
    values=loss_values,
    stated=stated_losses,
    checks=checks_losses,
)
