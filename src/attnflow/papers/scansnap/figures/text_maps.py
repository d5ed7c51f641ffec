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
from attnflow.papers.scansnap.text_runs import (
    MOMENTS,
    drift,
    entropy,
    late_drift,
    maps_of,
    moment,
    on_frequent,
)
from attnflow.schema.declarations import Evidence, Exhibit, Numbers
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEEDS = {**text_runs.COURSES, **text_runs.LONG}
RATES = {
    **dict.fromkeys(text_runs.COURSES, "η = 5, ReLU layer 10"),
    **dict.fromkeys(text_runs.LONG, "η = 2"),
}
WORDS = dict(zip(("before", "a third", "two thirds", "after"), MOMENTS, strict=True))
"""Shares of training at which maps are drawn, by name."""
COURSE = {
    "entropy / uniform entropy": ("signal", text_runs.share_of_uniform),
    "on frequent words / initial": ("common", on_frequent),
    "drift since the last record": ("noise", drift),
}
"""Statistics along training, each a share: its kind (colour) and its function."""


def _attention(evidence: Evidence, name: str, share: float) -> xr.DataArray:
    """The map of the first window, seed, head and layer."""
    maps = maps_of(evidence[name])
    first = {SEED: 0, "test_sample": 0, "shown_sample": 0, "head": 0}
    first = {dim: index for dim, index in first.items() if dim in maps.dims}
    now = maps.isel({**first, TIME: moment(evidence[name], share)})
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
    """Maps of one window at four times, and statistics of all windows."""
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
        for word, share in WORDS.items()
    )
    course = Course(
        title=f"all windows, {RATES[name]}",
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
        figures.field_bar(figure, row[3].collections[0], row[:4].tolist(), "attention")
    grid[0, 4].set_ylim(top=1.35 * grid[0, 4].get_ylim()[1])
    grid[0, 4].legend(loc="upper right")


def values(t: Tables) -> Numbers:
    """Entropies of all layers at four times, drifts and shares, mean over seeds."""
    return {name: _numbers(run) for name, run in t.runs.items()}


def _numbers(run: xr.Dataset) -> dict[str, float]:
    drifts = drift(run).mean(SEED)
    frequent = on_frequent(run)[:, -1].mean()
    return {
        f"entropy, layer {layer}, {word}": float(
            entropy(run, layer)[:, moment(run, share)].mean()
        )
        for layer in map(str, run["layer"].values)
        for word, share in WORDS.items()
    } | {
        "largest drift": float(drifts.max()),
        "last drift": float(drifts[-1]),
        "drift over the last third": float(late_drift(run).mean()),
        "attention to frequent words, after / before": float(frequent),
    }


FREEZES = (
    "{name}: attention of the first layer freezes: its maps move by less than 0.1 from "
    "step 1000 to step 1500"
)


def _becomes_sparse(name: str) -> Callable[[Tables], bool]:
    """Whether the first layer's attention ends sparser than it began."""
    return lambda t: bool(np.diff(entropy(t.runs[name]).mean(SEED)[[0, -1]])[0] < -0.1)


def _freezes(name: str) -> Callable[[Tables], xr.DataArray]:
    return lambda t: late_drift(t.runs[name]) < 0.1


def _first_is_sparsest(t: Tables) -> bool:
    deep = t.runs[text_runs.OF_THREE]
    ends = [float(entropy(deep, str(k))[:, -1].mean()) for k in deep["layer"].values]
    return bool(ends[0] < min(ends[1:]) - 0.1)


FIGURE7 = Exhibit(
    id="figure7",
    kind="figure",
    title="Figure 7: attention on WikiText-2 along training",
    caption=(
        "Attention maps on WikiText-2 over training: PyTorch's encoder with the "
        "rates, dropout and steps of the authors' notebook, the first of one layer "
        "and of three, on a training window at steps 0, 500, 1000 and 1500 of one "
        "seed; and below, the theory's own parametrisation at rate 2 on a test "
        "window, for 4800 steps. Right, median and range over seeds: entropy, and "
        "attention to the 20 most frequent words, averaged over 40 test windows; and "
        "how far maps move from one record to the next, in total variation. Claimed: "
        "attention becomes sparse, and then freezes though the rate is constant. It "
        "does become sparse; the encoder's maps keep moving; in the theory's own "
        "parametrisation maps slow down, and frequent words gain attention."
    ),
    needs=NEEDS,
    shows=Panels(
        tuple(panel for name in NEEDS for panel in _row(name)),
        columns=5,
        size=(18.6, 11.1),
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
        ): "maps keep moving on the split valid, which 1500 steps read five times; the "
        "notebook's 1500 steps are half an epoch of train"
        for name in text_runs.COURSES
    },
    silent=SILENT,
)
