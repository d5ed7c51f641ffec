"""Figure 5: attention of J under Adam, for three learning rates."""

from typing import TYPE_CHECKING

import numpy as np

from attnflow.papers.scansnap._types import Numbers
from attnflow.papers.scansnap.figures import attention
from attnflow.papers.scansnap.figures.panels import named
from attnflow.papers.scansnap.figures.runs import SYN_SMALL_SILENT, adam
from attnflow.schema.declarations import Evidence, Exhibit, Sentences
from attnflow.schema.dims import SEED, TIME

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATES = (0.1, 0.5, 1.0)


def name(rate: float) -> str:
    """Name of a run in the evidence."""
    return f"η = {rate:g}"


def draw(evidence: Evidence) -> "Figure":
    """The first class, a row for each learning rate."""
    texts = [rf"attention $c_1$, $\eta = {rate:g}$" for rate in RATES]
    runs = [evidence[name(rate)] for rate in RATES]
    rows = [(text, run, 0) for text, run in zip(texts, runs, strict=True)]
    return attention.stems(rows, r"$\mathbf{J}$, by Adam")


def entropies(evidence: Evidence, step: int) -> np.ndarray:
    """Entropy on the first class's distinct tokens at a record, by rate and seed."""
    selection = {"class": 0, TIME: step}
    runs = [evidence[name(rate)] for rate in RATES]
    return np.array([run["distinct_entropy"].isel(selection).values for run in runs])


def favourites(evidence: Evidence) -> np.ndarray:
    """The most attended token of the first class, 0 (rare) to 9, by rate and seed."""
    return np.array([attention.favourite(evidence[name(rate)]) for rate in RATES])


def values(evidence: Evidence) -> Numbers:
    """Favourites and entropies by learning rate, seed by seed."""
    tops, ends = favourites(evidence), entropies(evidence, -1)
    start = float(entropies(evidence, 0)[0, 0])
    seeds = [f"seed {seed}" for seed in evidence[name(RATES[0])][SEED].values]
    return {
        "entropy on distinct tokens at the start": start,
        **{
            name(rate): {
                "favourite of 0 to 9": named(seeds, tops[i]),
                "entropy on distinct tokens at the end": named(seeds, ends[i]),
                **attention.numbers(evidence[name(rate)]),
            }
            for i, rate in enumerate(RATES)
        },
    }


def stated(evidence: Evidence) -> dict[str, Sentences]:
    """Whether the learning rate decides which tokens are attended to."""
    tops = favourites(evidence)
    sentences = {
        "with different learning rates attention goes to different distinct tokens: "
        "the favourite is another one at each rate, in every seed": bool(
            (np.diff(tops, axis=0) != 0).all() and (tops[0] != tops[-1]).all()
        )
    }
    return {"Caption of Figure 5; Section 8": sentences}


def checks(evidence: Evidence) -> dict[str, bool]:
    """Which tokens these are, and whether attention becomes sparse."""
    tops, ends = favourites(evidence), entropies(evidence, -1)
    return {
        "the larger the learning rate, the more frequent the favourite": bool(
            (np.diff(tops, axis=0) > 0).all()
        ),
        "Adam does not make attention sparse: entropy on distinct tokens ends above "
        "that of the start": bool((ends > entropies(evidence, 0)).all()),
    }


FIGURE5 = Exhibit(
    id="figure5",
    kind="figure",
    title="Figure 5: attention on Syn-Small under Adam",
    caption=(
        "System J: both tables by Adam with one learning rate for both, Syn-Small, "
        "zero initial tables; attention of class 1, seed 0 of three; outlined: that at "
        "the start. Which distinct tokens (blue) are favoured depends on the learning "
        "rate, as the paper says: the larger it is, the more frequent ones. Entropy on "
        "distinct tokens ends above its initial value: Adam flattens attention among "
        "them."
    ),
    needs={name(rate): adam(rate) for rate in RATES},
    draw=draw,
    values=values,
    stated=stated,
    checks=checks,
    silent=(
        *SYN_SMALL_SILENT,
        "Adam's memories and seeds are not stated: 0.9, 0.999, ε = 1e-8; seeds 0, 1, 2 "
        "of our own random numbers.",
    ),
)
