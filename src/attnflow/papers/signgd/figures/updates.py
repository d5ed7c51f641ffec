"""Figure 17: one neuron, gradients and updates under Adam without momentum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures, schema
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.betas import SETTING_SILENT
from attnflow.papers.signgd.figures.runs import (
    BETAS2,
    PRECISION_SILENT,
    SEEDS_SILENT,
    adam,
)
from attnflow.papers.signgd.figures.statistics import turned_by_end
from attnflow.schema.declarations import Evidence, Exhibit, Request, Sentences
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FADED = 0.1
"""A mean update below this fraction of the learning rate counts as halted."""
GRADIENTS = {"query": "log_mean_query_gradient", "key": "log_mean_key_gradient"}
WITHOUT_MOMENTUM = {f"β2 = {b2:g}": adam(0.0, b2) for b2 in BETAS2}


def draw_full(evidence: Evidence) -> Figure:
    """Draw one neuron, mean |gradient| and mean |update|, by β2."""
    runs = list(WITHOUT_MOMENTUM)
    across = len(runs)
    titles = [f"{run}: one neuron" for run in runs]
    titles += ["Mean |gradient|"] * across + ["Mean |update|"] * across
    figure, grid = figures.panels(3, across, titles=titles, size=(4.4 * across, 11.0))
    for column, run in enumerate(runs):
        panels.one_neuron(grid[0, column], evidence[run])
        _gradients(grid[1, column], evidence[run])
        _updates(grid[2, column], evidence, run)
        for ax in grid[:, column]:
            figures.time_axis(ax, evidence[run], label=panels.STEP)
            figures.label_ends(ax)
        _swamped(grid[1:, column], swamped_at(evidence[run]))
    return figure


def swamped_at(run: xr.Dataset) -> float | None:
    """The step from which ε outweighs half of some matrix's gradients, in seed 0."""
    step = run["epsilon_step"].values[0] if "epsilon_step" in run else np.nan
    return float(step) if np.isfinite(step) else None


def _swamped(axes: np.ndarray, step: float | None) -> None:
    if step is None:
        return
    theme = figures.current_theme()
    for ax in axes:
        ax.axvline(step, color=theme.muted, lw=0.9, ls=(0, (1, 2)), zorder=1)
    axes[0].annotate(
        "ε outweighs\nmost gradients",
        (step, 1.0),
        xycoords=axes[0].get_xaxis_transform(),
        va="top",
        size="small",
        color=theme.muted,
        xytext=(4, -2),
        textcoords="offset points",
    )


def _gradients(ax: Axes, run: xr.Dataset) -> None:
    for side, observable in GRADIENTS.items():
        gradients = run.assign(size=10 ** run[observable])
        kind = "match" if side == "key" else "mismatch"
        figures.series(ax, gradients, "size", label=side, kind=kind)
    ax.set(yscale="log", ylabel="mean |gradient|")
    figures.number_axis(ax, "y")


def _updates(ax: Axes, evidence: Evidence, run: str) -> None:
    for side, curve in updates_of(evidence, run).items():
        colour = figures.current_theme().colour(
            "match" if side == "key" else "mismatch"
        )
        ax.plot(curve["step"], curve, color=colour, label=side)
    figures.reference(ax, 1.0, "SignGD")
    ax.set(ylim=(0, 2.1), ylabel="mean |update| / η")


def updates_of(evidence: Evidence, run: str) -> dict[str, xr.DataArray]:
    """Mean |update| of key and query weights along steps, first seed."""
    table = evidence["updates"]["mean_update"].isel(seed=0)
    beta2 = schema.setting_of(evidence[run])["beta2"]
    curves = table.sel(beta2=beta2, method="nearest")
    return {side: curves.sel(side=side) for side in ("query", "key")}


def halts(evidence: Evidence, run: str) -> dict[str, float]:
    """The first step from which mean |update| stays below a tenth of the learning rate.

    The last step of the table, where it never does.
    """
    steps = {}
    for side, curve in updates_of(evidence, run).items():
        moving = np.flatnonzero(curve.values >= FADED)
        index = min(moving[-1] + 1 if len(moving) else 0, len(curve) - 1)
        steps[side] = float(curve["step"][index])
    return steps


