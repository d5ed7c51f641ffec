"""Figure 7: attention maps of the first layer on WikiText-2, along training."""

from collections.abc import Callable
from typing import TYPE_CHECKING

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
from attnflow.schema.declarations import Evidence, Exhibit, Numbers
from attnflow.schema.dims import SEED, TIME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

MOMENTS = ("before", "during", "after")
WINDOW = 0
"""Index of the test window whose maps are drawn."""
COURSE = {
    "entropy / uniform entropy": ("signal", share_of_uniform),
    "on frequent words / initial": ("common", on_frequent),
    "drift since the last record": ("noise", drift),
}
"""Statistics along training, each a share: its kind (colour) and its function."""


def draw(evidence: Evidence) -> "Figure":
    """Panels: maps of one test window at three times, and statistics of all windows."""
    titles = [title for name, run in evidence.items() for title in _titles(name, run)]
    rows = len(evidence)
    figure, grid = figures.panels(rows, 4, titles=titles, size=(15.6, 3.7 * rows))
    for row, run in zip(grid, evidence.values(), strict=True):
        meshes = [_map(row[k], run, moment) for k, moment in enumerate(_moments(run))]
        figures.field_bar(figure, meshes[-1], row[:3].tolist(), "attention")
        _course(row[3], run)
    _legend(grid[0, 3])
    return figure


def _moments(run: xr.Dataset) -> tuple[int, int, int]:
    last = run.sizes[TIME] - 1
    return 0, last // 2, last


def _titles(name: str, run: xr.Dataset) -> list[str]:
    steps = [int(run[TIME][moment]) for moment in _moments(run)]
    rate = schema.setting_of(run)["learning_rate"]
    first, *later = [f"{w}, step {s}" for w, s in zip(MOMENTS, steps, strict=True)]
    return [f"{name}: {first}", *later, f"all test windows, η = {rate:g}"]


def _map(ax: "Axes", run: xr.Dataset, moment: int) -> "QuadMesh":
    from matplotlib.colors import PowerNorm

    selection = run["test_attention"].isel(
        {SEED: 0, TIME: moment, "test_sample": WINDOW, "head": 0}
    )
    attention = (
        selection.sel(layer="1").transpose("query_position", "key_position").values
    )
    edges = np.arange(len(attention) + 1) + 0.5
    mesh = ax.pcolormesh(
        edges,
        edges,
        np.ma.masked_where(np.triu(np.ones_like(attention), 1) > 0, attention),
        cmap=figures.current_theme().mass,
        # Keeps small shares visible beside large ones.
        norm=PowerNorm(0.5, 0, 1),
        rasterized=True,
    )
    ax.invert_yaxis()
    ax.set_aspect("equal")
    ax.spines[:].set_visible(False)
    ax.set_xlabel("key position")
    ax.set_ylabel("query position")
    return mesh


def _course(ax: "Axes", run: xr.Dataset) -> None:
    for label, (kind, statistic) in COURSE.items():
        figures.series(ax, run, statistic(run), kind=kind, label=label)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("share")
    figures.time_axis(ax, run)


def _legend(ax: "Axes") -> None:
    """Legend of the statistics, above the curves."""
    ax.set_ylim(top=1.35 * ax.get_ylim()[1])
    ax.legend(loc="upper right")


def values(evidence: Evidence) -> Numbers:
    """Entropies of all layers at three times, drifts and shares, mean over seeds."""
    return {name: _numbers(run) for name, run in evidence.items()}


def _numbers(run: xr.Dataset) -> dict[str, float]:
    levels = {
        f"entropy, layer {layer}, {word}": float(entropy(run, layer)[:, moment].mean())
        for layer in map(str, run["layer"].values)
        for word, moment in zip(MOMENTS, _moments(run), strict=True)
    }
    drifts = drift(run).mean(SEED)
    return {
        **levels,
        "largest drift": float(drifts.max()),
        "last drift": float(drifts[-1]),
        "attention to frequent words, after / before": float(
            on_frequent(run)[:, -1].mean()
        ),
    }


FREEZES = (
    "{name}: attention of the first layer freezes: its maps end moving by less than "
    "0.1 from record to record"
)


def _becomes_sparse(name: str) -> Callable[[Evidence], bool]:
    """Whether the first layer's attention ends sparser than it began."""

    def answer(evidence: Evidence) -> bool:
        levels = entropy(evidence[name])
        return bool(levels[:, -1].mean() < levels[:, 0].mean() - 0.1)

    return answer


def _freezes(name: str) -> Callable[[Evidence], xr.DataArray]:
    return lambda evidence: drift(evidence[name]).isel({TIME: -1}) < 0.1


def _first_is_sparsest(evidence: Evidence) -> bool:
    deep = evidence[OF_THREE]
    ends = [float(entropy(deep, str(k))[:, -1].mean()) for k in deep["layer"].values]
    return bool(ends[0] < min(ends[1:]) - 0.1)


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
        "and then freezes though the rate is constant. It does become "
        "sparse; the encoder's maps keep moving; in the theory's own parametrisation "
        "maps slow down, and frequent words gain attention."
    ),
    needs={**COURSES, **LONG},
    draw=draw,
    values=values,
    stated={
        "Caption of Figure 7": {
            f"{name}: attention becomes sparse over training": _becomes_sparse(name)
            for name in COURSES
        },
        "Section 8": {FREEZES.format(name=name): _freezes(name) for name in COURSES},
    },
    checks={
        **{f"{name}: attention becomes sparse": _becomes_sparse(name) for name in LONG},
        "of three layers the first is the sparsest, by 0.1 nats or more": (
            _first_is_sparsest
        ),
    },
    differs={
        FREEZES.format(
            name=name
        ): "maps keep moving: 0.6 to 0.7 of all attention moves in the last 150 steps"
        for name in COURSES
    },
    silent=SILENT,
)
