"""Trajectories of the authors' program, and the same runs of ours."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from maxmargin.experiments import sequences, train
from maxmargin.settings import Prompt

import attnflow as af


@dataclass(frozen=True)
class GivenTask(af.Task):
    """The samples of a file: keys are `W_queryᵀ W_key x`, values `w · x`."""

    path: str

    def sequences(self, *, key: object = None) -> af.Sequences:
        """The samples."""
        f = np.load(self.path)
        keys = f["x"] @ f["W_key"].T @ f["W_query"]
        return sequences(keys, f["x"] @ f["w"], f["y"])


def compare(path: Path) -> dict[str, float]:
    """The largest differences of losses, attention and scores from those of the file.

    Normalised descent is held to the file's extended precision: in float64 the authors'
    own way of writing the force cancels.
    """
    f, found = np.load(path), {}
    task, steps = GivenTask(str(path)), int(f["steps"])
    seen = f["x"] @ f["W_key"].T @ f["W_query"]
    epsilon, normalised = float(f["ngd_epsilon"]), "normalised-gd"
    rules = {"gd": ("gd", float(f["lr_gd"]), 0.0)}
    rules["ngd"] = (normalised, float(f["lr_ngd"]), epsilon)
    for name, (rule, rate, added) in rules.items():
        path_of = f["gd_p"] if name == "gd" else f["ngd_p_exact"]
        setting = Prompt(rule=rule, learning_rate=rate, epsilon=added, steps=steps)
        plan = train(setting, task)
        for start, first in enumerate(f["p0"]):
            axes = len(first) + 1
            matrix = np.zeros((1, axes, axes))
            matrix[0, :-1, -1] = first
            weights = {"W_KQ": matrix, "w": np.zeros((1, axes))}
            run = af.run(plan, weights=weights, at=range(steps + 1)).isel(seed=0)
            scores = np.einsum("ntd,sd->snt", seen, path_of[start])
            late = run.sel(time=f["attention_steps"])["attention"][:, :, 0, 0, 0]
            pairs = {
                "loss": (run["loss"], f[f"{name}_loss"][start]),
                "score": (run["pair_score"][:, :, 0, 0], scores),
                "attention": (late, f[f"{name}_attention"][start]),
            }
            for what, (ours, theirs) in pairs.items():
                error = float(np.abs(ours.values - theirs).max())
                found[f"{name} {what}"] = max(error, found.get(f"{name} {what}", 0.0))
    return found
