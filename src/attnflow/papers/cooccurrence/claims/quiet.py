"""Statistics of noise-free runs up to symmetry, from one sample of each type.

Attention stays uniform to about 1/m in them, so that outputs are sums of readouts. All
samples of a type have the same margin, and all their fillers the same readout.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from attnflow import schema
from attnflow.claims import look
from attnflow.papers.cooccurrence import stages
from attnflow.papers.cooccurrence.stages.formulas import END_OF_PHASE_ONE
from attnflow.schema.installation import xr

KINDS = ("both", "first", "second", "neither")
SHARES = np.array([1 / 2, 1 / 6, 1 / 6, 1 / 6])
LABELS = np.array([1.0, -1.0, -1.0, -1.0])
NAMED = ("mu1", "mu2", "mu3")
HELD = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]], dtype=float)
"""Which named tokens a sample of each type holds."""


def only_seed(run: xr.Dataset) -> xr.Dataset:
    """The only seed and head of a run."""
    return run.isel(seed=0, head=0)


def quiet_rows(run: xr.Dataset) -> xr.Dataset:
    """The only seed of a run, with the coordinate `clock`, b0·t."""
    time = stages.clock(run).isel(seed=0)
    return only_seed(run).assign_coords(clock=("time", time.values))


def phase_two_rows(run: xr.Dataset) -> xr.Dataset:
    """Records of phase 2, from b0·t = 20 on, to the run's end."""
    rows = quiet_rows(run)
    return rows.isel(time=np.flatnonzero(rows["clock"] >= END_OF_PHASE_ONE))


def rows_until_small(run: xr.Dataset) -> xr.Dataset:
    """Records until the loss is 1/m, NaN where it does not get there."""
    inside = look.between(run, 0.0, stages.loss_reaches(run)).isel(seed=0)
    kept = np.flatnonzero(inside) if inside.any() else [0]
    return run.isel(seed=0, head=0, time=kept).where(inside.any())


def size_of(run: xr.Dataset) -> tuple[float, int]:
    """Number of samples n and length L of a run."""
    setting = schema.setting_of(run)
    return float(setting["samples"]), int(setting["length"])


def slots(length: int) -> np.ndarray:
    """Number of fillers in a sample of each type."""
    return (length - HELD.sum(axis=1)).astype(int)


def named_outputs(values: xr.DataArray) -> np.ndarray:
    """Contribution of named tokens to the output of each type, `(time, types)`."""
    return values.sel(token=list(NAMED)).values @ HELD.T


def filler_values(values: xr.DataArray) -> np.ndarray:
    """Readouts of each type's fillers, `(time, types)`."""
    names = [str(token) for token in values["token"].values]
    fillers = [next(n for n in names if n.startswith(f"{kind}:")) for kind in KINDS]
    return values.sel(token=fillers).values


def filler_outputs(values: xr.DataArray, length: int) -> np.ndarray:
    """Contribution of fillers to the output of each type."""
    return filler_values(values) * slots(length)


def outputs(values: xr.DataArray, length: int) -> np.ndarray:
    """Outputs of training samples at uniform attention, `(time, types)`."""
    return named_outputs(values) + filler_outputs(values, length)


def class_weights(rows: xr.Dataset) -> np.ndarray:
    """Σ_k over n, `(time, types)`."""
    return rows["pull_by_group"].sel(group=list(KINDS)).values


def margins(rows: xr.Dataset) -> np.ndarray:
    """Margins of the four types, in the order of `KINDS`."""
    return rows["margin"].values


def at_losses(
    train: np.ndarray, test: np.ndarray, levels: Sequence[float]
) -> np.ndarray:
    """The test loss where the training loss is at each level; NaN if it never is.

    Between records linear in the logarithms of both losses.
    """
    between = np.interp(-np.log(levels), -np.log(train), np.log(test))
    is_known = np.isfinite(train).all() and np.isfinite(test).all()
    return np.where(is_known & (np.array(levels) >= train[-1]), np.exp(between), np.nan)


def test_loss(run: xr.Dataset) -> np.ndarray:
    """The expected loss of a fresh sample at uniform attention, by time.

    Exact: a sum over all counts of fillers of each kind that it may hold. A filler is
    uniform on those of the training set, n_k r_k of each type, and on `unseen` others,
    whose readout stays 0.
    """
    rows, setting = only_seed(run), schema.setting_of(run)
    free = slots(setting["length"])
    odds = np.append(setting["samples"] * SHARES * free, setting["unseen"])
    odds = odds / odds.sum()
    named = named_outputs(rows["value"])
    fillers = np.pad(filler_values(rows["value"]), ((0, 0), (0, 1)))
    total = np.zeros(len(named))
    for kind, share in enumerate(SHARES):
        counts, chance = _counts(int(free[kind]), odds)
        output = named[:, kind, None] + fillers @ counts.T
        total += share * (np.logaddexp(0, -LABELS[kind] * output) @ chance)
    return total


def _counts(number: int, odds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All counts of fillers by kind, and their multinomial probabilities."""
    counts, ways = _ways(number, len(odds))
    return counts, ways * np.prod(odds**counts, axis=1)


@cache
def _ways(number: int, kinds: int) -> tuple[np.ndarray, np.ndarray]:
    """All counts of so many fillers by kind, and the orders of each."""
    bars = itertools.combinations(range(number + kinds - 1), kinds - 1)
    edges = np.array([(-1, *bar, number + kinds - 1) for bar in bars])
    counts = np.diff(edges, axis=1) - 1
    ways = [
        math.factorial(number) / math.prod(map(math.factorial, row))
        for row in counts.tolist()
    ]
    return counts, np.array(ways)
