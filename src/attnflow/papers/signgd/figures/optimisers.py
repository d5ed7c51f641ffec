"""Figure 2: SignGD, Adam and gradient descent in setting (a)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.signgd._types import Values
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.runs import (
    BETA2_SILENT,
    BETAS1,
    PRECISION_SILENT,
    SEEDS_SILENT,
    adam,
    descent,
    signgd,
)
from attnflow.papers.signgd.figures.statistics import (
    late_laws,
    law_table,
    three_numbers,
    turned_by_end,
)
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = {
    "SignGD": ("signal", 0),
    "Adam, β1 = 0.9": ("common", 0),
    "Adam, β1 = 0.5": ("common", 1),
    "Adam, β1 = 0": ("common", 2),
    "GD": ("easy", 0),
}
"""Kind and shade of each optimiser's colour."""
ADAMS = {f"Adam, β1 = {beta1:g}": beta1 for beta1 in BETAS1}
SPARSE = {
    "SignGD": signgd(),
    **{name: adam(beta1) for name, beta1 in ADAMS.items()},
    "GD": descent(1e-4),
}
MOMENTUM = "Adam, β1 = 0.9"


def draw_two(evidence: Evidence) -> Figure:
    """Draw one neuron under SignGD and under Adam, and the training losses of all."""
    titles = ("SignGD, one neuron", "Adam, β1 = 0.9, one neuron", "Training loss")
    figure, grid = figures.panels(1, 3, titles=titles, size=(15.6, 4.4))
    first, second, third = grid[0]
    panels.one_neuron(first, evidence["SignGD"])
    panels.one_neuron(second, evidence[MOMENTUM])
    curves(third, evidence, "loss")
    for ax in grid[0]:
        figures.label_ends(ax)
    return figure


def curves(ax: Axes, runs: Mapping[str, xr.Dataset], name: str) -> None:
    """Plot one series of every optimiser on a logarithmic axis."""
    for optimiser, run in runs.items():
        kind, shade = KINDS[optimiser]
        figures.series(ax, run, name, kind=kind, shade=shade, label=optimiser)
    ax.set_yscale("log")
    figures.number_axis(ax, "y")
    figures.time_axis(ax, runs["SignGD"], label=panels.STEP)
    ax.set_ylabel(name.replace("_", " "))


def turned_by_optimiser(evidence: Evidence) -> dict[str, dict[str, dict[str, float]]]:
    """Fractions of outvoted keys and queries that turned by the end, by optimiser."""
    return {
        optimiser: {
            f"outvoted {side} that turned": three_numbers(turned_by_end(run, name))
            for name, (side, _) in panels.SIDES.items()
        }
        for optimiser, run in evidence.items()
        if optimiser != "GD"
    }


def ends(evidence: Evidence) -> dict[str, dict[str, dict[str, float]]]:
    """Losses at the end and fits to the training loss, by optimiser."""
    return {
        optimiser: {
            "training loss": three_numbers(schema.last(run, "loss").values),
            "test loss": three_numbers(schema.last(run, "test_loss").values),
            "0–1 test loss": three_numbers(
                panels.zero_one(schema.last(run, "test_accuracy")).values
            ),
            "law, second half, seed 0": law_table(late_laws(run)[0]),
        }
        for optimiser, run in evidence.items()
    }


def values_two(evidence: Evidence) -> Values:
    """Losses with fits, and the fractions of outvoted noise that turned."""
    shares = turned_by_optimiser(evidence)
    return {
        name: {**end, **shares.get(name, {})} for name, end in ends(evidence).items()
    }


def stated_two(evidence: Evidence) -> dict[str, Sentences]:
    """Statements of the paper on Figure 2."""
    end = {name: schema.last(run, "loss").values for name, run in evidence.items()}
    adams = np.array([np.median(end[name]) for name in ADAMS])
    both = {
        observable: [
            turned_by_end(evidence[name], observable) for name in ("SignGD", MOMENTUM)
        ]
        for observable in panels.SIDES
    }
    caption = {
        "SignGD's loss falls exponentially: the residual of the exponential is a tenth "
        "of that of the power law at most": all(
            law.exponential < law.algebraic / 10
            for law in late_laws(evidence["SignGD"])
        ),
        "losses of Adam overlap: the three β1 end within 20% of each other": bool(
            adams.max() < 1.2 * adams.min()
        ),
    }
    sentences = {
        "SignGD trains faster than gradient descent": bool(
            end["SignGD"].max() < end["GD"].min()
        ),
        "outvoted keys turn under SignGD and Adam: all but 1%": bool(
            np.min(np.concatenate(both["key_neuron"])) > 0.99
        ),
        "outvoted queries turn under SignGD, more than 95%, and not under Adam, less "
        "than 5%": bool(
            both["query_neuron"][0].min() > 0.95
            and both["query_neuron"][1].max() < 0.05
        ),
    }
    return {"Caption of Figure 2": caption, "Section 3.2": sentences}


def checks_two(evidence: Evidence) -> dict[str, bool]:
    """Losses at the end, in their order."""
    end = {name: schema.last(run, "loss").values for name, run in evidence.items()}
    adams = [np.median(end[name]) for name in ADAMS]
    return {
        "losses of Adam end above that of SignGD": bool(
            np.min(adams) > end["SignGD"].max()
        ),
        "gradient descent with the same rate has hardly begun: its loss is above "
        "0.68": bool((end["GD"] > 0.68).all()),
    }


FIGURE2 = Exhibit(
    id="figure2",
    kind="figure",
    title="Figure 2: SignGD, Adam and gradient descent",
    caption=(
        "Setting (a), d = 2000, learning rate 1e-4 for all, Adam with β2 = 0.999, ε = "
        "1e-15. Neuron 0 of seed 0; losses as medians over 5 (SignGD) and 3 seeds "
        "(bands: range). Claimed: Adam goes through the same stages, except that "
        "outvoted queries do not turn as under SignGD; SignGD's loss falls "
        "exponentially, and those of Adam with different β1 overlap. All of this is "
        "reproduced; gradient descent at this learning rate has hardly begun. Panel d, "
        "noisy digits, is figure2d."
    ),
    needs=SPARSE,
    draw=draw_two,
    values=values_two,
    stated=stated_two,
    checks=checks_two,
    silent=(SEEDS_SILENT, PRECISION_SILENT, BETA2_SILENT),
)
