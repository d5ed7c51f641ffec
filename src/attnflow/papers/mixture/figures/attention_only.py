"""Figure 3: attention trained alone, with neurons fixed at Gaussian values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.mixture.figures.panels import LOG2
from attnflow.papers.mixture.figures.runs import Numbers, every_at_end
from attnflow.schema.declarations import Evidence, Exhibit, Request, Sentences
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCALES = (0.1, 0.5, 1.0, 2.0, 4.0)
NEEDS = {
    f"sd {scale:g}": Request(
        "attention-only",
        {"value_scale": scale},
        seeds=20,
        quick={"steps": 4000.0, "records": 101},
    )
    for scale in SCALES
}


def draw(evidence: Evidence) -> Figure:
    """The median loss over time, and the final loss of each seed."""
    titles = ("Median loss", "Each seed at the end")
    figure, grid = figures.panels(1, 2, titles=titles, size=(9.6, 4.0))
    _curves(grid[0, 0], evidence)
    _ends(grid[0, 1], evidence)
    return figure


def _curves(ax: Axes, evidence: Evidence) -> None:
    colours = figures.current_theme().ramp("noise", len(evidence))
    for colour, (name, run) in zip(colours, evidence.items(), strict=True):
        figures.series(ax, run, "loss", band="none", colour=colour, label=name)
        figures.time_axis(ax, run)
    figures.reference(ax, LOG2, r"$\log 2$")
    ax.set_ylim(0, 0.85)
    ax.set_ylabel("loss")
    figures.number_axis(ax, "y")
    figures.label_ends(ax)


def _ends(ax: Axes, evidence: Evidence) -> None:
    """Final losses by scale of the neurons, filled if every sample is classified."""
    theme = figures.current_theme()
    kinds = {True: ("easy", "all samples classified"), False: ("hard", "some not")}
    for perfect, (kind, label) in kinds.items():
        for index, run in enumerate(evidence.values()):
            shown = _perfect(run) == perfect
            # Side by side, in the order of the seeds.
            x = index + np.linspace(-0.3, 0.3, len(shown))[shown]
            y = every_at_end(run, "loss")[shown]
            ax.plot(
                x,
                y,
                zorder=3,
                marker="o",
                ms=5,
                ls="",
                mfc=theme.colour(kind) if perfect else "none",
                label="" if index else label,
                color=theme.colour(kind),
            )
    ax.set_yscale("log")
    figures.reference(ax, LOG2)
    ax.set_xlim(-0.6, len(evidence) - 0.4)
    ax.set_xticks(range(len(evidence)), [name.removeprefix("sd ") for name in evidence])
    ax.set(xlabel="standard deviation of the neurons", ylabel="loss")
    figures.number_axis(ax, "y")
    ax.legend(loc="lower left", handletextpad=0.2)


def values(evidence: Evidence) -> Numbers:
    """Final losses and accuracies for each scale of the neurons."""
    return {
        name: {
            "median loss": float(np.median(every_at_end(run, "loss"))),
            "least loss": float(every_at_end(run, "loss").min()),
            "seeds with loss below 0.1": int((every_at_end(run, "loss") < 0.1).sum()),
            "seeds that classify every sample": int(_perfect(run).sum()),
            "seeds": run.sizes["seed"],
        }
        for name, run in evidence.items()
    }


def _perfect(run: xr.Dataset) -> np.ndarray:
    # The accuracy is a sum of eight probabilities of 1/8: exact in binary.
    return every_at_end(run, "accuracy") == 1.0


def stated(evidence: Evidence) -> dict[str, Sentences]:
    """Whether the loss stays away from zero."""
    losses = [every_at_end(run, "loss") for run in evidence.values()]
    sentences = {
        "the model is not trainable: at every size of the neurons the median loss "
        "stays above 0.2": all(np.median(loss) > 0.2 for loss in losses)
    }
    return {"Section 3.1; Appendix A.2": sentences}


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether at most a few draws of the neurons are trained."""
    losses = [every_at_end(run, "loss") for run in evidence.values()]
    return {
        "at most one run in ten brings the loss to 0.05": bool(
            np.mean(np.concatenate(losses) < 0.05) <= 0.1
        ),
    }


FIGURE3 = Exhibit(
    id="figure3",
    kind="figure",
    title="Figure 3: training attention alone",
    caption=(
        "Neurons are fixed at Gaussian values whose standard deviation (sd) labels "
        "each curve; all curves have the same 20 seeds, hence the same directions. The "
        "loss settles far from zero, as the paper reports. There are two caveats: with "
        "small neurons several seeds classify every sample, with outputs too small to "
        "lower the loss; and with large ones a lucky draw of the neurons (3 of 200 at "
        "standard deviation 4) is trained to a loss below 0.003."
    ),
    needs=NEEDS,
    draw=draw,
    values=values,
    stated=stated,
    checks=checks,
    silent=(
        "The variance of the neurons is not stated. We use standard deviations from "
        "0.1 to 4.",
        "The numbers of seeds and steps are not stated: 20 seeds, and 20 000 steps, "
        "after which the curves are flat.",
        "Width and initial scale are not stated: m = 128, ω = 0.1.",
    ),
)
