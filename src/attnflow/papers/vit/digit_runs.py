"""The runs on noisy digits that Figure 2c and its claims share, one for each cell."""

import numpy as np
import xarray as xr

from attnflow import _dims, schema
from attnflow.paper import Evidence, Request
from attnflow.papers.vit.claims.evidence import PLAN

SAMPLES = (3000, 4800, 6600, 8400)
RATIOS = (0.2, 0.8, 1.4, 2.0)
SEEDS = PLAN[:1]
FEWER = 12
"""How many times fewer samples quick runs have."""
QUICK = {"patch": 7, "test_samples": 500, "steps": 600, "look": 50, "records": 1}


def name_of(samples: int, snr: float) -> str:
    """The name of a cell among the evidence."""
    return f"N = {samples}, SNR = {snr:g}"


CELLS = {
    name_of(samples, snr): Request(
        "mnist",
        {"samples": samples, "snr": snr},
        seeds=SEEDS,
        quick={**QUICK, "samples": samples // FEWER},
    )
    for samples in SAMPLES
    for snr in RATIOS
}


def table(evidence: Evidence, name: str) -> xr.DataArray:
    """What training came to in every cell, dims `samples`, `snr` and `seed`.

    `name` is an observable, or a number of the run such as `end_time`.
    """
    cells = [evidence[cell] for cell in CELLS]
    settings = [schema.setting_of(run) for run in cells]
    coords = {
        key: sorted({setting[key] for setting in settings})
        for key in ("samples", "snr")
    }
    rows = np.array([_at_end(run, name) for run in cells])
    shape = (len(coords["samples"]), len(coords["snr"]), -1)
    return xr.DataArray(
        rows.reshape(shape),
        {**coords, _dims.SEED: cells[0][_dims.SEED].values},
        ("samples", "snr", _dims.SEED),
        name,
    )


def _at_end(run: xr.Dataset, name: str) -> np.ndarray:
    ends = f"{name}_at_end"
    return run[ends].isel(stage=-1).values if ends in run else run[name].values


def trained(evidence: Evidence) -> xr.DataArray:
    """Which cells have reached the training loss that they were to be trained to."""
    target = schema.setting_of(evidence[next(iter(CELLS))])["target"]
    return table(evidence, "loss") <= target


def powers(tested: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
    """Exponents b and c of `test loss ∝ N^b · SNR^c`, by least squares over cells."""
    logs = np.log(tested.transpose("samples", "snr", _dims.SEED).values)
    count, ratio = np.meshgrid(
        np.log(tested["samples"]), np.log(tested["snr"]), indexing="ij"
    )
    columns = np.stack([np.ones(count.size), count.ravel(), ratio.ravel()], axis=1)
    found = np.linalg.lstsq(columns, logs.reshape(count.size, -1), rcond=None)[0]
    return found[1], found[2]
