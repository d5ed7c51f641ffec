"""Figure 3: attention trained alone, with neurons fixed at Gaussian values."""

from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures, schema
from attnflow.figures.exhibits import Course, Free, Panels, Tables, ramp
from attnflow.papers.mixture.figures.courses import LOG2
from attnflow.schema.declarations import Evidence, Exhibit, Request

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SCALES = (0.1, 0.5, 1.0, 2.0, 4.0)
RUNS = {f"sd {scale:g}": scale for scale in SCALES}
Ends = dict[str, tuple[np.ndarray, np.ndarray]]
"""By run: final losses, and whether every sample is classified, by seed."""


def _ends(evidence: Evidence) -> Ends:
    # The accuracy is a sum of eight probabilities of 1/8: exact in binary.
    return {
        name: (
            schema.last(run, "loss").values,
            schema.last(run, "accuracy").values == 1.0,
        )
        for name, run in evidence.items()
    }


def _draw_ends(ax: "Axes", table: Ends) -> None:
    """Final losses by scale of the neurons, filled if every sample is classified."""
    theme = figures.current_theme()
    kinds = {True: ("easy", "all samples classified"), False: ("hard", "some not")}
    for perfect, (kind, label) in kinds.items():
        colour = theme.colour(kind)
        style = {"marker": "o", "ms": 5, "ls": "", "color": colour, "zorder": 3}
        style["mfc"] = colour if perfect else "none"
        for index, (loss, classified) in enumerate(table.values()):
            shown = classified == perfect
            # Side by side, in the order of the seeds.
            x = index + np.linspace(-0.3, 0.3, len(shown))[shown]
            ax.plot(x, loss[shown], label="" if index else label, **style)
    ax.set_xlim(-0.6, len(table) - 0.4)
    ax.set_xticks(range(len(table)), [f"{scale:g}" for scale in SCALES])


PANELS = Panels(
    (
        Course(
            title="Median loss",
            y="loss",
            ylim=(0, 0.85),
            levels={r"$\log 2$": LOG2},
            lines=ramp("loss", {run: run for run in RUNS}, kind="noise", band="none"),
        ),
        Free(
            title="Each seed at the end",
            name="ends",
            x="standard deviation of the neurons",
            y="loss",
            scales=("linear", "log"),
            ticks={"y": 5},
            levels={"": LOG2},
            names={"loc": "lower left", "handletextpad": 0.2},
            of=_ends,
            picture=_draw_ends,
        ),
    ),
    size=(9.6, 4.0),
)


def values(table: Tables) -> dict[str, Any]:
    """Final losses and accuracies for each scale of the neurons."""
    return {
        name: {
            "median loss": float(np.median(loss)),
            "least loss": float(loss.min()),
            "seeds with loss below 0.1": int((loss < 0.1).sum()),
            "seeds that classify every sample": int(perfect.sum()),
            "seeds": len(loss),
        }
        for name, (loss, perfect) in table["ends"].items()
    }


FIGURE3 = Exhibit(
    id="figure3",
    kind="figure",
    title="Figure 3: training attention alone",
    caption=(
        "Training loss when only attention is trained. Neurons are fixed at Gaussian "
        "values, whose standard deviation (sd) labels each curve; all curves share "
        "20 seeds, hence the same directions. The loss settles far from zero, as the "
        "paper reports, with two caveats: with small neurons several seeds classify "
        "every sample, with outputs too small to lower the loss; and with large ones "
        "a lucky draw of the neurons (3 of 200 at standard deviation 4) is trained "
        "to a loss below 0.003."
    ),
    needs={
        name: Request(
            "attention-only",
            {"value_scale": scale},
            seeds=20,
            quick={"steps": 4000.0, "records": 101},
        )
        for name, scale in RUNS.items()
    },
    shows=PANELS,
    values=values,
    stated={
        "Section 3.1; Appendix A.2": {
            "the model is not trainable: at every size of the neurons the median loss "
            "stays above 0.2": (
                lambda t: [np.median(loss) > 0.2 for loss, _ in t["ends"].values()]
            )
        }
    },
    checks={
        "at most one run in ten brings the loss to 0.05": lambda t: (
            np.mean([loss < 0.05 for loss, _ in t["ends"].values()]) <= 0.1
        )
    },
    silent=(
        "The variance of the neurons is not stated. We use standard deviations from "
        "0.1 to 4.",
        "The numbers of seeds and steps are not stated: 20 seeds, and 20 000 steps, "
        "after which the curves are flat.",
        "Width and initial scale are not stated: m = 128, ω = 0.1.",
    ),
)
