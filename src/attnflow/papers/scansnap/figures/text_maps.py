"""Figure 7: attention of the first layer on real text, along training."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import figures, schema
from attnflow.papers.scansnap.figures.text_rates import SILENT
from attnflow.papers.scansnap.text_runs import (
    COURSES,
    LONG,
    OF_THREE,
    drift,
    entropy,
    on_frequent,
    share_of_uniform,
)
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.dims import SEED, TIME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

MOMENTS = ("before", "during", "after")
WINDOW = 0
"""The test window whose maps are shown."""
COURSE = {
    "entropy, of the uniform one": ("signal", share_of_uniform),
    "on frequent words, of before": ("common", on_frequent),
    "drift since the last record": ("noise", drift),
}
"""What is shown along training, each as a share: its colour, and how it is read."""


def draw(evidence: Evidence) -> "Figure":
    """Maps of one test window at three moments, and what becomes of all windows."""
    titles = [title for name, run in evidence.items() for title in _titles(name, run)]
    rows = len(evidence)
    figure, grid = figures.panels(rows, 4, titles=titles, size=(15.6, 3.7 * rows))
    for row, run in zip(grid, evidence.values(), strict=True):
        meshes = [_map(row[k], run, place) for k, place in enumerate(_moments(run))]
        figures.field_bar(figure, meshes[-1], row[:3].tolist(), "attention")
        _course(row[3], run)
    _legend(grid[0, 3])
    return figure


def _moments(run: xr.Dataset) -> tuple[int, int, int]:
    last = run.sizes[TIME] - 1
    return 0, last // 2, last


def _titles(name: str, run: xr.Dataset) -> list[str]:
    steps = [int(run[TIME][place]) for place in _moments(run)]
    rate = schema.setting_of(run)["learning_rate"]
    first, *later = [f"{w}, step {s}" for w, s in zip(MOMENTS, steps, strict=True)]
    return [f"{name}: {first}", *later, f"all test windows, η = {rate:g}"]


def _map(ax: "Axes", run: xr.Dataset, moment: int) -> "QuadMesh":
    from matplotlib.colors import PowerNorm

    shown = run["test_attention"].isel(
        {SEED: 0, TIME: moment, "test_sample": WINDOW, "head": 0}
    )
    paid = shown.sel(layer="1").transpose("query_position", "key_position").values
    places = np.arange(len(paid) + 1) + 0.5
    mesh = ax.pcolormesh(
        places,
        places,
        np.ma.masked_where(np.triu(np.ones_like(paid), 1) > 0, paid),
        cmap=figures.current_theme().mass,
        # Small shares are seen beside large ones.
        norm=PowerNorm(0.5, 0, 1),
        rasterized=True,
    )
    ax.invert_yaxis()
    ax.set_aspect("equal")
    ax.spines[:].set_visible(False)
    ax.set_xlabel("place of the key")
    ax.set_ylabel("place of the query")
    return mesh


def _course(ax: "Axes", run: xr.Dataset) -> None:
    for label, (kind, read) in COURSE.items():
        figures.series(ax, run, read(run), kind=kind, label=label)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("share")
    figures.time_axis(ax, run)


def _legend(ax: "Axes") -> None:
    """Names of the courses, above them."""
    ax.set_ylim(top=1.35 * ax.get_ylim()[1])
    ax.legend(loc="upper right")


def values(evidence: Evidence) -> dict[str, Any]:
    """Entropies of all layers at three moments, drifts and shares, mean over seeds."""
    return {name: _numbers(run) for name, run in evidence.items()}


def _numbers(run: xr.Dataset) -> dict[str, float]:
    levels = {
        f"entropy, layer {layer}, {word}": float(entropy(run, layer)[:, place].mean())
        for layer in map(str, run["layer"].values)
        for word, place in zip(MOMENTS, _moments(run), strict=True)
    }
    moved = drift(run).mean(SEED)
    return {
        **levels,
        "largest drift": float(moved.max()),
        "last drift": float(moved[-1]),
        "attention to frequent words, after / before": float(
            on_frequent(run)[:, -1].mean()
        ),
    }


def seen(evidence: Evidence) -> dict[str, bool]:
    """Attention becomes sparse, in the first layer first of all."""
    deep = evidence[OF_THREE]
    ends = [float(entropy(deep, str(k))[:, -1].mean()) for k in deep["layer"].values]
    found = {
        f"{name}: the first layer's attention ends sparser than it began": bool(
            entropy(run)[:, -1].mean() < entropy(run)[:, 0].mean() - 0.1
        )
        for name, run in evidence.items()
    }
    return found | {
        "of three layers the first is the sparsest, by 0.1 nats or more": bool(
            ends[0] < min(ends[1:]) - 0.1
        )
    }


FIGURE7 = Exhibit(
    id="figure7",
    kind="figure",
    title="Figure 7: attention on WikiText-2 along training",
    caption=(
        "WikiText-2, PyTorch's encoder at rate 5: the first layer of one, and of "
        "three; and below, the theory's own parametrisation at rate 2, for four times "
        "as long. A test window before, during and after training of one seed; right, "
        "in the mean over 40 test windows, median and range over seeds: entropy; "
        "attention to the 20 most frequent words; and how far maps moved from one "
        "record to the next, as total variation. Claimed: attention becomes sparse, "
        "and then freezes though the rate is constant. Sparse it becomes; the "
        "encoder's maps go on moving, and those of the theory's own parametrisation "
        "slow down, in which frequent words gain attention."
    ),
    needs={**COURSES, **LONG},
    draw=draw,
    values=values,
    seen=seen,
    silent=SILENT,
)
