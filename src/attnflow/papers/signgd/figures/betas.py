"""Figure 16: training loss of Adam by β1 and β2."""

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.claims.statistics import Fall
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.runs import (
    BETAS1,
    BETAS2,
    PRECISION_SILENT,
    SEEDS_SILENT,
    adam,
    signgd,
)
from attnflow.papers.signgd.figures.statistics import late_laws, law_table
from attnflow.schema.declarations import Evidence, Exhibit, Sentences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTING_SILENT = "The setting of Figures 16 and 17 is not stated. We take (a)."


def name(beta1: float, beta2: float) -> str:
    """The name of a run in the evidence."""
    return f"β1 = {beta1:g}, β2 = {beta2:g}"


SWEEP = {name(b1, b2): adam(b1, b2) for b1 in sorted(BETAS1) for b2 in BETAS2}


def draw_losses(evidence: Evidence) -> "Figure":
    """Draw training losses by β2, one panel per β1; SignGD dashed."""
    titles = [f"β1 = {beta1:g}" for beta1 in sorted(BETAS1)]
    figure, grid = figures.panels(1, len(titles), titles=titles, size=(15.2, 4.4))
    ramp = figures.current_theme().ramp("common", len(BETAS2))
    for ax, beta1 in zip(grid[0], sorted(BETAS1), strict=True):
        for colour, beta2 in zip(ramp, BETAS2, strict=True):
            run = evidence[name(beta1, beta2)]
            label = f"β2 = {beta2:g}"
            figures.series(ax, run, "loss", colour=colour, label=label)
        limit = figures.series(ax, evidence["SignGD"], "loss", role="limit")
        limit.set_label("SignGD")
        ax.set(yscale="log", ylabel="training loss")
        figures.number_axis(ax, "y")
        figures.time_axis(ax, evidence["SignGD"], label=panels.STEP)
        figures.label_ends(ax)
    return figure


def laws(evidence: Evidence) -> dict[str, Fall]:
    """Fits to the training loss over the second half of training, seed 0."""
    return {run: late_laws(evidence[run])[0] for run in evidence}


def loss_values(evidence: Evidence) -> dict[str, dict[str, float]]:
    """Training losses at the end, and the fits."""
    return {
        run: {
            "training loss at the end": float(schema.last(evidence[run], "loss")[0]),
            **law_table(law),
        }
        for run, law in laws(evidence).items()
    }


SUBLINEAR = "for β2 > 0.9 the loss converges sublinearly: a power law fits better"


def losses_stated(evidence: Evidence) -> dict[str, Sentences]:
    """The statement of the paper on Figure 16."""
    fits = laws(evidence)
    slow = [name(b1, b2) for b1 in BETAS1 for b2 in BETAS2 if b2 > 0.9]
    sublinear = all(not fits[run].is_exponential for run in slow)
    return {"Appendix B.7": {SUBLINEAR: sublinear}}


def loss_checks(evidence: Evidence) -> dict[str, bool]:
    """For which β2 convergence is sublinear, and what matters more."""
    fits = laws(evidence)
    end = {run: float(schema.last(evidence[run], "loss")[0]) for run in evidence}
    by_beta1 = {b2: [end[name(b1, b2)] for b1 in BETAS1] for b2 in BETAS2}
    fast, slow = BETAS2[:-1], BETAS2[-1]
    return {
        "the loss ends higher with every larger β2, and above SignGD": all(
            np.all(np.diff([end["SignGD"], *(end[name(b1, b2)] for b2 in BETAS2)]) > 0)
            for b1 in BETAS1
        ),
        "for β2 = 0.999 a power law fits better than an exponential, in this window": (
            all(not fits[name(b1, slow)].is_exponential for b1 in BETAS1)
        ),
        "for β2 = 0.9, 0.95 and 0.99 the loss falls exponentially, with a tenth of the "
        "power law's residual: not sublinearly": all(
            fits[name(b1, b2)].exponential < fits[name(b1, b2)].algebraic / 10
            for b1 in BETAS1
            for b2 in fast
        ),
        "β1 matters little: it changes the loss at the end by less than a factor of "
        "1.5, and β2 by more than 3": (
            all(max(group) < 1.5 * min(group) for group in by_beta1.values())
            and min(by_beta1[slow]) > 3 * max(by_beta1[fast[0]])
        ),
    }


FIGURE16 = Exhibit(
    id="figure16",
    kind="figure",
    title="Figure 16: training loss of Adam by β1 and β2",
    caption=(
        "Setting (a), d = 2000, learning rate 1e-4, ε = 1e-15, seed 0; dashed: SignGD. "
        "Claimed: sublinear convergence for β2 > 0.9. Over the second half of training "
        "an exponential fits far better for β2 = 0.9, 0.95 and 0.99; for 0.999 a power "
        "law does, while the memory of 1000 steps still forgets the start. As claimed, "
        "β1 matters little."
    ),
    needs={"SignGD": signgd(), **SWEEP},
    draw=draw_losses,
    values=loss_values,
    stated=losses_stated,
    checks=loss_checks,
    differs={
        SUBLINEAR: "an exponential fits better for β2 = 0.95 and 0.99, a power law for "
        "0.999 alone"
    },
    silent=(SEEDS_SILENT, PRECISION_SILENT, SETTING_SILENT),
)
