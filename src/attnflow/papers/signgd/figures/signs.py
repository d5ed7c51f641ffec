"""Our figure on precision: gradient signs by autodiff and exact, along a run."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.figures.exhibits import Course, Line, Panels, Series, Tables
from attnflow.papers.signgd.figures import panels, runs
from attnflow.schema.declarations import Exhibit, Request
from attnflow.schema.dims import SEED, TIME
from attnflow.schema.installation import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PRECISIONS = {
    "float32": ("autodiff, float32", "common"),
    "float64": ("autodiff, float64", "noise"),
    "exact": ("exact signs", "easy"),
}
"""By precision: its name and the kind that gives its colour."""
SIDES = ("query", "key")
LOSSES = {"wrong": "wrong signs", "zero": "signs lost to zero"}
LEAST = 1e-4
"""Shares below this are on a linear scale, which includes 0."""
QUICK = {"at_steps": (0, 100, 300, 400, 500, 650, 800, 1000, 1300, 1600, 2000)}


def _share(run: xr.Dataset, loss: str, side: str, precision: str) -> xr.DataArray:
    return run[loss].sel(side=side, precision=precision).rename(step=TIME)


def _shares(loss: str, side: str) -> Course:
    """Shares of signs that are lost, medians over seeds with their range."""
    lines = (
        Line(
            precision,
            partial(_share, loss=loss, side=side, precision=precision),
            run="signs",
            label=name,
            kind=kind,
        )
        for precision, (name, kind) in PRECISIONS.items()
    )
    return Course(
        title=f"{side.capitalize()} weights: {LOSSES[loss]}",
        name=f"{loss}, {side}",
        x=panels.STEP,
        y="share of signs",
        lines=tuple(lines),
        finish=_share_axis,
    )


def _share_axis(ax: Axes, table: Series) -> None:
    ticks = (0.0, 1e-3, 1e-2, 0.1, 1.0)
    ax.set_yscale("asinh", linear_width=LEAST)
    ax.set_yticks(ticks, [figures.number(tick) for tick in ticks])
    ax.yaxis.minorticks_off()
    ax.set_ylim(-LEAST, 1.3)


def first_lost(shares: xr.DataArray, share: float = 1e-3) -> float | None:
    """The first step at which the median over seeds exceeds `share`."""
    lost = np.flatnonzero(shares.median(SEED).values > share)
    return float(shares[TIME][lost[0]]) if len(lost) else None


def values(table: Tables) -> dict[str, dict[str, float]]:
    """The largest shares of wrong and zero signs, and when they first exceed 0.1%."""
    statistics: dict[str, dict[str, float]] = {}
    for precision, (name, _) in PRECISIONS.items():
        for side in SIDES:
            shares = {loss: table[f"{loss}, {side}"][precision] for loss in LOSSES}
            first = {loss: first_lost(rows) for loss, rows in shares.items()}
            statistics[f"{name}, {side} weights"] = {
                f"largest share of {loss}": float(rows.max())
                for loss, rows in shares.items()
            } | {
                f"0.1% {loss} from": step
                for loss, step in first.items()
                if step is not None
            }
    return statistics


def _before(table: Tables) -> bool:
    """Whether float32 loses query signs before float64 does, and both do."""
    queries = table["wrong, query"]
    steps = [first_lost(queries[precision]) for precision in ("float32", "float64")]
    single, double = (np.nan if step is None else step for step in steps)
    return single < double


SIGNS = Exhibit(
    id="signs",
    kind="figure",
    title="Signs that autodiff loses",
    caption=(
        "Shares of wrong and of zero gradient signs over training: SignGD in setting "
        "(a), d = 2000, is trained with exact signs; at each step shown, autograd of "
        "the plain model in float32 and float64 is applied to the same weights. The "
        "softmax's backward pass subtracts numbers that agree to all digits once s21 "
        "is below the unit roundoff: from then on about one per cent of the query "
        "signs are wrong, long before gradients underflow to zero. Exact signs come "
        "from gradients that carry their logarithm; for them, wrong is the share "
        "within rounding of a tie, an upper bound. Two seeds (bands: range)."
    ),
    needs={"signs": Request("naive-signs", seeds=2, quick=QUICK, quick_seeds=1)},
    shows=Panels(
        tuple(_shares(loss, side) for loss in LOSSES for side in SIDES),
        columns=2,
        size=(12.4, 7.6),
    ),
    values=values,
    checks={
        "exact signs are never zero, and fewer than 1 in 10 000 lie within rounding of "
        "a tie": lambda t: [
            t[f"zero, {side}"]["exact"].max() == 0.0
            and t[f"wrong, {side}"]["exact"].max() < 1e-4
            for side in SIDES
        ],
        "autodiff loses more than 1% of query signs to cancellation, in both "
        "precisions": lambda t: [
            t["wrong, query"][precision].max() > 0.01
            for precision in ("float32", "float64")
        ],
        "in float32 this happens earlier than in float64": _before,
        "in float32 nearly all signs of queries and keys end as zeros, in float64 "
        "those of keys": lambda t: [
            t["zero, query"]["float32"].max() > 0.99,
            *(
                t["zero, key"][precision].max() > 0.99
                for precision in PRECISIONS
                if precision != "exact"
            ),
        ],
    },
    silent=runs.SILENT,
)
