"""Figure 10: attention entropy on WikiText-2, by learning rate."""

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.scansnap._types import Numbers
from attnflow.papers.scansnap.text_runs import (
    KINDS,
    ONE_LAYER,
    RATES,
    by_rate,
    last_entropies,
    name_of,
    uniform_entropy,
)
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.dims import TIME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = dict(zip(KINDS, ("signal", "common", "easy"), strict=True))
SILENT = (
    "Sizes are those of PyTorch's language-model tutorial, on which the published "
    "code is built; the vocabulary is cut to the 1000 most frequent words.",
    "Trained on WikiText-2's split valid (216 k words), tested on its split test; the "
    "paper's own splits are train and valid. WikiText-103 is not covered.",
    "The paper trains until convergence; here 1200 steps (four epochs), or 4800 where "
    "stated.",
)
"""Readings for both figures on text."""


def draw(evidence: Evidence) -> "Figure":
    """Panels: final entropies and test losses, by learning rate."""
    titles = ("sparser at larger rates", "test loss of the networks")
    figure, grid = figures.panels(1, 2, titles=titles, size=(12.4, 4.8))
    entropies, losses = grid[0]
    for kind in KINDS:
        _bars(entropies, kind, last_entropies(evidence, kind))
        _bars(losses, kind, _last_losses(evidence, kind))
    figures.reference(entropies, _uniform(evidence), "uniform")
    entropies.set_ylim(bottom=0)
    entropies.set_ylabel("entropy of attention on test windows (nats)")
    losses.set_ylabel("test loss (nats per word)")
    entropies.legend(loc="lower left")
    return figure


def _bars(ax: "Axes", kind: str, rows: np.ndarray) -> None:
    """Draw the mean over seeds with its standard deviation, and each seed as a dot."""
    colour = figures.current_theme().colour(COLOURS[kind])
    ax.plot(RATES, rows, ".", color=colour, alpha=0.45, zorder=2)
    figures.error_bars(ax, RATES, rows, kind=COLOURS[kind], label=kind)
    ax.set_xscale("log")
    ax.set_xticks(RATES, [f"{rate:g}" for rate in RATES])
    ax.minorticks_off()
    ax.set_xlim(RATES[0] / 1.15, RATES[-1] * 1.15)
    ax.set_xlabel("learning rate η")


def _last_losses(evidence: Evidence, kind: str) -> np.ndarray:
    runs = [evidence[name_of(kind, rate)] for rate in RATES]
    return np.array([run["test_loss"].isel({TIME: -1}).values for run in runs])


def _uniform(evidence: Evidence) -> float:
    return uniform_entropy(evidence[name_of(ONE_LAYER, RATES[0])])


def values(evidence: Evidence) -> Numbers:
    """Final entropies and test losses, by network and rate."""
    return {
        kind: {
            f"η = {rate:g}": {
                "entropy": float(row.mean()),
                "deviation": float(figures.deviation(row)),
                "test loss": float(losses.mean()),
            }
            for rate, row, losses in zip(
                RATES,
                last_entropies(evidence, kind),
                _last_losses(evidence, kind),
                strict=True,
            )
        }
        for kind in KINDS
    }


def stated(evidence: Evidence) -> dict[str, Sentences]:
    """Whether entropy falls with the learning rate, with one layer."""
    levels = last_entropies(evidence, ONE_LAYER).mean(axis=1)
    sentences = {
        "one layer: mean entropy falls with every larger learning rate": bool(
            (np.diff(levels) < 0).all()
        )
    }
    return {"Caption of Figure 10; Appendix G": sentences}


def checks(evidence: Evidence) -> dict[str, bool]:
    """Entropies at the largest and at the least rate, of all networks."""
    means = {kind: last_entropies(evidence, kind).mean(axis=1) for kind in KINDS}
    return {
        f"{kind}: entropy at the largest rate is below that at the least": bool(
            np.isfinite(levels).all() and levels[-1] < levels[0]
        )
        for kind, levels in means.items()
    }


FIGURE10 = Exhibit(
    id="figure10",
    kind="figure",
    title="Figure 10: entropy of attention by learning rate",
    caption=(
        "WikiText-2, SGD with the gradient norm clipped to 0.5, 1200 steps of 20 "
        "windows of 35 words. Left, entropy of the first layer's attention over test "
        "windows, positions 11 to 35; right, the test loss, where a uniform guess "
        "among the 1000 words has 6.9. Mean and deviation over five seeds (three "
        "layers: one), and each seed as a dot. Claimed: entropy falls as the rate "
        "grows."
    ),
    needs=by_rate(*KINDS),
    draw=draw,
    values=values,
    stated=stated,
    checks=checks,
    silent=SILENT,
)
