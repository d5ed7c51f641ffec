"""Runs on noisy digits that Figure 2c and its claims share, one per cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from attnflow import schema
from attnflow.papers.vit.seeds import PLAN
from attnflow.schema.dataset import Outcome
from attnflow.schema.declarations import Evidence, Request
from attnflow.schema.dims import SEED
from attnflow.schema.installation import xr

Cells = dict[str, Request]

SAMPLES = (3000, 4800, 6600, 8400)
RATIOS = (0.2, 0.4, 0.8, 1.4, 2.0)
PATCHES = {14: PLAN[:2], 7: PLAN[:2], 4: PLAN[:1]}
"""Seeds by the side of a patch, which the paper does not state. With side 14 all 4
patches hold noise and digit, with 7 twelve of 16 do; with 4, 24 of 49 hold noise and 25
the digit."""
MAIN = next(iter(PATCHES))
LAW = 2.0
"""Exponent of the SNR in the theory's control parameter N · SNR²."""
QUICK = {
    "patch": 14,
    "layers": 1,
    "width": 16,
    "hidden": 32,
    "batch": 32,
    "test_samples": 1024,
    "look": 20,
    "records": 1,
    "record": ("loss", "test_loss", "test_accuracy"),
}
"""For `--quick`: smaller networks with one layer, since compiling takes longest."""


def fewer(samples: int) -> int:
    """Number of samples in the `--quick` version of a cell."""
    return samples // 1500 * 128


def name_of(patch: int, samples: int, snr: float) -> str:
    """Name of a cell in the evidence."""
    return f"patches of {patch}, N = {samples}, SNR = {snr:g}"


def _cells(patch: int, counts: Sequence[int], ratios: Sequence[float]) -> Cells:
    return {
        name_of(patch, samples, snr): Request(
            "mnist",
            {"samples": samples, "snr": snr, "patch": patch},
            seeds=PATCHES[patch],
            quick={**QUICK, "samples": fewer(samples)},
            quick_seeds=PATCHES[patch][:1],
        )
        for samples in counts
        for snr in ratios
    }


CELLS = _cells(MAIN, SAMPLES, RATIOS)
"""Cells of the map."""
BY_PATCH = {
    patch: _cells(patch, (SAMPLES[0], SAMPLES[-1]), (RATIOS[0], RATIOS[-1]))
    for patch in PATCHES
}
"""Cells at both ends of N and of the SNR by patch size; 49 patches take long."""
NEEDS = CELLS | {name: run for few in BY_PATCH.values() for name, run in few.items()}


def table(evidence: Evidence, name: str, cells: Iterable[str] = CELLS) -> xr.DataArray:
    """Final value of an observable in the map's cells, or in those of another grid."""
    return cells_table([evidence[cell] for cell in cells], name)


def cells_table(runs: Sequence[xr.Dataset], name: str) -> xr.DataArray:
    """Final value of an observable, or a variable of the run, in the cells of a grid.

    **Returns:** dims `samples`, `snr` and `seed`.
    """
    settings = [schema.setting_of(run) for run in runs]
    counts, ratios = (
        sorted({setting[key] for setting in settings}) for key in ("samples", "snr")
    )
    rows = np.array([_at_end(run, name) for run in runs])
    return xr.DataArray(
        rows.reshape(len(counts), len(ratios), -1),
        {"samples": counts, "snr": ratios, SEED: runs[0][SEED].values},
        ("samples", "snr", SEED),
        name,
    )


def _at_end(run: xr.Dataset, name: str) -> np.ndarray:
    ends = f"{name}_at_end"
    return run[ends].isel(stage=-1).values if ends in run else run[name].values


def trained(evidence: Evidence, cells: Iterable[str] = CELLS) -> xr.DataArray:
    """Mask of the map's cells that have reached the target training loss."""
    return table(evidence, "outcome", cells) == Outcome.EVENT.label


def gains(evidence: Evidence, patch: int) -> np.ndarray:
    """Test loss at the smallest SNR over that at the largest, by N and seed."""
    losses = table(evidence, "test_loss", BY_PATCH[patch]).values
    return losses[:, 0] / losses[:, -1]


def powers(losses: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
    """Exponents b and c of `test loss ∝ N^b SNR^c` by seed, by least squares."""
    logs = np.log(losses.transpose("samples", "snr", SEED).values)
    axes = [np.log(losses[key].values) for key in ("samples", "snr")]
    count, ratio = np.meshgrid(*axes, indexing="ij")
    columns = np.stack([np.ones(count.size), count.ravel(), ratio.ravel()], axis=1)
    coefficients = np.linalg.lstsq(columns, logs.reshape(count.size, -1), rcond=None)[0]
    return coefficients[1], coefficients[2]


def level_power(losses: xr.DataArray) -> np.ndarray:
    """Exponent a = c/b: the fitted law is constant along N · SNR^a, by seed.

    NaN where the test loss does not fall with N.
    """
    with_count, with_ratio = powers(losses)
    return with_ratio / np.where(with_count < 0, with_count, np.nan)
