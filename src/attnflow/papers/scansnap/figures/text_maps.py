"""Figure 7: attention of the first layer on real text, along training."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import _dims, figures
from attnflow.paper import Evidence, Exhibit
from attnflow.papers.scansnap.figures.text_rates import SILENT
from attnflow.papers.scansnap.text_runs import (
    COURSES,
    drift,
    entropy,
    uniform_entropy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOMENTS = ("before", "during", "after")
WINDOW = 0
"""The test window whose maps are shown."""


def draw(evidence: Evidence) -> "Figure":
    """Maps of one test window at three moments; entropy and drift beside them."""
    titles = [
        title
        for name, run in evidence.items()
        for title in (*_titles(name, run), f"{name}: entropy and drift")
    ]
    figure, grid = figures.panels(2, 4, titles=tuple(titles), size=(15.6, 8.0))
    for row, run in zip(grid, evidence.values(), strict=True):
        for ax, moment in zip(row, _moments(run), strict=False):
            _map(ax, run, moment)
        _course(row[-1], run)
    return figure


def _moments(run: xr.Dataset) -> tuple[int, int, int]:
    last = run.sizes[_dims.TIME] - 1
    return 0, last // 2, last


def _titles(name: str, run: xr.Dataset) -> list[str]:
    steps = [int(run[_dims.TIME][place]) for place in _moments(run)]
    return [
        f"{name}, {word} (step {step})"
        for word, step in zip(MOMENTS, steps, strict=True)
    ]


def _map(ax: "Axes", run: xr.Dataset, moment: int) -> None:
    shown = run["test_attention"].isel(
        {_dims.SEED: 0, _dims.TIME: moment, "test_sample": WINDOW, "head": 0}
    )
    paid = shown.sel(layer="1").transpose("query_position", "key_position").values
    # The root shows what is small beside what is one.
    ax.pcolormesh(np.sqrt(paid), cmap=figures.current_theme().mass, vmin=0, vmax=1)
    ax.invert_yaxis()
    ax.set_aspect("equal")
    ax.set_xlabel("key")
    ax.set_ylabel("query")


def _course(ax: "Axes", run: xr.Dataset) -> None:
    theme = figures.current_theme()
    level, moved = entropy(run)[0], drift(run)[0]
    share = level / uniform_entropy(run)
    for found, kind, label in (
        (share, "signal", "entropy, as a share of the uniform one"),
        (moved, "noise", "drift: total variation since the last record"),
    ):
        times = found[_dims.TIME].values
        ax.plot(times, found.values, color=theme.colour(kind), marker="o", label=label)
    ax.set_ylim(0, 1.3)
    ax.set_xlabel("step")
    ax.legend()


def values(evidence: Evidence) -> dict[str, Any]:
    """Entropies of all layers at three moments, and the drift at the end."""
    return {
        name: {
            **{
                f"layer {layer}, {word}": float(entropy(run, layer)[0, place])
                for layer in map(str, run["layer"].values)
                for word, place in zip(MOMENTS, _moments(run), strict=True)
            },
            "largest drift": float(drift(run).max()),
            "last drift": float(drift(run)[0, -1]),
        }
        for name, run in evidence.items()
    }


def seen(evidence: Evidence) -> dict[str, bool]:
    """Attention becomes sparse, in the first layer first of all."""
    deep = evidence["3 layers"]
    ends = [float(entropy(deep, str(k))[0, -1]) for k in deep["layer"].values]
    found = {
        f"{name}: the first layer's attention ends sparser than it began": bool(
            entropy(run)[0, -1] < entropy(run)[0, 0] - 0.1
        )
        for name, run in evidence.items()
    }
    return found | {
        "of three layers the first is the sparsest, by 0.2 nats or more": bool(
            ends[0] < min(ends[1:]) - 0.2
        )
    }


FIGURE7 = Exhibit(
    id="figure7",
    kind="figure",
    title="Figure 7: attention on WikiText-2 along training",
    caption=(
        "WikiText-2, the first layer of one (top) and of three (bottom), rate 5; a "
        "test window before, during and after training, colours by the root of "
        "attention; right, entropy and drift in the mean over 40 test windows. "
        "Claimed: attention becomes sparse, and then freezes at a constant rate. It "
        "becomes sparse; maps go on moving, as far as they were followed."
    ),
    needs=COURSES,
    draw=draw,
    values=values,
    seen=seen,
    silent=SILENT,
)
