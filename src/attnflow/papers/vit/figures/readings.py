"""Figure 1's map for four readings of w_O, and with equal classes (ours)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.vit._types import Values
from attnflow.papers.vit.figures import boundaries, phase_panels
from attnflow.papers.vit.figures.runs import (
    EQUAL,
    LITERAL,
    MAP_SILENT,
    READOUTS,
    TRAINED,
    phase_map,
)
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAD = 37.0
"""Points below a title, for two lines of numbers."""
BALANCED = "equal classes"
NAMES = {
    TRAINED: READOUTS[TRAINED],
    BALANCED: f"{READOUTS[TRAINED]}, {BALANCED}",
    **{name: text for name, text in READOUTS.items() if name != TRAINED},
}
WITH_BOUNDARY = tuple(name for name in NAMES if name != LITERAL)


def draw(evidence: Evidence) -> Figure:
    """A map per reading, with its power law above it; all power laws in one panel."""
    titles = [*(rf"$w_O$: {name}" for name in NAMES.values()), "Laws of a to d"]
    figure, grid = figures.panels(2, 3, titles=titles, size=(13.6, 9.0))
    mesh = phase_panels.loss_map(grid[0, 0], evidence[TRAINED])
    limits = grid[0, 0].get_xlim(), grid[0, 0].get_ylim()
    for ax, name in zip(grid.flat[:-1], NAMES, strict=True):
        phase_panels.loss_map(ax, evidence[name])
        phase_panels.fitted_boundary(ax, evidence[name], seeds=False)
        phase_panels.paper_curve(ax)
        _number(ax, evidence[name])
        ax.set_xticks(range(0, 16, 5))
        ax.set(xlim=limits[0], ylim=limits[1])
    _laws(grid[1, 2], evidence)
    figures.field_bar(figure, mesh, grid, "test loss, mean over seeds")
    return figure


def _laws(ax: Axes, evidence: Evidence) -> None:
    """Exponents and constants with their intervals, beside the paper's."""
    theme = figures.current_theme()
    colour = theme.colour("signal")
    for letter, name in zip("abcd", WITH_BOUNDARY, strict=True):
        fit = boundaries.boundary(evidence[name])
        point = fit.exponent, fit.constant
        ax.plot(fit.exponent_interval, [point[1]] * 2, color=colour, lw=1.2, alpha=0.6)
        ax.plot([point[0]] * 2, fit.constant_interval, color=colour, lw=1.2, alpha=0.6)
        ax.plot(*point, color=colour, marker="o", ms=6, mec=theme.paper, zorder=4)
        ax.annotate(
            rf"$\mathbf{{{letter}}}$",
            point,
            color=theme.ink,
            textcoords="offset points",
            xytext=(-13, 5),
        )
    colour, dashes = theme.colour("theory"), (0, (4, 2.2))
    ax.axvline(boundaries.EXPONENT, ls=dashes, color=colour, lw=1.1, zorder=1)
    ax.axhline(boundaries.CURVE, ls=dashes, color=colour, lw=1.1, zorder=1)
    ax.set(xlabel="exponent of SNR in $N$", ylabel=r"$N\cdot$SNR$^2$ at the boundary")
    ax.margins(x=0.1, y=0.1)
    figures.number_axis(ax, "x", ticks=4)
    figures.number_axis(ax, "y")
    ax.set_title(ax.get_title(loc="left"), pad=PAD)


def _number(ax: Axes, run: xr.Dataset) -> None:
    """Exponent, constant and steps, between the title and the map."""
    fit, counts = boundaries.boundary(run), boundaries.steps(run)
    steps = "steps {least:.0f} to {most:.0f}, median {median:.0f}".format(**counts)
    crossing, least = len(boundaries.along(run)), boundaries.mean_map(run).min()
    first = (
        f"{crossing or 'none'} of {run.sizes['samples']} $N$ cross the cut,  least "
        f"mean test loss {float(least):.2f}"
    )
    if np.isfinite(fit.exponent):
        low, high = fit.exponent_interval
        first = (
            f"exponent {fit.exponent:.2f} [{low:.2f}, {high:.2f}],  "
            f"$N\\cdot$SNR$^2$ = {fit.constant:.0f}"
        ).replace("-", "−")
    ax.text(
        0,
        1.015,
        f"{first}\n{boundaries.agreeing(run):.0%} of cells agree,  {steps}",
        va="bottom",
        color=figures.current_theme().muted,
        linespacing=1.35,
        transform=ax.transAxes,
        size="small",
    )
    ax.set_title(ax.get_title(loc="left"), pad=PAD)


