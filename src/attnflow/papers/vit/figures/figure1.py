"""Figure 1: test loss over SNR and N, and the same cut at 0.2."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits import Map, Panels, Tables
from attnflow.papers.vit import boundary as b
from attnflow.papers.vit._types import Values
from attnflow.papers.vit.figures import phase_map as panel
from attnflow.papers.vit.figures.runs import LITERAL, MAP_SILENT, phase_map
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (13.4, 5.4)
NEEDS = {"map": phase_map(), "fixed": phase_map(LITERAL)}
TITLES = {"map": "$w_O$ trained with the rest", "fixed": "$w_O$ fixed at its start"}


def _losses(evidence: Evidence, name: str) -> xr.DataArray:
    return b.losses(evidence[name])


def _finish_cut(ax: Axes, table: xr.DataArray) -> None:
    panel.cross_wrong_cells(ax, table)
    for corner, text, side in (
        ((0.03, 0.04), f"harmful: test loss above {b.CUT:g}", "left"),
        ((0.97, 0.94), f"benign: below {b.CUT:g}", "right"),
    ):
        ink = figures.current_theme().ink
        ax.text(*corner, text, transform=ax.transAxes, ha=side, color=ink)


def _maps(panel_of: partial[Map]) -> tuple[Map, Map]:
    """The maps of both readings of w_O, curves named above the first."""
    trained, fixed = (
        partial(panel_of, name=name, title=title, of=partial(_losses, name=name))
        for name, title in TITLES.items()
    )
    # Above the title.
    legend = {**panel.LEGEND, "bbox_to_anchor": (-0.01, 1.07)}
    return trained(names=legend), fixed(names="")


_trained, _fixed = _maps(panel.loss_map)
LOSSES = (
    replace(_trained, level=replace(panel.CUT, seeds=True)),
    replace(_fixed, bar=panel.BAR),
)
_trained, _fixed = _maps(
    partial(
        panel.loss_map,
        shown=lambda table: panel.SOFT * b.above(table).astype(float),
        limits=(0.0, 1.0),
    )
)
ABOVE = (
    replace(_trained, finish=_finish_cut),
    replace(_fixed, finish=panel.cross_wrong_cells),
)


def loss_values(table: Tables) -> Values:
    """Test losses at the corners of the map, the boundary's power law, and steps."""
    mean, ends = b.mean(table["map"]), {"least": 0, "largest": -1}
    return {
        "test loss": {
            f"{n} N, {s} SNR": float(mean[ends[n], ends[s]]) for n in ends for s in ends
        },
        "boundary": b.law(table["map"]),
        "steps of a cell": b.steps(table.runs["map"]),
        "least mean test loss, w_O fixed": float(b.mean(table["fixed"]).min()),
    }


def cut_values(table: Tables) -> Values:
    """Power law of the boundary, and N · SNR² along it, over N and seeds."""
    losses = table["map"]
    every = losses["samples"].values * b.fit(losses).by_seed ** 2
    return {
        **b.law(losses),
        "N·SNR² along the boundary": b.along(losses),
        "N·SNR² of single seeds": {
            f"{share}%": float(np.nanpercentile(every, share)) for share in (5, 50, 95)
        },
    }


def trend(row: np.ndarray) -> float:
    """Kendall's τ of a row with its order: −1 where it falls at every step."""
    later = np.sign(row[None, :] - row[:, None])
    return float(later[np.triu_indices(len(row), k=1)].mean())


def _trends_with_samples(table: Tables) -> np.ndarray:
    """Trends with N, at every SNR from a quarter of the largest.

    At the smallest SNRs of the map the signal is not learned at any N.
    """
    mean = b.mean(table["map"])
    some = mean.isel(snr=(mean["snr"] >= mean["snr"][-1] / 4).values)
    return np.array([trend(row) for row in some.values.T])


def _along(table: Tables) -> np.ndarray:
    return np.array([*b.along(table["map"]).values()])


_SIZES = (
    "M = 16, d = 1024, d_h = d_v = 512, σ_p = 0.2, σ̃_p = 4, η = 0.1, ε = 0.01, 100 "
    "test points, ten seeds"
)
FIGURE1A = Exhibit(
    id="figure1a",
    kind="figure",
    title="Figure 1a: test loss over SNR and number of samples",
    caption=(
        "Mean test loss over SNR and N when the training loss is ε; "
        f"{_SIZES}. Dashed: the paper's "
        "curve. Blue: where the mean test loss is 0.2 (dots), a power law through the "
        "dots, and the same crossing in each seed (thin). The fitted law is steeper "
        "than the curve: with random labels and small N, one class may have few "
        "samples (figure `readings`). Left: w_O starts at PyTorch's default over 16 "
        "and is trained with the other weights. Right: it stays fixed there, as in "
        "the theory (twelve cells, two seeds); no cell is below 0.2."
    ),
    needs=NEEDS,
    shows=Panels(LOSSES, size=SIZE),
    values=loss_values,
    stated={
        "Section 6, on Figure 1a": {
            "for every N the test loss tends to fall with SNR (Kendall's τ below "
            "−0.8)": lambda t: [trend(row) < -0.8 for row in b.mean(t["map"]).values],
            "for every SNR from a quarter of the largest on, it tends to fall with N "
            "(likewise)": lambda t: _trends_with_samples(t) < -0.8,
        }
    },
    checks={
        "the test loss goes from nearly that of a guess (0.6 or more) to below 0.1": (
            lambda t: (b.mean(t["map"])[0, 0] > 0.6) & (b.mean(t["map"])[-1, -1] < 0.1)
        )
    },
    printed={"boundary": b.PRINTED},
    tolerance=b.TOLERANCE,
    silent=MAP_SILENT,
)
FIGURE1B = Exhibit(
    id="figure1b",
    kind="figure",
    title="Figure 1b: the test loss cut at 0.2",
    caption=(
        f"Cells whose mean test loss is above 0.2 (red); {_SIZES}. Crosses: cells on "
        "the wrong side of the paper's curve. Blue: crossings of 0.2 by interpolation, "
        "and a power law fitted to them; intervals are over resampled seeds, since "
        "cells of one seed share their random numbers. Left: w_O is trained with the "
        "other weights; right: it is fixed at PyTorch's default over 16 (twelve cells, "
        "two seeds)."
    ),
    needs=NEEDS,
    shows=Panels(ABOVE, size=(SIZE[0] - 0.6, SIZE[1])),
    values=cut_values,
    stated={
        "Section 6, on Figure 1b": {
            "N·SNR² = 1000 almost follows the line between losses above and below 0.2: "
            "95 of 100 cells or more are on their side": lambda t: (
                b.agreeing(t["map"]) >= 0.95
            )
        }
    },
    checks={
        "the exponent of SNR in N is neither 0 nor −1, by its interval": lambda t: (
            b.fit(t["map"]).exponent_interval[0] > -1
            and b.fit(t["map"]).exponent_interval[1] < 0
        ),
        "N·SNR² along the boundary is within 0.7 to 1.4 times 1000 at every N": (
            lambda t: (
                (len(_along(t)) >= 3)
                & (_along(t) > 0.7 * b.CURVE)
                & (_along(t) < 1.4 * b.CURVE)
            )
        ),
    },
    printed=b.PRINTED,
    tolerance=b.TOLERANCE,
    silent=MAP_SILENT,
)
