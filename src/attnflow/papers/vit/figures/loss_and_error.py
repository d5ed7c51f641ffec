"""Test loss against test error in the harmful setting, by reading of w_O (ours)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from attnflow.figures.exhibits import Panels, Rows, Tables
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
from attnflow.schema.installation import xr

LEAST = 0.1
"""Lower bound on the test loss (Lemma E.6)."""


def _end(run: xr.Dataset, name: str) -> np.ndarray:
    return run[f"{name}_at_end"].isel({STAGE: -1}).values


def _errors(run: xr.Dataset) -> np.ndarray:
    # Accuracies are sums of probabilities, with rounding errors.
    return np.round(1 - _end(run, "test_accuracy"), 12)


def _by_reading(
    evidence: Evidence, of: Callable[[xr.Dataset], np.ndarray]
) -> dict[str, np.ndarray]:
    return {name: of(run).ravel() for name, run in evidence.items()}


LABELS = {name: rf"$w_O$: {READOUTS[name]}" for name in reversed(READOUTS)}
"""Rows from the top: the literal reading first."""
BARE = dict.fromkeys(LABELS, "")
LOSS = Rows(
    title="Test loss",
    x=r"test loss at $L_S \leq \epsilon$",
    xlim=(0, 0.8),
    rows=LABELS,
    of=partial(_by_reading, of=partial(_end, name="test_loss")),
    lines={"0.1": LEAST, r"$\log 2$": float(np.log(2))},
)
ERROR = Rows(
    title="Test error",
    x="share of test samples misclassified",
    xlim=(-0.02, 0.6),
    rows=BARE,
    of=partial(_by_reading, of=_errors),
    lines={"guess": 0.5},
)
MARGIN = Rows(
    title=r"Test margins $y f(X)$",
    name="margin",
    x="margin: 5, 25, 50, 75, 95%",
    rows=BARE,
    of=partial(_by_reading, of=partial(_end, name="test_margin")),
    marks="quantiles",
    lines={"": 0.0},
)


def values(table: Tables) -> Values:
    """Means and ranges over seeds, and the median margin."""
    losses, errors, margins = (table[panel.key] for panel in (LOSS, ERROR, MARGIN))
    return {
        text: {
            "test loss": float(losses[name].mean()),
            "test loss, least": float(losses[name].min()),
            "test loss, largest": float(losses[name].max()),
            "test error": float(errors[name].mean()),
            "test error, largest": float(errors[name].max()),
            "median test margin": float(np.median(margins[name])),
            "steps": float(np.median(table.runs[name]["end_time"].values)),
            "seeds": table.runs[name].sizes[SEED],
        }
        for name, text in READOUTS.items()
    }


def _large(rows: dict[str, np.ndarray]) -> np.ndarray:
    """The rows of all readings but the literal one."""
    return np.array([row for name, row in rows.items() if name != LITERAL])


CHECKS = {
    "the test loss is above 0.1 in every reading and every seed": lambda t: (
        np.array([*t[LOSS.key].values()]) > LEAST
    ),
    "read literally, the test loss is within 10% of log 2": lambda t: (
        abs(t[LOSS.key][LITERAL] / np.log(2) - 1) < 0.1
    ),
    "with larger or trained w_O fewer than 2% of test samples are misclassified": (
        lambda t: _large(t[ERROR.key]) < 0.02
    ),
    "with larger or trained w_O the test loss is above 0.3 all the same": lambda t: (
        _large(t[LOSS.key]) > 0.3
    ),
}

LOSS_AND_ERROR = Exhibit(
    id="loss-and-error",
    kind="figure",
    title="Harmful overfitting: high test loss is not high test error",
    caption=(
        "Test loss, test error and margins in Appendix A's harmful setting (N = 10, "
        "‖μ‖ = 15), trained to L_S ≤ 0.01, for four readings of w_O; 300 test "
        "samples, five seeds as dots; margins over all test samples and seeds. "
        "Theorem 4.2 bounds the test loss from below, and the bound holds. But "
        "unless w_O is tiny, nearly all test samples are classified correctly, with "
        "margins so small that the loss is high: the harm is in the confidence, not "
        "in the decision."
    ),
    needs={name: harmful(name) for name in READOUTS},
    shows=Panels((LOSS, ERROR, MARGIN), size=(12.4, 3.9)),
    values=values,
    checks=CHECKS,
    silent=(APPENDIX_SILENT[0], SEEDS_SILENT),
)
