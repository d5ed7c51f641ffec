"""Figure 10: attention entropy on WikiText-2, by learning rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits import Curve, Curves, Panels, Tables, over_runs
from attnflow.papers.scansnap import text_runs
from attnflow.papers.scansnap.text_runs import KINDS, ONE_LAYER, RATES, name_of
from attnflow.schema.declarations import Evidence, Exhibit, Numbers
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = dict(zip(KINDS, ("signal", "common", "easy"), strict=True))
SILENT = (
    "Sizes are those of PyTorch's language-model tutorial, on which the published "
    "code is built; the vocabulary is cut to the 1000 most frequent words.",
    "Trained on WikiText-2's split valid (216 k words), tested on its split test; the "
    "paper's own splits are train and valid. WikiText-103 is not covered.",
    "The paper trains until convergence; Figure 7 has the 1500 steps of the authors' "
    "notebook, Figure 10 has 1200 (four epochs), and 4800 steps are stated.",
)
"""Readings for both figures on text."""
ENTROPY, LOSS = "entropy", "loss"


def _last(
    evidence: Evidence, kind: str, of: Callable[[xr.Dataset], xr.DataArray]
) -> xr.DataArray:
    """A series at the end of training, by rate and seed."""
    runs = {rate: name_of(kind, rate) for rate in RATES}
    return over_runs(evidence, "η", runs, lambda run: of(run).isel({TIME: -1}))


def _dot_seeds(ax: Axes, table: Mapping[str, xr.DataArray]) -> None:
    for line, rows in zip(ax.get_lines(), table.values(), strict=False):
        colour = line.get_color()
        ax.plot(RATES, rows, ".", color=colour, alpha=0.45, zorder=2, label="")


def _panel(
    name: str, title: str, y: str, of: Callable[[xr.Dataset], xr.DataArray]
) -> Curves:
    return Curves(
        title=title,
        name=name,
        x="learning rate η",
        y=y,
        scales=("log", "linear"),
        xlim=(RATES[0] / 1.15, RATES[-1] * 1.15),
        ylim=(0, None) if name == ENTROPY else None,
        curves=tuple(
            Curve(kind, partial(_last, kind=kind, of=of), kind=COLOURS[kind])
            for kind in KINDS
        ),
        at_points=True,
        names="lower left" if name == ENTROPY else "",
        finish=_dot_seeds,
    )


def values(t: Tables) -> Numbers:
    """Final entropies and test losses, by network and rate."""
    return {
        kind: {
            f"η = {rate:g}": {
                "entropy": float(row.mean()),
                "deviation": float(figures.deviation(row)),
                "test loss": float(losses.mean()),
            }
            for rate, row, losses in zip(
                RATES, t[ENTROPY][kind].values, t[LOSS][kind].values, strict=True
            )
        }
        for kind in KINDS
    }


def _levels(t: Tables, kind: str) -> xr.DataArray:
    """Mean final entropies, by rate."""
    return t[ENTROPY][kind].mean(SEED, skipna=False)


def _falls(kind: str) -> Callable[[Tables], bool]:
    """Whether all entropies are known, and the last below the first."""
    return lambda t: bool(
        np.isfinite(_levels(t, kind)).all()
        and _levels(t, kind)[-1] < _levels(t, kind)[0]
    )


FIGURE10 = Exhibit(
    id="figure10",
    kind="figure",
    title="Figure 10: entropy of attention by learning rate",
    caption=(
        "Entropy of attention and test loss against the learning rate on WikiText-2: "
        "SGD with the gradient norm clipped to 0.5, 1200 steps of 20 windows of 35 "
        "words. Left, entropy of the first layer's attention over test windows, "
        "positions 11 to 35; right, the test loss (a uniform guess among the 1000 "
        "words has 6.9). Mean and deviation over five seeds (three layers: one), and "
        "each seed as a dot. Claimed: entropy falls as the rate grows."
    ),
    needs=text_runs.by_rate(*KINDS),
    shows=Panels(
        (
            _panel(
                ENTROPY,
                "sparser at larger rates",
                "entropy of attention on test windows (nats)",
                text_runs.entropy,
            ),
            _panel(
                LOSS,
                "test loss of the networks",
                "test loss (nats per word)",
                lambda run: run["test_loss"],
            ),
        ),
        size=(12.4, 4.8),
        finish=lambda figure, grid, t: figures.reference(
            grid[0, 0],
            text_runs.uniform_entropy(t.runs[name_of(ONE_LAYER, RATES[0])]),
            "uniform",
        ),
    ),
    values=values,
    stated={
        "Caption of Figure 10; Appendix G": {
            "one layer: mean entropy falls with every larger learning rate": lambda t: (
                _levels(t, ONE_LAYER).diff("η") < 0
            )
        }
    },
    checks={
        f"{kind}: entropy at the largest rate is below that at the least": _falls(kind)
        for kind in KINDS
    },
    silent=SILENT,
)
