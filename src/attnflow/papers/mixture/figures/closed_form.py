"""Closed form of stage 1 against gradient flow and simultaneous training."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.mixture import formulas
from attnflow.papers.mixture.figures.panels import ALIGNMENT
from attnflow.papers.mixture.figures.runs import INFINITE, Numbers
from attnflow.papers.mixture.stages import stage_table
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOKENS = (("v1", "class"), ("c1", "group"))


def _closed(run: xr.Dataset) -> dict[str, np.ndarray]:
    """The closed form of w₊ᵀv and w₊ᵀc at the times of a run."""
    setting = schema.setting_of(run)
    unit = setting.get("learning_rate", 1.0)
    v, c = formulas.stage_one(run["time"].values * unit, setting["bias"])
    return {"v1": v, "c1": c}


def _error(run: xr.Dataset, upto: float = np.inf) -> float:
    """Largest difference between a run and the closed form up to a time."""
    early = run["time"].values <= upto
    alignments = run["value"].isel(seed=0).sel(head="+")
    return max(
        float(np.abs(alignments.sel(token=token).values - closed)[early].max())
        for token, closed in _closed(run).items()
    )


def _onset(run: xr.Dataset) -> float:
    """When the main score reaches 0.1."""
    rows = {row.name: row.detected for row in stage_table(run)}
    onset = rows["t_onset"]
    return float(run["time"].max()) if onset is None else onset


def draw(evidence: Evidence) -> Figure:
    """Alignments and their closed form: stage 1 alone, and simultaneous training."""
    titles = ("Stage 1 by gradient flow", "All weights together, infinite width")
    figure, grid = figures.panels(1, 2, titles=titles, size=(10.4, 4.1))
    alone, together = evidence["alone"], evidence["together"]
    for ax, run in zip(grid[0], (alone, together), strict=True):
        _compare(ax, run)
        figures.time_axis(ax, run)
        ax.set_ylabel(ALIGNMENT)
        figures.number_axis(ax, "y")
    edges, _ = figures.stage_boundaries(alone)
    figures.shade_stages(grid[0, 0], edges, ["all active", "one ReLU off"])
    names = ["uniform attention", "attention has moved"]
    figures.shade_stages(grid[0, 1], [_onset(together)], names)
    for ax in grid[0]:
        figures.label_ends(ax)
    return figure


def _compare(ax: Axes, run: xr.Dataset) -> None:
    for token, kind in TOKENS:
        figures.series(ax, run, f"value[+,{token}]", kind=kind, label=token)
    for closed in _closed(run).values():
        figures.theory(ax, run["time"].values, closed).set_linewidth(1.4)


def values(evidence: Evidence) -> Numbers:
    """T_half, alignments at T1, and differences between run and closed form."""
    alone, together = evidence["alone"], evidence["together"]
    rows = {row.name: row for row in stage_table(alone)}
    last = _closed(alone)
    return {
        "T_half": {
            "measured": rows["T_half"].detected,
            "closed form": rows["T_half"].formula,
        },
        "alignment at T1": {token: float(last[token][-1]) for token, _ in TOKENS},
        "largest difference": {
            "stage 1 alone": _error(alone),
            "all weights, until the score is 0.1": _error(together, _onset(together)),
            "all weights, to the end": _error(together),
        },
    }


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether the closed form is exact in stage 1, and until when it holds."""
    alone, together = evidence["alone"], evidence["together"]
    until = _error(together, _onset(together))
    return {
        "flow and closed form agree to 1e-10 in stage 1": _error(alone) < 1e-10,
        "with all weights trained they agree to 0.1 until attention moves": until < 0.1,
        "and no longer once it has": _error(together) > 0.2,
    }


STAGE1 = Exhibit(
    id="stage1-closed-form",
    kind="figure",
    title="Stage 1 in closed form",
    caption=(
        "Alignments of the positive head's neuron (coloured) and their closed form "
        "(dashed). Until T_half = b + (e^{2b} − 1)/2 all ReLUs are active and only "
        "class tokens are learned; afterwards u = w_c + 2 w_v + b obeys "
        "u' = (5/8)/(1 + e^u), which the Wright omega function solves. Right: "
        "the same curve for simultaneous training, where it holds until attention "
        "moves."
    ),
    needs={
        "alone": Request("stage1", {"record": ("value",)}, seeds=1),
        "together": INFINITE,
    },
    draw=draw,
    values=values,
    checks=checks,
    silent=(
        "T1 is only said to be of order 1: we use 10.",
        "The paper gives derivatives and orders of magnitude; the closed form is ours.",
    ),
)