def full_values(evidence: Evidence) -> dict[str, dict[str, float]]:
    """Fractions of outvoted noise that turned, and when updates and gradients fade."""
    statistics = {}
    for name in WITHOUT_MOMENTUM:
        run = evidence[name]
        statistics[name] = {
            f"outvoted {side} that turned, seed 0": float(
                turned_by_end(run, observable)[0]
            )
            for observable, (side, _) in panels.SIDES.items()
        }
        statistics[name] |= {
            f"mean |update| of {side} weights below 0.1 η from": step
            for side, step in halts(evidence, name).items()
        }
        step = swamped_at(run)
        statistics[name] |= (
            {} if step is None else {"ε outweighs most gradients from": step}
        )
        statistics[name] |= {
            f"log10 mean |gradient| of {side} weights at the end": float(
                schema.last(run, observable)[0]
            )
            for side, observable in GRADIENTS.items()
        }
    return statistics


PREVENTED = (
    "only small β2 prevent outvoted queries from turning: more turn with larger β2"
)


def turned(evidence: Evidence) -> np.ndarray:
    """Shares of outvoted queries that turn, by β2."""
    shares = (turned_by_end(evidence[n], "query_neuron") for n in WITHOUT_MOMENTUM)
    return np.array([float(share[0]) for share in shares])


def full_stated(evidence: Evidence) -> dict[str, Sentences]:
    """Statements of the paper on Figure 17."""
    fading = [halts(evidence, run)["query"] for run in WITHOUT_MOMENTUM]
    sentences = {
        PREVENTED: bool((np.diff(turned(evidence)) > 0).all()),
        "the larger β2 is, the earlier updates of query weights fade, or at the same "
        "step of the table": bool(
            (np.diff(fading) <= 0).all() and fading[-1] < fading[0]
        ),
    }
    return {"Appendix B.7": sentences}


def full_checks(evidence: Evidence) -> dict[str, bool]:
    """Sentences of our own on Figure 17."""
    runs = list(WITHOUT_MOMENTUM)
    steps = [halts(evidence, run) for run in runs]
    queries = [step["query"] for step in steps]
    last = schema.last(evidence[runs[0]], GRADIENTS["query"])
    return {
        "updates of query weights fade, and before those of key weights": all(
            step["query"] < step["key"] for step in steps
        ),
        "with β2 = 0.99 and 0.999 they fade earlier than with 0.9 and 0.95": (
            max(queries[2:]) < min(queries[:2])
        ),
        "fewer outvoted queries turn with every larger β2": bool(
            np.all(np.diff(turned(evidence)) < 0)
        ),
        "for β2 = 0.9 the mean |gradient| of query weights ends below ε = 1e-15": bool(
            (last < -15).all()
        ),
    }


FIGURE17 = Exhibit(
    id="figure17",
    kind="figure",
    title="Figure 17: Adam without momentum, by β2",
    caption=(
        "Setting (a), d = 2000, β1 = 0, learning rate 1e-4, ε = 1e-15, seed 0. Means "
        "are over the weights with data; updates are in units of the learning rate. "
        "Claimed: only small β2 allow outvoted queries to turn (printed: prevent), and "
        "updates of query weights fade before gradients are zero, earlier with larger "
        "β2. Both are reproduced. But for β2 = 0.9 and 0.95 updates end where ε "
        "outweighs the gradients of half of the query weights (dotted): the mean "
        "gradient does not show this, since it is dominated by the signal's coordinate."
    ),
    needs={
        **WITHOUT_MOMENTUM,
        "updates": Request("updates", seeds=1, quick={"every": 100}),
    },
    draw=draw_full,
    values=full_values,
    stated=full_stated,
    checks=full_checks,
    differs={
        PREVENTED: "the contrary: fewer turn with every larger β2, as the paper's next "
        "sentence has it"
    },
    silent=(SEEDS_SILENT, PRECISION_SILENT, SETTING_SILENT),
)
