"""Training, test and 0–1 loss of every optimiser, with their laws."""

from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures, schema
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.optimisers import ADAMS, SPARSE, ends
from attnflow.papers.signgd.figures.readings import late_laws
from attnflow.papers.signgd.figures.runs import (
    BETA2_SILENT,
    PRECISION_SILENT,
    SEEDS_SILENT,
    descent,
)
from attnflow.schema.declarations import Evidence, Exhibit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SLOW, FAST = "GD, rate 1e-4", "GD, rate 0.1"
LOOKS = {
    "SignGD": ("signal", 0),
    "Adam, β1 = 0.9": ("common", 0),
    "Adam, β1 = 0.5": ("common", 1),
    "Adam, β1 = 0": ("common", 2),
    SLOW: ("easy", 1),
    FAST: ("easy", 0),
}
NEEDS = {
    **{name: request for name, request in SPARSE.items() if name != "GD"},
    SLOW: SPARSE["GD"],
    FAST: descent(0.1),
}
TITLES = ("Training loss", "Test loss", "0–1 test loss", "Training loss: residuals")


def draw(evidence: Evidence) -> "Figure":
    """Three losses, and the residuals of two laws."""
    figure, grid = figures.panels(2, 2, titles=TITLES, size=(13.0, 8.2))
    for name, (kind, shade) in LOOKS.items():
        run = evidence[name]
        wrong = run.assign(zero_one=panels.zero_one(run["test_accuracy"]))
        look: dict[str, Any] = {"kind": kind, "shade": shade, "label": name}
        figures.series(grid[0, 0], run, "loss", **look)
        figures.series(grid[0, 1], run, "test_loss", **look)
        figures.series(grid[1, 0], wrong, "zero_one", **look)
    for ax, text in zip(grid.flat, ("loss", "test loss", "share wrong"), strict=False):
        if ax is not grid[1, 0]:
            ax.set_yscale("log")
            figures.number_axis(ax, "y")
        figures.time_axis(ax, evidence["SignGD"], label=panels.STEP)
        ax.set_ylabel(text)
        figures.label_ends(ax)
    _residuals(grid[1, 1], evidence)
    return figure


def _residuals(ax: "Axes", evidence: Evidence) -> None:
    """A dot per seed: which law leaves less, over the second half of training."""
    theme = figures.current_theme()
    for name, (kind, shade) in LOOKS.items():
        laws = late_laws(evidence[name])
        x, y = ([law.exponential for law in laws], [law.algebraic for law in laws])
        look: dict[str, Any] = {"marker": "o", "ls": "", "ms": 6, "mec": theme.paper}
        ax.plot(x, y, color=theme.colour(kind, shade), label=name, **look)
    ends_of_axes = [1e-7, 1.0]
    figures.theory(ax, ends_of_axes, ends_of_axes)
    ax.set(xscale="log", yscale="log", xlim=ends_of_axes, ylim=(3e-5, 1.0))
    ax.set(xlabel="rms residual of an exponential", ylabel="of a power law")
    for which in ("x", "y"):
        figures.number_axis(ax, which)
    place: dict[str, Any] = {"transform": ax.transAxes, "color": theme.muted}
    ax.text(0.03, 0.95, "exponential fits better", va="top", **place)
    ax.text(0.97, 0.03, "power law fits better", ha="right", **place)
    ax.legend(loc="center left", bbox_to_anchor=(0.02, 0.45), fontsize=9.5)


def values(evidence: Evidence) -> dict[str, Any]:
    """Losses at the end, with the laws of the training loss."""
    return ends(evidence)


def seen(evidence: Evidence) -> dict[str, bool]:
    """Who is exponential, who generalises."""
    laws = {name: late_laws(evidence[name]) for name in LOOKS}
    test = {name: schema.last(evidence[name], "test_loss").values for name in LOOKS}
    wrong = {
        name: panels.zero_one(schema.last(evidence[name], "test_accuracy")).values
        for name in LOOKS
    }
    memorise = ("SignGD", *ADAMS)
    return {
        "SignGD's training loss is exponential: its residual is a tenth of the power "
        "law's at most": all(
            law.exponential < law.algebraic / 10 for law in laws["SignGD"]
        ),
        "gradient descent with rate 0.1 is not: the power law's is smaller": all(
            not law.is_exponential for law in laws[FAST]
        ),
        "SignGD and Adam do not generalise: test loss above 0.5, more than a quarter "
        "wrong": bool(
            min(test[name].min() for name in memorise) > 0.5
            and min(wrong[name].min() for name in memorise) > 0.25
        ),
        "gradient descent does: no test sample is wrong, and with rate 0.1 the test "
        "loss is below 0.1": bool(
            np.max(wrong[FAST]) == 0 and np.max(test[FAST]) < 0.1
        ),
    }


LOSSES = Exhibit(
    id="losses",
    kind="figure",
    title="Losses of SignGD, Adam and gradient descent",
    caption=(
        "Setting (a), d = 2000, 500 test samples; Adam with β2 = 0.999, ε = 1e-15. "
        "Medians over 5 (SignGD) and 3 seeds (bands: range). Both laws are fitted to "
        "the logarithm of the training loss over the second half of training; each dot "
        "is a seed. SignGD is exponential to a part in a thousand. Adam with this β2 "
        "and gradient descent with rate 0.1 look like power laws; gradient descent "
        "with rate 1e-4 has hardly begun, where every smooth curve is a line."
    ),
    needs=NEEDS,
    draw=draw,
    values=values,
    seen=seen,
    silent=(SEEDS_SILENT, PRECISION_SILENT, BETA2_SILENT),
)
