"""The runs on noisy digits that Figure 2c and its claims share, one for each cell."""

from collections.abc import Iterable, Sequence

import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.papers.vit.claims.evidence import PLAN
from attnflow.schema.dataset import Outcome
from attnflow.schema.declarations import Evidence, Request
from attnflow.schema.dims import SEED

Cells = dict[str, Request]

SAMPLES = (3000, 4800, 6600, 8400)
RATIOS = (0.2, 0.4, 0.8, 1.4, 2.0)
PATCHES = {14: PLAN[:2], 7: PLAN[:2], 4: PLAN[:1]}
"""Sides of patches, which the paper does not state, and seeds. Of 4 patches all hold
noise and digit, of 16 twelve do; of 49 there are 24 of noise and 25 of digit."""
MAIN = next(iter(PATCHES))
LAW = 2.0
"""The power of SNR beside N in the theory's condition."""
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
"""Smaller networks on fewer images, with one layer: programs take longest."""


def fewer(samples: int) -> int:
    """With how many samples a quick cell stands for one of this many."""
    return samples // 1500 * 128


def name_of(patch: int, samples: int, snr: float) -> str:
    """The name of a cell among the evidence."""
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
"""The map."""
ENDS = {
    patch: _cells(patch, counts, (RATIOS[0], RATIOS[-1]))
    for patch, counts in {
        14: (SAMPLES[0], SAMPLES[-1]),
        7: (SAMPLES[0], SAMPLES[-1]),
        4: SAMPLES[:1],
    }.items()
}
"""The least SNR and the largest, for each reading of patches; 49 of them take long."""
NEEDS = {
    **CELLS,
    **{name: r for cells in ENDS.values() for name, r in cells.items()},
}


def table(evidence: Evidence, name: str, cells: Iterable[str] = CELLS) -> xr.DataArray:
    """What training came to in every cell, dims `samples`, `snr` and `seed`.

    **Arguments:**

    - `name`: an observable, or a number of the run such as `end_time`.
    - `cells`: names of cells that make a grid; those of the map without them.
    """
    runs = [evidence[cell] for cell in cells]
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


def trained(evidence: Evidence) -> xr.DataArray:
    """Which cells of the map have reached the training loss that is stated."""
    return table(evidence, "outcome") == Outcome.EVENT.label


def gains(evidence: Evidence, patch: int) -> np.ndarray:
    """By which factor the test loss falls from the least SNR to the largest.

    By N, where it was trained with these patches, and by seed.
    """
    tested = table(evidence, "test_loss", ENDS[patch]).values
    return tested[:, 0] / tested[:, -1]


def powers(tested: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
    """Exponents b and c of `test loss ∝ N^b SNR^c` by seed, by least squares."""
    logs = np.log(tested.transpose("samples", "snr", SEED).values)
    axes = [np.log(tested[key].values) for key in ("samples", "snr")]
    count, ratio = np.meshgrid(*axes, indexing="ij")
    columns = np.stack([np.ones(count.size), count.ravel(), ratio.ravel()], axis=1)
    found = np.linalg.lstsq(columns, logs.reshape(count.size, -1), rcond=None)[0]
    return found[1], found[2]


def level_power(tested: xr.DataArray) -> np.ndarray:
    """The power of SNR beside N along which that law is level, by seed.

    It is c/b; none where the test loss does not fall with N.
    """
    with_count, with_ratio = powers(tested)
    return with_ratio / np.where(with_count < 0, with_count, np.nan)
