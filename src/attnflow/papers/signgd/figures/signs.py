"""Our figure on precision: gradient signs by autodiff and exact, along a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.runs import PRECISION_SILENT, SEEDS_SILENT
from attnflow.schema.declarations import Evidence, Exhibit, Request
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = {"float32": ("common", 0), "float64": ("noise", 0), "exact": ("easy", 0)}
NAMES = {
    "float32": "autodiff, float32",
    "float64": "autodiff, float64",
    "exact": "exact signs",
}
SIDES = {"query": "Query weights", "key": "Key weights"}
LEAST = 1e-4
"""Shares below this are on a linear scale, which includes 0."""
QUICK = {"at_steps": (0, 100, 300, 400, 500, 650, 800, 1000, 1300, 1600, 2000)}


def draw(evidence: Evidence) -> Figure:
    """Draw the shares of wrong and zero signs of query and key weights."""
    titles = [f"{name}: wrong signs" for name in SIDES.values()]
    titles += [f"{name}: signs lost to zero" for name in SIDES.values()]
    figure, grid = figures.panels(2, 2, titles=titles, size=(12.4, 7.6))
    for row, kind in zip(grid, ("wrong", "zero"), strict=True):
        for ax, side in zip(row, SIDES, strict=True):
            _shares(ax, evidence["signs"][kind].sel(side=side))
            figures.label_ends(ax)
    return figure


def _shares(ax: Axes, table: xr.DataArray) -> None:
    """Plot medians over seeds, with their range."""
    theme = figures.current_theme()
    for precision, (kind, shade) in STYLES.items():
        shares = table.sel(precision=precision)
        colour, steps = theme.colour(kind, shade), shares["step"].values
        low, high = shares.min("seed").values, shares.max("seed").values
        ax.fill_between(steps, low, high, color=colour, alpha=0.18, lw=0)
        ax.plot(steps, shares.median("seed"), color=colour, label=NAMES[precision])
    ax.set_yscale("asinh", linear_width=LEAST)
    ticks = (0.0, 1e-3, 1e-2, 0.1, 1.0)
    ax.set_yticks(ticks, [figures.number(tick) for tick in ticks])
    ax.yaxis.minorticks_off()
    ax.set(ylim=(-LEAST, 1.3), xlim=(0, float(table["step"].max())))
    ax.set(xlabel=panels.STEP, ylabel="share of signs")
    figures.number_axis(ax, "x")


def first_lost(table: xr.DataArray, share: float = 1e-3) -> float | None:
    """The first step at which the median over seeds exceeds `share`."""
    lost = np.flatnonzero(table.median("seed").values > share)
    return float(table["step"][lost[0]]) if len(lost) else None


def values(evidence: Evidence) -> dict[str, dict[str, float]]:
    """The largest shares of wrong and zero signs, and when they first exceed 0.1%."""
    statistics: dict[str, dict[str, float]] = {}
    for precision, name in NAMES.items():
        for side in SIDES:
            tables = {
                kind: evidence["signs"][kind].sel(precision=precision, side=side)
                for kind in ("wrong", "zero")
            }
            statistics[f"{name}, {side} weights"] = {
                f"largest share of {kind}": float(table.max())
                for kind, table in tables.items()
            }
            first = {kind: first_lost(table) for kind, table in tables.items()}
            statistics[f"{name}, {side} weights"] |= {
                f"0.1% {kind} from": step
                for kind, step in first.items()
                if step is not None
            }
    return statistics


def checks(evidence: Evidence) -> dict[str, bool]:
    """Which precision loses signs, and when."""
    run = evidence["signs"]
    largest = {
        (precision, side): {
            kind: float(run[kind].sel(precision=precision, side=side).max())
            for kind in ("wrong", "zero")
        }
        for precision in STYLES
        for side in SIDES
    }
    queries = run["wrong"].sel(side="query")
    starts = {p: first_lost(queries.sel(precision=p)) for p in ("float32", "float64")}
    return {
        "exact signs are never zero, and fewer than 1 in 10 000 lie within rounding of "
        "a tie": all(
            largest["exact", side]["zero"] == 0.0
            and largest["exact", side]["wrong"] < 1e-4
            for side in SIDES
        ),
        "autodiff loses more than 1% of query signs to cancellation, in both "
        "precisions": all(
            largest[precision, "query"]["wrong"] > 0.01 for precision in starts
        ),
        "in float32 before float64": (
            starts["float32"] is not None
            and starts["float64"] is not None
            and starts["float32"] < starts["float64"]
        ),
        "in float32 nearly all signs of queries and keys end as zeros, in float64 "
        "those of keys": all(
            largest[which]["zero"] > 0.99
            for which in (("float32", "query"), ("float32", "key"), ("float64", "key"))
        ),
    }


SIGNS = Exhibit(
    id="signs",
    kind="figure",
    title="Signs that autodiff loses",
    caption=(
        "SignGD in setting (a), d = 2000, trained with exact signs; at each step "
        "shown, autodiff of the plain model in float32 and float64 is applied to the "
        "same weights. The softmax's backward pass subtracts numbers that agree to all "
        "digits once s21 is below the unit roundoff: from then on about one per cent "
        "of the query signs is wrong, long before gradients underflow to zero, as they "
        "do later. Exact signs come from gradients that carry their logarithm; for "
        "them, wrong is the share within rounding of a tie, an upper bound. Two seeds "
        "(bands: range)."
    ),
    needs={"signs": Request("naive-signs", seeds=2, quick=QUICK, quick_seeds=1)},
    draw=draw,
    values=values,
    checks=checks,
    silent=(SEEDS_SILENT, PRECISION_SILENT),
)
