"""Mean size of Adam's updates of W_K and W_Q, by β2."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from attnflow.papers.signgd._types import Fields
from attnflow.papers.signgd.settings import Train
from attnflow.papers.signgd.sizes import sizes
from attnflow.papers.signgd.systems.weights_along import weights_along

WEIGHTS = {"key": "W_K", "query": "W_Q"}


def updates(setting: Fields, seeds: Sequence[int]) -> xr.Dataset:
    """`mean_update`: mean |update| over covered coordinates, in learning rates.

    SignGD has 1. Dims `seed`, `beta2`, `step`, `side`.
    """
    marks = list(range(0, setting["steps"], setting["every"]))
    betas = setting["betas2"]
    means = [
        [_of_run(_plan(setting, beta2), seed, marks) for beta2 in betas]
        for seed in seeds
    ]
    return xr.Dataset(
        {"mean_update": (("seed", "beta2", "step", "side"), np.array(means))},
        {"beta2": list(betas), "step": marks, "side": list(WEIGHTS)},
    )


def _plan(setting: Fields, beta2: float) -> Train:
    return Train(
        row=setting["row"],
        embed=setting["embed"],
        rule="adam",
        beta1=setting["beta1"],
        beta2=beta2,
        epsilon=setting["epsilon"],
    )


def _of_run(plan: Train, seed: int, marks: list[int]) -> np.ndarray:
    """`(steps, sides)`: the update from each mark to the step after it."""
    steps = tuple(sorted({*marks, *(mark + 1 for mark in marks)}))
    along = weights_along(plan, seed, steps)
    before = np.searchsorted(steps, marks)
    magnitudes = [
        np.abs(np.diff(along.states["scores"][name], axis=0)[before])
        for name in WEIGHTS.values()
    ]
    means = np.stack([step.mean(axis=(1, 2, 3)) for step in magnitudes], axis=-1)
    return means / sizes(plan).learning_rate
