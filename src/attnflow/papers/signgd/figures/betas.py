"""Figures 16 and 17: Adam with other memories."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import figures, schema
from attnflow.paper import Evidence, Exhibit, Request
from attnflow.papers.signgd.figures import panels
from attnflow.papers.signgd.figures.readings import Law, late_laws, turned_by_end
from attnflow.papers.signgd.figures.runs import (
    BETAS1,
    BETAS2,
    PRECISION_SILENT,
    SEEDS_SILENT,
    adam,
    signgd,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FADED = 0.1
"""A mean update below this share of the learning rate counts as halted."""
GRADIENTS = {"query": "log_mean_query_gradient", "key": "log_mean_key_gradient"}
SETTING_SILENT = "The setting of Figures 16 and 17 is not stated. We take (a)."


def name(beta1: float, beta2: float) -> str:
    """The name of a run among the evidence."""
    return f"β1 = {beta1:g}, β2 = {beta2:g}"


SWEEP = {name(b1, b2): adam(b1, b2) for b1 in sorted(BETAS1) for b2 in BETAS2}
WITHOUT_MOMENTUM = {f"β2 = {b2:g}": adam(0.0, b2) for b2 in BETAS2}


# Figure 16


def draw_losses(evidence: Evidence) -> "Figure":
    """Losses by β2, a panel for each β1; SignGD dashed."""
    titles = [f"β1 = {beta1:g}" for beta1 in sorted(BETAS1)]
    figure, grid = figures.panels(1, len(titles), titles=titles, size=(15.2, 4.4))
    ramp = figures.current_theme().ramp("common", len(BETAS2))
    for ax, beta1 in zip(grid[0], sorted(BETAS1), strict=True):
        for colour, beta2 in zip(ramp, BETAS2, strict=True):
            run = evidence[name(beta1, beta2)]
            label = f"β2 = {beta2:g}"
            figures.series(ax, run, "loss", colour=colour, label=label)
        limit = figures.series(ax, evidence["SignGD"], "loss", role="limit")
        limit.set_label("SignGD")
        ax.set(yscale="log", ylabel="training loss")
        figures.number_axis(ax, "y")
        figures.time_axis(ax, evidence["SignGD"], label=panels.STEP)
        figures.label_ends(ax)
    return figure


def laws(evidence: Evidence) -> dict[str, Law]:
    """Laws of the training loss over the second half, of seed 0."""
    return {run: late_laws(evidence[run])[0] for run in evidence}


def loss_values(evidence: Evidence) -> dict[str, Any]:
    """Losses at the end and their laws."""
    return {
        run: {
            "training loss at the end": float(schema.last(evidence[run], "loss")[0]),
            **law.table(),
        }
        for run, law in laws(evidence).items()
    }


def loss_seen(evidence: Evidence) -> dict[str, bool]:
    """What Figure 16 is said to show, and where it does not."""
    found = laws(evidence)
    end = {run: float(schema.last(evidence[run], "loss")[0]) for run in evidence}
    by_beta1 = {b2: [end[name(b1, b2)] for b1 in BETAS1] for b2 in BETAS2}
    fast, slow = BETAS2[:-1], BETAS2[-1]
    return {
        "the loss ends higher with every larger β2, and above SignGD": all(
            np.all(np.diff([end["SignGD"], *(end[name(b1, b2)] for b2 in BETAS2)]) > 0)
            for b1 in BETAS1
        ),
        "for β2 = 0.999 a power law fits better than an exponential, in this window": (
            all(not found[name(b1, slow)].is_exponential for b1 in BETAS1)
        ),
        "for β2 = 0.9, 0.95 and 0.99 the loss falls exponentially, with a tenth of the "
        "power law's residual: not sublinearly": all(
            found[name(b1, b2)].exponential_rms < found[name(b1, b2)].power_rms / 10
            for b1 in BETAS1
            for b2 in fast
        ),
        "β1 matters little: it changes the loss at the end by less than a factor of "
        "1.5, and β2 by more than 3": (
            all(max(group) < 1.5 * min(group) for group in by_beta1.values())
            and min(by_beta1[slow]) > 3 * max(by_beta1[fast[0]])
        ),
    }


# Figure 17


def draw_full(evidence: Evidence) -> "Figure":
    """By β2: one neuron, mean |gradient|, mean |update|."""
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
    """From when on ε outweighs half of some weight's gradients, in seed 0."""
    step = run["epsilon_step"].values[0] if "epsilon_step" in run else np.nan
    return float(step) if np.isfinite(step) else None


def _swamped(axes: np.ndarray, step: float | None) -> None:
    if step is None:
        return
    theme = figures.current_theme()
    for ax in axes:
        ax.axvline(step, color=theme.muted, lw=0.9, ls=(0, (1, 2)), zorder=1)
    place: dict[str, Any] = {"xytext": (4, -2), "textcoords": "offset points"}
    axes[0].annotate(
        "ε outweighs\nmost gradients",
        (step, 1.0),
        xycoords=axes[0].get_xaxis_transform(),
        va="top",
        size="small",
        color=theme.muted,
        **place,
    )


