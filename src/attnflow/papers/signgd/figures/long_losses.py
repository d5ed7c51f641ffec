"""Figure 12: losses on samples of ten tokens."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.claims.stages import first_crossing
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.long_samples import COMMON, MEMORISE, SETTING
from attnflow.papers.signgd.figures.readings import late_laws, law_table
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.dims import TIME

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL_LOSS = 0.01


def draw_losses(evidence: Evidence) -> "Figure":
    """Training, test and 0–1 loss under each optimiser."""
    return panels.side_by_side(evidence, panels.losses)


def loss_values(evidence: Evidence) -> dict[str, Any]:
    """Losses at the end, when the training loss is small, and its law."""
    return {
        name: {
            "training loss at the end": float(schema.last(run, "loss").median()),
            "test loss at the end": float(schema.last(run, "test_loss").median()),
            "least test loss": float(run["test_loss"].min(TIME).median()),
            f"training loss below {SMALL_LOSS:g} at": small_at(run),
            "law, second half, seed 0": law_table(late_laws(run)[0]),
        }
        for name, run in evidence.items()
    }


def small_at(run: xr.Dataset) -> float:
    """When the training loss is small."""
    rule: dict[str, Any] = {"level": SMALL_LOSS, "direction": "down", "scale": "log"}
    return float(np.median(first_crossing(run, "loss", **rule).times))


def seen_losses(evidence: Evidence) -> dict[str, bool]:
    """What Figure 12 is said to show, and what comes later."""
    found = loss_values(evidence)
    small = f"training loss below {SMALL_LOSS:g} at"
    return {
        "gradient descent, with its rate of 1, has a small loss before SignGD and "
        "Adam": all(found["GD"][small] < found[name][small] for name in MEMORISE),
        "and ends with a larger one": all(
            found["GD"]["training loss at the end"]
            > found[name]["training loss at the end"]
            for name in MEMORISE
        ),
        "gradient descent generalises, test loss below 0.01; SignGD and Adam do not, "
        "above 0.2": (
            found["GD"]["test loss at the end"] < 0.01
            and all(found[name]["least test loss"] > 0.2 for name in MEMORISE)
        ),
    }


FIGURE12 = Exhibit(
    id="figure12",
    title="Figure 12: training and test loss, samples of ten tokens",
    caption=(
        f"{SETTING} Claimed: gradient descent, whose rate is 10⁴ times as large, "
        "converges much faster. It is first to have a small loss; but its loss falls "
        "as a power of t, and those of SignGD and Adam, exponential, end far below."
    ),
    draw=draw_losses,
    values=loss_values,
    seen=seen_losses,
    **COMMON,
)