def values(evidence: Evidence) -> Values:
    """Power law of the boundary, steps and smallest test loss, by reading."""
    return {
        NAMES[name]: {
            **_known(boundaries.law(run)),
            "steps": boundaries.steps(run),
            "least mean test loss": float(boundaries.mean_map(run).min()),
            "median test loss beyond 1000": beyond(run),
        }
        for name, run in evidence.items()
    }


def _known(law: Values) -> Values:
    """Finite entries of a power law: a map without boundary lacks some."""
    parts = {n: _known(p) if isinstance(p, Mapping) else p for n, p in law.items()}
    return {
        n: p
        for n, p in parts.items()
        if p != {} and (isinstance(p, Mapping) or np.isfinite(p))
    }


def beyond(run: xr.Dataset) -> float:
    """The median test loss of cells beyond the paper's curve."""
    far = boundaries.strength(run) >= boundaries.CURVE
    return float(boundaries.mean_map(run).where(far).median())


def checks(evidence: Evidence) -> dict[str, bool]:
    """Which readings reproduce the figure."""
    fits = {name: boundaries.boundary(evidence[name]) for name in WITH_BOUNDARY}
    far = {name: beyond(evidence[name]) for name in NAMES}
    shares = {name: boundaries.agreeing(evidence[name]) for name in NAMES}
    medians = {name: boundaries.steps(evidence[name])["median"] for name in NAMES}
    drawn, equal = (boundaries.boundary(evidence[n]) for n in (TRAINED, BALANCED))
    width, narrow = (np.ptp(fit.constant_interval) for fit in (drawn, equal))
    return {
        "read literally, fewer cells agree with N·SNR² = 1000 than in any other": bool(
            shares[LITERAL] < min(shares[name] for name in WITH_BOUNDARY)
        ),
        "and beyond that curve the median test loss is 1.5 times that of any other": (
            bool(far[LITERAL] > 1.5 * max(far[name] for name in WITH_BOUNDARY))
        ),
        "in the other readings the exponent is nearer to −1/2 than to 0 or −1": all(
            abs(fits[name].exponent - boundaries.EXPONENT) < 0.25
            for name in WITH_BOUNDARY
        ),
        "with equal classes the boundary lies at a smaller N·SNR² than with drawn "
        "ones, and its interval is narrower": bool(
            equal.constant < drawn.constant and narrow < width
        ),
        "with norm 1 the boundary lies at a smaller N·SNR² than with trained w_O": bool(
            fits["unit-fixed"].constant < fits[TRAINED].constant
        ),
        "read literally, training takes ten times the steps of the others": bool(
            medians[LITERAL] > 10 * max(medians[name] for name in WITH_BOUNDARY)
        ),
    }


READINGS = Exhibit(
    id="readings",
    kind="figure",
    title="Figure 1 for four readings of w_O, and with equal classes",
    caption=(
        "Section 6 does not say what w_O is. Mean test loss over SNR and N for four "
        "readings: PyTorch's default over 16, trained with the rest (a: ten seeds; b: "
        "with as many samples of one class as of the other, four seeds) or fixed (e: "
        "the literal reading, a few cells, two seeds); the default not divided, fixed "
        "(c), and norm 1, fixed (d; three seeds each). Dashed: N·SNR² = 1000. Blue: "
        "our boundary and its power law; f: exponents and constants with 95% intervals "
        "over resampled seeds, which three or four seeds make too narrow. With random "
        "labels and small N one class may have few samples, which raises the boundary "
        "there and makes it steeper than N^(−1/2). Only the literal reading does not "
        "reproduce the figure: none of its cells is below the cut, and training takes "
        "hundreds of steps."
    ),
    needs={name: EQUAL if name == BALANCED else phase_map(name) for name in NAMES},
    draw=draw,
    values=values,
    checks=checks,
    printed={NAMES[name]: boundaries.PRINTED for name in (TRAINED, BALANCED)},
    tolerance=boundaries.TOLERANCE,
    silent=MAP_SILENT,
)