def _gradients(ax: "Axes", run: xr.Dataset) -> None:
    for side, observable in GRADIENTS.items():
        made = run.assign(size=10 ** run[observable])
        look: dict[str, Any] = {"kind": "match" if side == "key" else "mismatch"}
        figures.series(ax, made, "size", label=side, **look)
    ax.set(yscale="log", ylabel="mean |gradient|")
    figures.number_axis(ax, "y")


def _updates(ax: "Axes", evidence: Evidence, run: str) -> None:
    for side, curve in updates_of(evidence, run).items():
        colour = figures.current_theme().colour(
            "match" if side == "key" else "mismatch"
        )
        ax.plot(curve["step"], curve, color=colour, label=side)
    figures.reference(ax, 1.0, "SignGD")
    ax.set(ylim=(0, 2.1), ylabel="mean |update| / η")


def updates_of(evidence: Evidence, run: str) -> dict[str, xr.DataArray]:
    """Mean |update| of keys and queries over steps, of the first seed."""
    table = evidence["updates"]["mean_update"].isel(seed=0)
    beta2 = schema.setting_of(evidence[run])["beta2"]
    one = table.sel(beta2=beta2, method="nearest")
    return {side: one.sel(side=side) for side in ("query", "key")}


def halts(evidence: Evidence, run: str) -> dict[str, float]:
    """The first step from which mean |update| stays below a tenth of the rate.

    The last one that was looked at, where it never does.
    """
    found = {}
    for side, curve in updates_of(evidence, run).items():
        moving = np.flatnonzero(curve.values >= FADED)
        place = min(moving[-1] + 1 if len(moving) else 0, len(curve) - 1)
        found[side] = float(curve["step"][place])
    return found


def full_values(evidence: Evidence) -> dict[str, Any]:
    """What became of the outvoted, and when updates and gradients fade."""
    found = {}
    for run in WITHOUT_MOMENTUM:
        own = evidence[run]
        found[run] = {
            f"outvoted {side} that turned, seed 0": float(
                turned_by_end(own, observable)[0]
            )
            for observable, (side, _) in panels.SIDES.items()
        }
        found[run] |= {
            f"mean |update| of {side} weights below 0.1 η from": step
            for side, step in halts(evidence, run).items()
        }
        step = swamped_at(own)
        found[run] |= {} if step is None else {"ε outweighs most gradients from": step}
        found[run] |= {
            f"log10 mean |gradient| of {side} weights at the end": float(
                schema.last(own, observable)[0]
            )
            for side, observable in GRADIENTS.items()
        }
    return found


def full_seen(evidence: Evidence) -> dict[str, bool]:
    """What Figure 17 is said to show."""
    runs = list(WITHOUT_MOMENTUM)
    steps = [halts(evidence, run) for run in runs]
    queries = [step["query"] for step in steps]
    turned = [float(turned_by_end(evidence[run], "query_neuron")[0]) for run in runs]
    last = schema.last(evidence[runs[0]], GRADIENTS["query"])
    return {
        "updates of query weights fade, and before those of key weights": all(
            step["query"] < step["key"] for step in steps
        ),
        "with β2 = 0.99 and 0.999 they fade earlier than with 0.9 and 0.95": (
            max(queries[2:]) < min(queries[:2])
        ),
        "fewer outvoted queries turn with every larger β2": bool(
            np.all(np.diff(turned) < 0)
        ),
        "for β2 = 0.9 the mean |gradient| of query weights ends below ε = 1e-15": bool(
            (last < -15).all()
        ),
    }


FIGURE16 = Exhibit(
    id="figure16",
    kind="figure",
    title="Figure 16: training loss of Adam by β1 and β2",
    caption=(
        "Setting (a), d = 2000, learning rate 1e-4, ε = 1e-15, seed 0; dashed: SignGD. "
        "Claimed: sublinear convergence for β2 > 0.9. Over the second half of training "
        "an exponential fits far better for β2 = 0.9, 0.95 and 0.99; for 0.999 a power "
        "law does, while the memory of 1000 steps still forgets the start. That β1 "
        "matters little is seen."
    ),
    needs={"SignGD": signgd(), **SWEEP},
    draw=draw_losses,
    values=loss_values,
    seen=loss_seen,
    silent=(SEEDS_SILENT, PRECISION_SILENT, SETTING_SILENT),
)
FIGURE17 = Exhibit(
    id="figure17",
    kind="figure",
    title="Figure 17: Adam without momentum, by β2",
    caption=(
        "Setting (a), d = 2000, β1 = 0, learning rate 1e-4, ε = 1e-15, seed 0. Means "
        "are over the weights that data reach; updates in units of the learning rate. "
        "Claimed: only small β2 let outvoted queries turn (printed: prevent), and "
        "updates of query weights fade before gradients are zero, earlier with larger "
        "β2. Both are seen. But for β2 = 0.9 and 0.95 updates end where ε outweighs "
        "the gradients of half of the query weights (dotted): their mean does not show "
        "it, since it is that of the signal's coordinate."
    ),
    needs={
        **WITHOUT_MOMENTUM,
        "updates": Request("updates", seeds=1, quick={"every": 100}),
    },
    draw=draw_full,
    values=full_values,
    seen=full_seen,
    silent=(SEEDS_SILENT, PRECISION_SILENT, SETTING_SILENT),
)
