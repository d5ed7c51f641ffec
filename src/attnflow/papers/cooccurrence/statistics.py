"""Test losses at a given training loss, and numbers of samples that are sufficient."""

from __future__ import annotations

from typing import cast

import numpy as np

from attnflow.papers.cooccurrence.claims import quiet
from attnflow.papers.cooccurrence.stages import formulas
from attnflow.schema.declarations import Statistic
from attnflow.schema.installation import scipy, xr

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


def least_margin(named: np.ndarray, fillers: np.ndarray, length: int) -> float:
    """Least margin of any test sample, from readouts by type.

    A sample has its named tokens and r_k fillers, those of a type or unseen ones, whose
    readout is 0: in the worst case all are of the kind most adverse to its label.
    """
    worst = np.minimum(quiet.LABELS[:, None] * fillers, 0.0).min(axis=1)
    return float((quiet.LABELS * named + quiet.slots(length) * worst).min())


def margin_at_end(run: xr.Dataset) -> float:
    """Least margin of any test sample after training."""
    value = quiet.quiet_rows(run)["value"].isel(time=[-1])
    named, fillers = quiet.named_outputs(value)[0], quiet.filler_values(value)[0]
    return least_margin(named, fillers, quiet.size_of(run)[1])


def margin_of_machine(samples: float, length: int) -> float:
    """Least margin of any test sample over log t, at the limit of training."""
    machine = formulas.counts_machine({"samples": samples, "length": length})
    pulls = quiet.LABELS * machine.dual
    named = quiet.HELD @ (quiet.HELD.T @ pulls)
    return least_margin(named, pulls / (samples * quiet.SHARES), length)


def sufficient_samples(length: int) -> float:
    """n*: the number of samples above which no test sample stays misclassified."""
    return cast(
        "float", scipy.optimize.brentq(margin_of_machine, 6.0, 1e6, args=(length,))
    )


STATISTICS = (
    Statistic(
        "test_loss_at_level",
        f"expected test loss where the training loss is {LEVEL:g}, without noise",
        "attnflow.papers.cooccurrence.statistics:exact_test_losses",
        ("loss", "value", "readout_gain"),
    ),
)
