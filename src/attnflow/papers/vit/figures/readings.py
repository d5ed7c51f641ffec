"""Ours: Figure 1's map for four readings of w_O."""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from attnflow import figures
from attnflow.paper import Evidence, Exhibit
from attnflow.papers.vit.figures import boundaries, phase_panels
from attnflow.papers.vit.figures.runs import (
    LITERAL,
    MAP_SILENT,
    READOUTS,
    TRAINED,
    phase_map,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WITH_BOUNDARY = tuple(name for name in READOUTS if name != LITERAL)


def draw(evidence: Evidence) -> "Figure":
    """A map for each reading, with its numbers above it."""
    titles = [rf"$w_O$: {name}" for name in READOUTS.values()]
    figure, grid = figures.panels(2, 2, titles=titles, size=(10.4, 9.4))
    mesh = phase_panels.loss_map(grid[0, 0], evidence[TRAINED])
    limits = grid[0, 0].get_xlim(), grid[0, 0].get_ylim()
    for ax, name in zip(grid.flat, READOUTS, strict=True):
        phase_panels.loss_map(ax, evidence[name])
        phase_panels.own_boundary(ax, evidence[name], seeds=False)
        phase_panels.paper_curve(ax)
        _number(ax, evidence[name])
        ax.set(xlim=limits[0], ylim=limits[1])
        ax.set_xticks(range(0, 16, 5))
    figures.field_bar(figure, mesh, grid, "test loss, mean over seeds")
    return figure


def _number(ax: "Axes", run: xr.Dataset) -> None:
    """Exponent, constant and steps, between the title and the map."""
    law, taken = boundaries.law(run), boundaries.steps(run)
    steps = "steps {least:.0f} to {most:.0f}, median {median:.0f}".format(**taken)
    least = float(boundaries.mean_map(run).min())
    first = f"no boundary: the least mean test loss is {least:.2f}"
    if np.isfinite(law["exponent of SNR in N"]):
        low, high = law["exponent, 95% over seeds"].values()
        first = (
            f"exponent {law['exponent of SNR in N']:.2f} [{low:.2f}, {high:.2f}],  "
            f"$N\\cdot$SNR$^2$ = {law['N·SNR²']:.0f}"
        ).replace("-", "−")
    text = f"{first}\n{law['cells that agree with 1000']:.0%} of cells agree,  {steps}"
    muted = figures.current_theme().muted
    place: dict[str, Any] = {"transform": ax.transAxes, "size": "small"}
    ax.text(0, 1.015, text, va="bottom", color=muted, linespacing=1.35, **place)
    ax.set_title(ax.get_title(loc="left"), pad=37.0)


def values(evidence: Evidence) -> dict[str, Any]:
    """For each reading the law of its boundary, steps, and the least test loss."""
    return {
        READOUTS[name]: {
            **_known(boundaries.law(run)),
            "steps": boundaries.steps(run),
            "least mean test loss": float(boundaries.mean_map(run).min()),
            "median test loss beyond 1000": beyond(run),
        }
        for name, run in evidence.items()
    }


def _known(law: dict[str, Any]) -> dict[str, Any]:
    """Without numbers that a map without a boundary lacks."""
    parts = {n: _known(p) if isinstance(p, dict) else p for n, p in law.items()}
    return {
        n: p for n, p in parts.items() if p and (isinstance(p, dict) or np.isfinite(p))
    }


def beyond(run: xr.Dataset) -> float:
    """The median test loss of cells beyond the paper's curve."""
    far = boundaries.strength(run) >= boundaries.CURVE
    return float(boundaries.mean_map(run).where(far).median())


def seen(evidence: Evidence) -> dict[str, bool]:
    """Which readings give the figure."""
    fits = {name: boundaries.boundary(evidence[name]) for name in WITH_BOUNDARY}
    far = {name: beyond(evidence[name]) for name in READOUTS}
    shares = {name: boundaries.agreeing(evidence[name]) for name in READOUTS}
    medians = {name: boundaries.steps(evidence[name])["median"] for name in READOUTS}
    return {
        "read literally, fewer cells agree with N·SNR² = 1000 than in any other": bool(
            shares[LITERAL] < min(shares[name] for name in WITH_BOUNDARY)
        ),
        "and beyond that curve the median test loss is 1.5 times that of any other": (
            bool(far[LITERAL] > 1.5 * max(far[name] for name in WITH_BOUNDARY))
        ),
        "in the other readings the exponent is within a quarter of −1/2": all(
            abs(fits[name].exponent / boundaries.EXPONENT - 1) < boundaries.TOLERANCE
            for name in WITH_BOUNDARY
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
    title="Figure 1 for four readings of w_O",
    caption=(
        "Section 6 does not say what w_O is. Mean test loss over SNR and N for four "
        "readings: PyTorch's default over 16, trained with the rest (ten seeds) or "
        "fixed (the literal reading, a few cells, two seeds); the default not divided, "
        "fixed; norm 1, fixed (four seeds each). Dashed: N·SNR² = 1000. Blue: our "
        "boundary and its power law, with intervals over resampled seeds. The literal "
        "reading alone does not give the figure: none of its cells is below the cut, "
        "and training takes hundreds of steps."
    ),
    needs={name: phase_map(name) for name in READOUTS},
    draw=draw,
    values=values,
    seen=seen,
    printed={READOUTS[TRAINED]: boundaries.PRINTED},
    tolerance=boundaries.TOLERANCE,
    silent=MAP_SILENT,
)
