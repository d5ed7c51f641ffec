"""Our figure on losses: training, test and 0–1 loss by optimiser, with fits."""

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.optimisers import ADAMS, SPARSE, ends
from attnflow.papers.signgd.figures.runs import (
    BETA2_SILENT,
    PRECISION_SILENT,
    SEEDS_SILENT,
    descent,
)
from attnflow.papers.signgd.figures.statistics import late_laws
from attnflow.schema.declarations import Evidence, Exhibit

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SLOW, FAST = "GD, rate 1e-4", "GD, rate 0.1"
STYLES = {
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
    """Draw three losses, and the residuals of exponential and power-law fits."""
    figure, grid = figures.panels(2, 2, titles=TITLES, size=(13.0, 8.2))
    for name, (kind, shade) in STYLES.items():
        run = evidence[name]
        wrong = run.assign(zero_one=panels.zero_one(run["test_accuracy"]))
        for ax, series in zip(
            grid.flat, ("loss", "test_loss", "zero_one"), strict=False
        ):
            figures.series(ax, wrong, series, kind=kind, shade=shade, label=name)
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
    """Plot residuals of both fits over the second half of training, a dot per seed."""
    theme = figures.current_theme()
    for name, (kind, shade) in STYLES.items():
        laws = late_laws(evidence[name])
        x, y = ([law.exponential for law in laws], [law.algebraic for law in laws])
        colour = theme.colour(kind, shade)
        ax.plot(x, y, "o", ms=6, mec=theme.paper, color=colour, label=name)
    ends_of_axes = [1e-7, 1.0]
    figures.theory(ax, ends_of_axes, ends_of_axes)
    ax.set(xscale="log", yscale="log", xlim=ends_of_axes, ylim=(3e-5, 1.0))
    ax.set(xlabel="rms residual of an exponential", ylabel="of a power law")
    for which in ("x", "y"):
        figures.number_axis(ax, which)
    inside = ax.transAxes
    for x, y, text, va, ha in (
        (0.03, 0.95, "exponential fits better", "top", "left"),
        (0.97, 0.03, "power law fits better", "baseline", "right"),
    ):
        ax.text(x, y, text, va=va, ha=ha, transform=inside, color=theme.muted)
    ax.legend(loc="center left", bbox_to_anchor=(0.02, 0.45), fontsize=9.5)


def values(evidence: Evidence) -> Values:
    """Losses at the end, with fits to the training loss."""
    return ends(evidence)


def checks(evidence: Evidence) -> dict[str, bool]:
    """Which optimisers converge exponentially, and which generalise."""
    laws = {name: late_laws(evidence[name]) for name in STYLES}
    test = {name: schema.last(evidence[name], "test_loss").values for name in STYLES}
    wrong = {
        name: panels.zero_one(schema.last(evidence[name], "test_accuracy")).values
        for name in STYLES
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
        "is a seed. SignGD is exponential to one part in a thousand. Adam with this β2 "
        "and gradient descent with learning rate 0.1 look like power laws; gradient "
        "descent with learning rate 1e-4 has hardly begun, and any smooth curve is a "
        "line there."
    ),
    needs=NEEDS,
    draw=draw,
    values=values,
    checks=checks,
    silent=(SEEDS_SILENT, PRECISION_SILENT, BETA2_SILENT),
)
