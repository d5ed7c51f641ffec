"""Figure 10: entropy of attention on real text, by learning rate."""

from typing import TYPE_CHECKING, Any

import numpy as np

from attnflow import figures
from attnflow.paper import Evidence, Exhibit
from attnflow.papers.scansnap.text_runs import (
    BY_RATE,
    KINDS,
    RATES,
    last_entropies,
    name_of,
    uniform_entropy,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = dict(zip(KINDS, ("signal", "common", "easy"), strict=True))
SILENT = (
    "Sizes are those of PyTorch's language-model tutorial, on which the published "
    "code is built; the vocabulary is cut to the 1000 most frequent words.",
    "Trained on WikiText-2's split valid (216 k words), tested on its split test; the "
    "paper's own splits are train and valid. WikiText-103 is not covered.",
    "Until convergence, says the paper; here 1200 steps, four epochs.",
)
"""For both figures on text."""


def draw(evidence: Evidence) -> "Figure":
    """Mean and deviation over seeds, by learning rate."""
    figure, grid = figures.panels(size=(7.6, 4.8))
    ax = grid[0, 0]
    theme = figures.current_theme()
    for kind in KINDS:
        found = last_entropies(evidence, kind)
        ax.errorbar(
            RATES,
            found.mean(axis=1),
            found.std(axis=1, ddof=1) if found.shape[1] > 1 else None,
            color=theme.colour(COLOURS[kind]),
            marker="o",
            markersize=4,
            capsize=3,
            label=kind,
        )
    figures.reference(ax, _uniform(evidence), "uniform")
    ax.set_xscale("log")
    figures.number_axis(ax, "x")
    ax.set_xticks(RATES, [f"{rate:g}" for rate in RATES])
    ax.minorticks_off()
    ax.set_xlabel("learning rate η")
    ax.set_ylabel("entropy of attention on test windows (nats)")
    ax.legend()
    return figure


def _uniform(evidence: Evidence) -> float:
    return uniform_entropy(evidence[name_of("encoder, one layer", RATES[0])])


def values(evidence: Evidence) -> dict[str, Any]:
    """Entropies and test losses at the end, by network and rate."""
    return {
        kind: {
            f"η = {rate:g}": {
                "entropy": float(row.mean()),
                "deviation": float(row.std(ddof=1)) if len(row) > 1 else 0.0,
                "test loss": float(
                    evidence[name_of(kind, rate)]["test_loss"][:, -1].mean()
                ),
            }
            for rate, row in zip(RATES, last_entropies(evidence, kind), strict=True)
        }
        for kind in KINDS
    }


def seen(evidence: Evidence) -> dict[str, bool]:
    """Entropy falls with the learning rate."""
    means = {kind: last_entropies(evidence, kind).mean(axis=1) for kind in KINDS}
    return {
        f"{kind}: entropy at the largest rate is below that at the least": bool(
            np.isfinite(found).all() and found[-1] < found[0]
        )
        for kind, found in means.items()
    }


FIGURE10 = Exhibit(
    id="figure10",
    kind="figure",
    title="Figure 10: entropy of attention by learning rate",
    caption=(
        "WikiText-2, stochastic descent with gradients shortened to 0.5, 1200 steps of "
        "20 windows of 35 words; entropy of the first layer's attention over test "
        "windows, places 11 to 35; mean and deviation over five seeds (three layers: "
        "one). Claimed: it falls as the rate grows."
    ),
    needs=BY_RATE,
    draw=draw,
    values=values,
    seen=seen,
    silent=SILENT,
)
