"""Statistics of `cooccurrence` for sweeps: numbers computed from records."""

import numpy as np
import xarray as xr

from attnflow.papers.cooccurrence.claims import quiet
from attnflow.schema.declarations import Statistic

LEVEL = 2e-6
"""The training loss at which test losses are compared."""


def at_level(train: np.ndarray, test: np.ndarray) -> float:
    """The test loss where the training loss has fallen to the level; NaN if nowhere."""
    if not train[-1] <= LEVEL:
        return float("nan")
    return float(np.exp(np.interp(-np.log(LEVEL), -np.log(train), np.log(test))))


def exact_test_loss(run: xr.Dataset) -> float:
    """The test loss there over all samples, by the probabilities of their fillers."""
    return at_level(run["loss"].values[0], quiet.test_loss(run))


def exact_test_losses(run: xr.Dataset) -> np.ndarray:
    """The same of the one seed that a run without noise has."""
    return np.array([exact_test_loss(run)])


STATISTICS = (
    Statistic(
        "test_loss_at_level",
        f"expected test loss where the training loss is {LEVEL:g}, without noise",
        "attnflow.papers.cooccurrence.statistics:exact_test_losses",
        ("loss", "value", "readout_gain"),
    ),
)
