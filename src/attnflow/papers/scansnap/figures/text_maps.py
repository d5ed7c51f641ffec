"""Figure 7: attention maps of the first layer on WikiText-2, along training."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits import Course, Free, Line, Panels, Tables
from attnflow.papers.scansnap import text_runs
from attnflow.papers.scansnap.figures.text_rates import SILENT
from attnflow.papers.scansnap.text_runs import drift, entropy, on_frequent
from attnflow.schema.declarations import Evidence, Exhibit, Numbers
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDS = {**text_runs.COURSES, **text_runs.LONG}
MOMENTS = {"before": 0.0, "during": 0.5, "after": 1.0}
"""Shares of the records at which maps are drawn."""
COURSE = {
    "entropy / uniform entropy": ("signal", text_runs.share_of_uniform),
    "on frequent words / initial": ("common", on_frequent),
    "drift since the last record": ("noise", drift),
}
"""Statistics along training, each a share: its kind (colour) and its function."""


def _moment(run: xr.Dataset, share: float) -> int:
    return int(share * (run.sizes[TIME] - 1))


def _attention(evidence: Evidence, name: str, share: float) -> xr.DataArray:
    """The map of the first test window, seed, head and layer."""
    maps = evidence[name]["test_attention"].sel(layer="1")
    first = {SEED: 0, "test_sample": 0, "head": 0}
    now = maps.isel({**first, TIME: _moment(evidence[name], share)})
    return now.transpose("query_position", "key_position")


def _map(ax: Axes, attention: xr.DataArray) -> None:
    from matplotlib.colors import PowerNorm

    edges = np.arange(len(attention) + 1) + 0.5
    seen = np.tri(len(attention)) > 0
    # The norm keeps small shares visible beside large ones.
    style = {"cmap": figures.current_theme().mass, "norm": PowerNorm(0.5, 0, 1)}
    ax.pcolormesh(edges, edges, attention.where(seen), rasterized=True, **style)
    ax.invert_yaxis()
    ax.set_aspect("equal")
    ax.spines[:].set_visible(False)
    ax.set_xlabel(f"key position, at step {int(attention[TIME])}")


def _row(name: str) -> tuple[Free | Course, ...]:
    """Maps of one test window at three times, and statistics of all windows."""
    maps = (
        Free(
            title=f"{name}: {word}" if word == "before" else word,
            name=f"{name}: {word}",
            y="query position",
            of=partial(_attention, name=name, share=share),
            picture=_map,
            ticks={},
            names="",
        )
        for word, share in MOMENTS.items()
    )
    course = Course(
        title=f"all test windows, η = {NEEDS[name].overrides['learning_rate']:g}",
        name=name,
        y="share",
        ylim=(0, None),
        lines=tuple(
            Line(label, statistic, run=name, kind=kind)
            for label, (kind, statistic) in COURSE.items()
        ),
        names="",
    )
    return *maps, course


def _finish(figure: Figure, grid: np.ndarray, t: Tables) -> None:
    """A scale of colours for each row, and one legend above curves."""
    for row in grid:
        figures.field_bar(figure, row[2].collections[0], row[:3].tolist(), "attention")
    grid[0, 3].set_ylim(top=1.35 * grid[0, 3].get_ylim()[1])
    grid[0, 3].legend(loc="upper right")


def values(t: Tables) -> Numbers:
    """Entropies of all layers at three times, drifts and shares, mean over seeds."""
    return {name: _numbers(run) for name, run in t.runs.items()}


def _numbers(run: xr.Dataset) -> dict[str, float]:
    drifts = drift(run).mean(SEED)
    frequent = on_frequent(run)[:, -1].mean()
    return {
        f"entropy, layer {layer}, {word}": float(
            entropy(run, layer)[:, _moment(run, share)].mean()
        )
        for layer in map(str, run["layer"].values)
        for word, share in MOMENTS.items()
    } | {
        "largest drift": float(drifts.max()),
        "last drift": float(drifts[-1]),
        "attention to frequent words, after / before": float(frequent),
    }


FREEZES = (
    "{name}: attention of the first layer freezes: its maps end moving by less than "
    "0.1 from record to record"
)


def _becomes_sparse(name: str) -> Callable[[Tables], bool]:
    """Whether the first layer's attention ends sparser than it began."""
    return lambda t: bool(np.diff(entropy(t.runs[name]).mean(SEED)[[0, -1]])[0] < -0.1)


def _freezes(name: str) -> Callable[[Tables], xr.DataArray]:
    return lambda t: drift(t.runs[name]).isel({TIME: -1}) < 0.1


def _first_is_sparsest(t: Tables) -> bool:
    deep = t.runs[text_runs.OF_THREE]
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
    needs=NEEDS,
    shows=Panels(
        tuple(panel for name in NEEDS for panel in _row(name)),
        columns=4,
        size=(15.6, 11.1),
        finish=_finish,
    ),
    values=values,
    stated={
        "Caption of Figure 7": {
            f"{name}: attention becomes sparse over training": _becomes_sparse(name)
            for name in text_runs.COURSES
        },
        "Section 8": {
            FREEZES.format(name=name): _freezes(name) for name in text_runs.COURSES
        },
    },
    checks={
        **{
            f"{name}: attention becomes sparse": _becomes_sparse(name)
            for name in text_runs.LONG
        },
        "of three layers the first is the sparsest, by 0.1 nats or more": (
            _first_is_sparsest
        ),
    },
    differs={
        FREEZES.format(
            name=name
        ): "maps keep moving: 0.6 to 0.7 of all attention moves in the last 150 steps"
        for name in text_runs.COURSES
    },
    silent=SILENT,
)
