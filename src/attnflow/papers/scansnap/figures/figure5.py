"""Figure 5: attention of J under Adam, for three learning rates."""

from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from attnflow.papers.scansnap.figures import attention
from attnflow.papers.scansnap.figures.readings import named
from attnflow.papers.scansnap.figures.runs import SYN_SMALL_SILENT, adam
from attnflow.schema.declarations import Evidence, Exhibit, Numbers
from attnflow.schema.dims import CLASS, SEED, TIME

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATES = {f"η = {rate:g}": rate for rate in (0.1, 0.5, 1.0)}


def draw(evidence: Evidence) -> "Figure":
    """The first class, a row for each learning rate."""
    rows = [
        (rf"attention $c_1$, $\eta = {rate:g}$", evidence[name], 0)
        for name, rate in RATES.items()
    ]
    return attention.stems(rows, r"$\mathbf{J}$, by Adam")


def entropies(evidence: Evidence, record: int) -> np.ndarray:
    """Entropy on the first class's distinct tokens at a record, by rate and seed."""
    at = {CLASS: 0, TIME: record}
    return np.array([evidence[n]["distinct_entropy"].isel(at).values for n in RATES])


def favourites(evidence: Evidence) -> np.ndarray:
    """The most attended token of the first class, 0 (rare) to 9, by rate and seed."""
    return np.array([attention.favourite(evidence[name]) for name in RATES])


def values(evidence: Evidence) -> Numbers:
    """Favourites and entropies by learning rate, seed by seed."""
    start = {
        "entropy on distinct tokens at the start": float(entropies(evidence, 0)[0, 0])
    }
    tables = zip(RATES, favourites(evidence), entropies(evidence, -1), strict=True)
    return start | {
        name: {
            "favourite of 0 to 9": named(_seeds(evidence[name]), tops),
            "entropy on distinct tokens at the end": named(
                _seeds(evidence[name]), ends
            ),
            **attention.numbers(evidence[name]),
        }
        for name, tops, ends in tables
    }


def _seeds(run: xr.Dataset) -> list[str]:
    return [f"seed {seed}" for seed in run[SEED].values]


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
    needs={name: adam(rate) for name, rate in RATES.items()},
    draw=draw,
    values=values,
    stated={
        "Caption of Figure 5; Section 8": {
            "with different learning rates attention goes to different distinct "
            "tokens: the favourite is another one at each rate, in every seed": (
                lambda runs: favourites(runs) != np.roll(favourites(runs), 1, axis=0)
            )
        }
    },
    checks={
        "the larger the learning rate, the more frequent the favourite": lambda runs: (
            np.diff(favourites(runs), axis=0) > 0
        ),
        "Adam does not make attention sparse: entropy on distinct tokens ends above "
        "that of the start": lambda runs: entropies(runs, -1) > entropies(runs, 0),
    },
    silent=(
        *SYN_SMALL_SILENT,
        "Adam's memories and seeds are not stated: 0.9, 0.999, ε = 1e-8; seeds 0, 1, 2 "
        "of our own random numbers.",
    ),
)
