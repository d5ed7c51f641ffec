"""Training images of Figures 2a and 2b, computed without training."""

from __future__ import annotations

import numpy as np

from attnflow.data.deep_samples import SIDE, NoisyDigits, at_ratio
from attnflow.papers.vit._types import Fields
from attnflow.papers.vit.deep_experiments import ALL
from attnflow.schema.installation import xr

DIMS = ("seed", "row", "column")


def digit_image(setting: Fields, seeds: list[int]) -> xr.Dataset:
    """A training image (`shown`), its `digit` and its `noise`, by seed."""
    factors = {
        "shown": at_ratio(setting["snr"]),
        "digit": (1.0, 0.0),
        "noise": (0.0, 1.0),
    }
    images = {
        name: (DIMS, np.stack([_image(setting, seed, pair) for seed in seeds]))
        for name, pair in factors.items()
    }
    pixels = np.arange(SIDE)
    return xr.Dataset(images, {"seed": seeds, "row": pixels, "column": pixels})


def _image(setting: Fields, seed: int, factors: tuple[float, float]) -> np.ndarray:
    task = NoisyDigits(
        samples=setting["place"] + 1,
        digits=ALL,
        factors=factors,
        border=setting["border"],
        patch=1,
    )
    return task.training(seed).tokens[-1].reshape(SIDE, SIDE)
