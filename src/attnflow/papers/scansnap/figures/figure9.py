"""Figure 9: B(t) of the scalar model C at a fixed ratio of learning rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from attnflow import figures, schema
from attnflow.papers.scansnap._types import Numbers
from attnflow.papers.scansnap.figures import panels
from attnflow.papers.scansnap.settings import Scalar
from attnflow.schema.declarations import Evidence, Exhibit, Request, Sentences
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RATES = (0.1, 0.3, 1.0, 3.0)
DRIVE = r"$B(t) = -z_{\mathrm{CT}}(t)$"


def name(rate: float) -> str:
    """Name of a run in the evidence."""
    return f"η_Z = {rate:g}"


def closed_form(run: xr.Dataset, time: ArrayLike) -> np.ndarray:
    """B(t) in closed form, with the constant for which B(0) = 0."""
    # Not above: the module builds experiments, and listing a paper imports no JAX.
    from attnflow.papers.scansnap.experiments import scale_of

    scale = scale_of(Scalar(**schema.setting_of(run)))
    return panels.decoder(run).drive_integral(time, scale)


def draw(evidence: Evidence) -> Figure:
    """Panels: B over time, and over rescaled time."""
    titles = [
        r"$\mathbf{C}$, $\eta_Y/\eta_Z = 1$: dots at $t_0$",
        "the same over rescaled time: one curve",
    ]
    figure, grid = figures.panels(1, 2, titles=titles, size=(11.6, 4.4))
    left, right = grid[0]
    ramp = figures.current_theme().ramp("hard", len(RATES))
    for colour, rate in zip(ramp, RATES, strict=True):
        _curves(left, right, evidence[name(rate)], colour)
    left.set(xscale="log", xlabel=panels.TIME, ylabel=DRIVE, xlim=(1, 1e5))
    left.set_ylim(0, None)
    figures.number_axis(left, "x")
    figures.label_ends(left, size=10.5)
    _formulas(right, evidence[name(RATES[-1])])
    return figure


def _curves(left: Axes, right: Axes, run: xr.Dataset, colour: str) -> None:
    drive, snap = panels.common_fall(run), panels.decoder(run).snap
    rate = schema.setting_of(run)["score_rate"]
    times, heights = panels.positive(drive)
    left.plot(times, heights, color=colour, lw=2.0, label=rf"$\eta_Z = {rate:g}$")
    panels.dot(left, snap, panels.at(drive, snap), colour)
    times, heights = panels.positive(drive, panels.clock(run))
    # Longer curves below, so that each can be seen to lie on them.
    right.plot(times, heights, color=colour, lw=2.4, zorder=3 - 0.1 * rate)
    panels.dot(right, times[-1], heights[-1], colour, size=5)


def _formulas(ax: Axes, run: xr.Dataset) -> None:
    """Draw the closed form and the paper's times."""
    decoder, unit = panels.decoder(run), panels.clock(run)
    times = np.geomspace(0.05, 1e5 * unit, 400)
    figures.theory(ax, times, closed_form(run, times / unit), label="closed form")
    ax.set(xscale="log", xlabel=panels.CLOCK, xlim=(0.05, 1e5 * unit), ylim=(0, None))
    panels.name_time(ax, unit * decoder.peak, "γ's peak", left=True)
    panels.name_time(ax, unit * decoder.snap, "$t_0$")
    figures.number_axis(ax, "x")
    ax.legend(loc="upper left")


def at_snap(evidence: Evidence) -> np.ndarray:
    """B(t₀) by η_Z."""
    runs = [evidence[name(rate)] for rate in RATES]
    return np.array(
        [panels.at(panels.common_fall(r), panels.decoder(r).snap) for r in runs]
    )


def at_end(evidence: Evidence) -> np.ndarray:
    """B at the last record, by η_Z."""
    runs = [evidence[name(rate)] for rate in RATES]
    return np.array([float(panels.common_fall(run)[-1]) for run in runs])


def values(evidence: Evidence) -> Numbers:
    """B at t₀ and at the end, and the largest distance to the closed form."""
    return {
        "B at t0": panels.named(map(name, RATES), at_snap(evidence)),
        "B at the end": panels.named(map(name, RATES), at_end(evidence)),
        "largest distance to the closed form": max(map(error, evidence.values())),
    }


def error(run: xr.Dataset) -> float:
    """The largest distance of a run to the closed form."""
    times, drive = panels.positive(panels.common_fall(run))
    return float(np.abs(drive - closed_form(run, times)).max())


def stated(evidence: Evidence) -> dict[str, Sentences]:
    """Where B depends on the learning rate."""
    snap, end = at_snap(evidence), at_end(evidence)
    # Between 201 records over eight decades, lines over log t err by (Δ ln t)²/8.
    near = 1e-3
    return {
        "Caption of Figure 9": {
            "B(t0) is the same for all learning rates": bool(
                np.ptp(snap) < near * snap.mean()
            )
        },
        "Appendix F": {
            "differences arise after t0, where the larger η_Z is ahead": bool(
                (np.diff(end) > 0).all()
            )
        },
    }


def checks(evidence: Evidence) -> dict[str, bool]:
    """How far B grows after t0, and agreement with the closed form."""
    snap, end = at_snap(evidence), at_end(evidence)
    return {
        "past t0 B grows by less than a quarter": bool(
            ((end - snap) < 0.25 * snap).all() and (end > snap).all()
        ),
        "the closed form with its constant is met to 1e-7": bool(
            max(map(error, evidence.values())) < 1e-7
        ),
    }


FIGURE9 = Exhibit(
    id="figure9",
    kind="figure",
    title="Figure 9: B(t) at a fixed ratio of learning rates",
    caption=(
        "System C, the scalar model, K = 10, M = 1000, η_Y = η_Z. Left: B(t0) is the "
        "same for all rates, and larger rates are ahead later. Right: over η_Y t/K all "
        "are one curve, each ending (dot) where its time ends, so that a larger rate "
        "at a fixed ratio amounts to a later time. Dashed: ¼ ln(1 + 4Γ/C0), "
        "the printed closed form with the constant that makes it begin at zero."
    ),
    needs={
        name(rate): Request("figure9", {"score_rate": rate, "value_rate": rate}, 1)
        for rate in RATES
    },
    draw=draw,
    values=values,
    stated=stated,
    checks=checks,
    silent=(
        "C0 and the rates are not stated. C0 = ρ0⁴/K of one common token of weight 1 "
        "and ten distinct ones, 2.352; η_Z = 0.1, 0.3, 1, 3 at η_Y/η_Z = 1.",
    ),
)
