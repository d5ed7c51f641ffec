"""Figure 1: test loss over SNR and N, and the same cut at 0.2."""

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.vit._types import Values
from attnflow.papers.vit.figures import boundaries, phase_panels
from attnflow.papers.vit.figures.runs import MAP_SILENT, phase_map
from attnflow.schema.declarations import Evidence, Exhibit, Sentences

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (7.4, 5.4)
NEEDS = {"map": phase_map()}


def draw_losses(evidence: Evidence) -> "Figure":
    """The mean test loss, the paper's curve and our boundary."""
    figure, grid = figures.panels(size=SIZE)
    ax, run = grid[0, 0], evidence["map"]
    mesh = phase_panels.loss_map(ax, run)
    phase_panels.fitted_boundary(ax, run)
    phase_panels.paper_curve(ax)
    phase_panels.legend(ax)
    figures.field_bar(figure, mesh, ax, "test loss, mean over seeds")
    return figure


def draw_cut(evidence: Evidence) -> "Figure":
    """The cut map, with cells on the wrong side of the paper's curve marked."""
    figure, grid = figures.panels(size=(SIZE[0] - 0.6, SIZE[1]))
    ax, run = grid[0, 0], evidence["map"]
    phase_panels.cut_map(ax, run)
    phase_panels.fitted_boundary(ax, run, seeds=False)
    phase_panels.paper_curve(ax)
    phase_panels.wrong_cells(ax, run)
    phase_panels.legend(ax)
    _say_sides(ax)
    return figure


def _say_sides(ax: "Axes") -> None:
    theme = figures.current_theme()
    for corner, text, side in (
        ((0.03, 0.04), f"harmful: test loss above {boundaries.CUT:g}", "left"),
        ((0.97, 0.94), f"benign: below {boundaries.CUT:g}", "right"),
    ):
        ax.text(*corner, text, transform=ax.transAxes, ha=side, color=theme.ink)


def loss_values(evidence: Evidence) -> Values:
    """Test losses at the corners of the map, the boundary's power law, and steps."""
    run = evidence["map"]
    table = boundaries.mean_map(run)
    ends = {"least": 0, "largest": -1}
    corners = {
        f"{n} N, {s} SNR": float(table[ends[n], ends[s]]) for n in ends for s in ends
    }
    return {
        "test loss": corners,
        "boundary": boundaries.law(run),
        "steps of a cell": boundaries.steps(run),
    }


def losses_stated(evidence: Evidence) -> dict[str, Sentences]:
    """Whether test losses fall with N and with SNR."""
    table = boundaries.mean_map(evidence["map"])
    ratios = table["snr"].values
    # At the smallest SNRs of the map the signal is not learned at any N.
    some = ratios >= ratios[-1] / 4
    with_ratio = [trend(row) for row in table.values]
    with_count = [trend(row) for row in table.values.T[some]]
    sentences = {
        "for every N the test loss tends to fall with SNR (Kendall's τ below −0.8)": (
            bool(max(with_ratio) < -0.8)
        ),
        "for every SNR from a quarter of the largest it tends to fall with N (the "
        "same)": bool(max(with_count) < -0.8),
    }
    return {"Section 6, on Figure 1a": sentences}


def loss_checks(evidence: Evidence) -> dict[str, bool]:
    """Between which losses the map lies."""
    table = boundaries.mean_map(evidence["map"])
    return {
        "the test loss goes from nearly that of a guess (0.6 or more) to below 0.1": (
            bool(table[0, 0] > 0.6 and table[-1, -1] < 0.1)
        ),
    }


def trend(row: np.ndarray) -> float:
    """Kendall's τ of a row with its order: −1 where it falls at every step."""
    later = np.sign(row[None, :] - row[:, None])
    return float(later[np.triu_indices(len(row), k=1)].mean())


def cut_values(evidence: Evidence) -> Values:
    """Power law of the boundary, and N · SNR² along it, over N and seeds."""
    run = evidence["map"]
    fit = boundaries.boundary(run)
    every = run["samples"].values * fit.by_seed**2
    return {
        **boundaries.law(run),
        "N·SNR² along the boundary": boundaries.along(run),
        "N·SNR² of single seeds": {
            f"{share}%": float(np.nanpercentile(every, share)) for share in (5, 50, 95)
        },
    }


def cut_stated(evidence: Evidence) -> dict[str, Sentences]:
    """Whether the curve parts the map."""
    sentences = {
        "N·SNR² = 1000 almost follows the line between losses above and below 0.2: 95 "
        "of 100 cells or more are on their side": bool(
            boundaries.agreeing(evidence["map"]) >= 0.95
        )
    }
    return {"Section 6, on Figure 1b": sentences}


def cut_checks(evidence: Evidence) -> dict[str, bool]:
    """Whether the boundary itself follows N · SNR² = 1000."""
    run = evidence["map"]
    low, high = boundaries.boundary(run).exponent_interval
    along = np.array(list(boundaries.along(run).values()))
    return {
        "the exponent of SNR in N is neither 0 nor −1, by its interval": bool(
            low > -1 and high < 0
        ),
        "N·SNR² along the boundary is within 0.7 to 1.4 times 1000 at every N": bool(
            along.size >= 3
            and along.min() > 0.7 * boundaries.CURVE
            and along.max() < 1.4 * boundaries.CURVE
        ),
    }


_SIZES = (
    "M = 16, d = 1024, d_h = d_v = 512, σ_p = 0.2, σ̃_p = 4, η = 0.1, ε = 0.01, 100 "
    "test points, ten seeds"
)
FIGURE1A = Exhibit(
    id="figure1a",
    kind="figure",
    title="Figure 1a: test loss over SNR and number of samples",
    caption=(
        f"Mean test loss when the training loss is ε; {_SIZES}. Dashed: the paper's "
        "curve. Blue: where the mean test loss is 0.2 (dots), a power law through the "
        "dots, and the same crossing in each seed (thin). The fitted law is steeper "
        "than the curve: with random labels and small N, one class may have few "
        "samples (figure `readings`)."
    ),
    needs=NEEDS,
    draw=draw_losses,
    values=loss_values,
    stated=losses_stated,
    checks=loss_checks,
    printed={"boundary": boundaries.PRINTED},
    tolerance=boundaries.TOLERANCE,
    silent=MAP_SILENT,
)
FIGURE1B = Exhibit(
    id="figure1b",
    kind="figure",
    title="Figure 1b: the test loss cut at 0.2",
    caption=(
        f"Where the mean test loss is above 0.2 (red); {_SIZES}. Crosses: cells on the "
        "other side of the paper's curve. Blue: crossings of 0.2 by interpolation, "
        "and a power law fitted to them; intervals are over resampled seeds, since "
        "cells of one seed share their random numbers."
    ),
    needs=NEEDS,
    draw=draw_cut,
    values=cut_values,
    stated=cut_stated,
    checks=cut_checks,
    printed=boundaries.PRINTED,
    tolerance=boundaries.TOLERANCE,
    silent=MAP_SILENT,
)
