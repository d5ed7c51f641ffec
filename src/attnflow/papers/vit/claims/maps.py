"""Requests for Figure 1's map by reading of w_O and by noise, and its boundary."""

from __future__ import annotations

import numpy as np

from attnflow import schema
from attnflow.claims.statistics import Boundary, fit_boundary
from attnflow.papers.vit._types import Field
from attnflow.papers.vit.claims.evidence import FEW, PLAN, SOME
from attnflow.schema.declarations import Request
from attnflow.schema.libraries import xr

CUT = 0.2
"""The test loss at which Figure 1b cuts the map."""
CURVE = 1000.0
"""N · SNR² of the curve in Figure 1."""
READINGS = {
    "trained": "default16-trained",
    "undivided": "default-fixed",
    "unit": "unit-fixed",
    "literal": "default16-fixed",
}
# Where w_O is fixed at its smallest, a cell takes hundreds of steps: fewer cells.
FEW_CELLS = {"samples": (6, 12, 20), "snr_low": 4.0, "snr_count": 3}
SEEDS = {"trained": PLAN, "undivided": SOME, "unit": SOME, "literal": FEW}


def reading(name: str) -> dict[str, Request]:
    """Request for the map with one reading of w_O."""
    setting = {"readout": READINGS[name], **(FEW_CELLS if name == "literal" else {})}
    return {name: Request("map", setting, seeds=SEEDS[name])}


def noisy(sigma: float, length: int = 16) -> Request:
    """Request for the map around its boundary, with other noise or sample length."""
    setting: dict[str, Field] = {
        "samples": (8, 12, 16),
        "sigma_strong": sigma,
        "length": length,
        "snr_low": 1.4 * sigma,
        "snr_high": 3.6 * sigma,
        "snr_count": 12,
    }
    return Request("map", setting, seeds=FEW)


NOISES = {"2": noisy(2.0), "4": noisy(4.0), "8": noisy(8.0), "M=8": noisy(4.0, 8)}


def losses(run: xr.Dataset) -> np.ndarray:
    """Test losses, dims seed, samples and SNR."""
    return run["test_loss"].transpose("seed", "samples", "snr").values


def boundary(run: xr.Dataset) -> Boundary:
    """Where the mean test loss falls below the cut, with intervals over seeds."""
    return fit_boundary(
        run["samples"].values,
        run["snr"].values,
        losses(run),
        CUT,
        generator=np.random.default_rng(0),
    )


def control(run: xr.Dataset) -> np.ndarray:
    """N · SNR² of every cell."""
    return run["samples"].values[:, None] * run["snr"].values ** 2


def strong_control(run: xr.Dataset) -> np.ndarray:
    """N‖μ‖²/(σ̃_p² d) along the boundary, by N."""
    setting = schema.setting_of(run)
    ratio = setting["sigma_p"] / setting["sigma_strong"]
    return run["samples"].values * (boundary(run).places * ratio) ** 2
