"""What `vit` computes without training."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from attnflow.data.deep_samples import SIDE, NoisyDigits, at_ratio
from attnflow.papers.vit.deep_experiments import ALL

DIMS = ("seed", "row", "column")


def digit_image(setting: Mapping[str, Any], seeds: list[int]) -> xr.Dataset:
    """An image `shown` to a network, and the `digit` and the `noise` it is made of."""
    factors = {
        "shown": at_ratio(setting["snr"]),
        "digit": (1.0, 0.0),
        "noise": (0.0, 1.0),
    }
    found = {
        name: (DIMS, np.stack([_image(setting, seed, pair) for seed in seeds]))
        for name, pair in factors.items()
    }
    places = np.arange(SIDE)
    return xr.Dataset(found, {"seed": seeds, "row": places, "column": places})


def _image(
    setting: Mapping[str, Any], seed: int, factors: tuple[float, float]
) -> np.ndarray:
    task = NoisyDigits(
        samples=setting["place"] + 1,
        digits=ALL,
        factors=factors,
        border=setting["border"],
        patch=1,
    )
    return task.training(seed).tokens[-1].reshape(SIDE, SIDE)
