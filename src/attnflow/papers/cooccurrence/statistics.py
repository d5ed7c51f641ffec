"""Statistics for sweeps of `cooccurrence`: the test loss at a given training loss."""

from __future__ import annotations

import numpy as np

from attnflow.papers.cooccurrence.claims import quiet
from attnflow.schema.declarations import Statistic
from attnflow.schema.libraries import xr

LEVEL = 2e-6
"""The training loss at which test losses are compared."""


def at_level(train: np.ndarray, test: np.ndarray) -> float:
    """Test loss when the training loss has fallen to `LEVEL`; NaN if it never does."""
    return float(quiet.at_losses(train, test, (LEVEL,))[0])


def exact_test_loss(run: xr.Dataset) -> float:
    """Expected test loss at `LEVEL`, over all samples that may be drawn."""
    return at_level(run["loss"].values[0], quiet.test_loss(run))


def exact_test_losses(run: xr.Dataset) -> np.ndarray:
    """Expected test loss at `LEVEL`, as an array over the only seed."""
    return np.array([exact_test_loss(run)])


STATISTICS = (
    Statistic(
        "test_loss_at_level",
        f"expected test loss where the training loss is {LEVEL:g}, without noise",
        "attnflow.papers.cooccurrence.statistics:exact_test_losses",
        ("loss", "value", "readout_gain"),
    ),
)
