"""Test loss against test error in the harmful setting, by reading of w_O (ours)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from attnflow import figures
from attnflow.papers.vit._types import Values
from attnflow.papers.vit.figures.runs import (
    APPENDIX_SILENT,
    LITERAL,
    READOUTS,
    SEEDS_SILENT,
    harmful,
)
from attnflow.schema.declarations import Evidence, Exhibit
from attnflow.schema.dims import SEED, STAGE
from attnflow.schema.libraries import xr

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

TITLES = ("Test loss", "Test error", r"Test margins $y f(X)$")
ORDER = tuple(reversed(READOUTS))
"""Rows from the top: the literal reading first."""
LEAST = 0.1
"""Lower bound on the test loss (Lemma E.6)."""
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


def losses(run: xr.Dataset) -> np.ndarray:
    """Final test loss, by seed."""
    return _end(run, "test_loss")


def errors(run: xr.Dataset) -> np.ndarray:
    """Share of misclassified test samples, by seed."""
    # Accuracies are sums of probabilities, with rounding errors.
    return np.round(1 - _end(run, "test_accuracy"), 12)


def margins(run: xr.Dataset) -> np.ndarray:
    """Quantiles of test margins over samples and seeds."""
    return np.quantile(_end(run, "test_margin"), SHARES)


def _end(run: xr.Dataset, name: str) -> np.ndarray:
    return run[f"{name}_at_end"].isel({STAGE: -1}).values


def draw(evidence: Evidence) -> Figure:
    """Test losses, errors and margins, one row per reading."""
    figure, grid = figures.panels(1, 3, titles=TITLES, size=(12.4, 3.9))
    for row, name in enumerate(ORDER):
        _dots(grid[0, 0], row, losses(evidence[name]), "test")
        _dots(grid[0, 1], row, errors(evidence[name]), "test")
        _bar(grid[0, 2], row, margins(evidence[name]))
    _lines(grid[0, 0], {LEAST: "0.1", float(np.log(2)): r"$\log 2$"})
    _lines(grid[0, 1], {0.5: "guess"})
    _lines(grid[0, 2], {0.0: ""})
    grid[0, 0].set(xlim=(0, 0.8), xlabel="test loss at $L_S \\leq \\epsilon$")
    grid[0, 1].set(xlim=(-0.02, 0.6), xlabel="share of test samples misclassified")
    grid[0, 2].set_xlabel("margin: 5, 25, 50, 75, 95%")
    grid[0, 2].margins(x=0.06)
    _name_rows(grid[0])
    return figure


def _dots(ax: Axes, row: int, numbers: np.ndarray, kind: str) -> None:
    theme = figures.current_theme()
    spots = row + np.linspace(-0.18, 0.18, len(numbers))
    _dot(ax, numbers, spots, theme.colour(kind))


def _bar(ax: Axes, row: int, shares: np.ndarray) -> None:
    theme = figures.current_theme()
    colour = theme.colour("test")
    ax.plot(shares[[0, -1]], [row] * 2, color=colour, lw=1.2)
    ax.plot(shares[[1, -2]], [row] * 2, color=colour, lw=5, alpha=0.45)
    _dot(ax, shares[2], row, colour)


def _dot(ax: Axes, x: ArrayLike, y: ArrayLike, colour: str) -> None:
    paper = figures.current_theme().paper
    ax.plot(x, y, color=colour, zorder=4, marker="o", ms=6, ls="", mec=paper)


def _lines(ax: Axes, levels: dict[float, str]) -> None:
    theme = figures.current_theme()
    for level, name in levels.items():
        ax.axvline(level, color=theme.muted, lw=0.8, ls=(0, (1, 2)), zorder=1)
        ax.annotate(
            name,
            (level, 1.0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(3, -3),
            textcoords="offset points",
            va="top",
            size="small",
            color=theme.muted,
        )


def _name_rows(axes: np.ndarray) -> None:
    names = [rf"$w_O$: {READOUTS[name]}" for name in ORDER]
    for number, ax in enumerate(axes):
        ax.set_yticks(range(len(ORDER)), names if number == 0 else [""] * len(ORDER))
        ax.set_ylim(len(ORDER) - 0.5, -0.8)
        ax.tick_params(axis="y", length=0, labelcolor=figures.current_theme().ink)
        ax.spines["left"].set_visible(False)
        figures.number_axis(ax, "x")
        for row in range(len(ORDER)):
            ax.axhline(row, color=figures.current_theme().hairline, lw=0.7, zorder=0)


def values(evidence: Evidence) -> Values:
    """Means and ranges over seeds, and the median margin."""
    return {
        READOUTS[name]: {
            "test loss": float(losses(run).mean()),
            "test loss, least": float(losses(run).min()),
            "test loss, largest": float(losses(run).max()),
            "test error": float(errors(run).mean()),
            "test error, largest": float(errors(run).max()),
            "median test margin": float(margins(run)[2]),
            "steps": float(np.median(run["end_time"].values)),
            "seeds": run.sizes[SEED],
        }
        for name, run in evidence.items()
    }


def checks(evidence: Evidence) -> dict[str, bool]:
    """Whether losses are high in every reading and errors in the literal one only."""
    loss = {name: losses(evidence[name]) for name in READOUTS}
    error = {name: errors(evidence[name]) for name in READOUTS}
    large = [name for name in READOUTS if name != LITERAL]
    return {
        "the test loss is above 0.1 in every reading and every seed": all(
            bool((rows > LEAST).all()) for rows in loss.values()
        ),
        "read literally it is within 10% of log 2": bool(
            (abs(loss[LITERAL] / np.log(2) - 1) < 0.1).all()
        ),
        "with larger or trained w_O fewer than 2% of test samples are misclassified": (
            all(bool((error[name] < 0.02).all()) for name in large)
        ),
        "though their test loss is above 0.3": all(
            bool((loss[name] > 0.3).all()) for name in large
        ),
    }


LOSS_AND_ERROR = Exhibit(
    id="loss-and-error",
    kind="figure",
    title="Harmful overfitting: high test loss is not high test error",
    caption=(
        "Appendix A's harmful setting (N = 10, ‖μ‖ = 15) trained to L_S ≤ 0.01, for "
        "four readings of w_O; 300 test samples, five seeds as dots; margins over all "
        "test samples and seeds. Theorem 4.2 bounds the test loss from below, and the "
        "bound holds. But where w_O is not tiny nearly all test samples are "
        "classified correctly, at a margin so small that the loss is high: the harm is "
        "in the confidence, not in the decision."
    ),
    needs={name: harmful(name) for name in READOUTS},
    draw=draw,
    values=values,
    checks=checks,
    silent=(APPENDIX_SILENT[0], SEEDS_SILENT),
)
