"""Trajectories of the authors' program, and the same runs of ours."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from linear_icl.experiments import sequences, train
from linear_icl.settings import Linear

import attnflow as af


@dataclass(frozen=True)
class GivenTask(af.Task):
    """The prompts of a file."""

    path: str

    def sequences(self, *, key: object = None) -> af.Sequences:
        """The prompts."""
        f = np.load(self.path)
        return sequences(f["prompts"], f["target"])


def compare(path: Path) -> dict[str, float]:
    """The largest differences of losses and weights from those of the file."""
    f, found = np.load(path), {}
    for variant in [name.removesuffix("_loss") for name in f if name.endswith("_loss")]:
        heads, steps = int(f[f"{variant}_heads"]), len(f[f"{variant}_loss"]) - 1
        weights = {"w": f[f"{variant}_value"][0]}
        if variant == "merged":
            rank, weights["W_KQ"] = 0, f["merged_kq"][0].swapaxes(-1, -2)
        else:
            rank = f[f"{variant}_key"].shape[2]
            weights |= {"W_K": f[f"{variant}_key"][0], "W_Q": f[f"{variant}_query"][0]}
        rate = float(f[f"{variant}_learning_rate"])
        dimension = f["prompts"].shape[-1] - 1
        setting = Linear(
            dimension, heads=heads, rank=rank, init=1.0, learning_rate=rate, steps=steps
        )
        plan = train(setting, GivenTask(str(path)))
        run = af.run(plan, weights=weights, at=range(steps + 1), lift=True).isel(seed=0)
        error = np.abs(run["loss"].values - f[f"{variant}_loss"]).max()
        last = np.abs(run["w_final"].values - f[f"{variant}_value"][-1]).max()
        found |= {f"{variant} loss": float(error), f"{variant} last value": float(last)}
    return found
