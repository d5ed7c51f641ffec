"""Trajectories of the authors' program, and the same run of ours."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from selection.experiments import sequences, train
from selection.settings import Selection

import attnflow as af


@dataclass(frozen=True)
class GivenTask(af.Task):
    """The samples of a file."""

    path: str

    def sequences(self, *, key: object = None) -> af.Sequences:
        """Training samples."""
        f = np.load(self.path)
        return sequences(f["x_train"], f["y_train"], f["nu"], f["noisy_train"])

    def test_sequences(self, *, key: object = None) -> af.Sequences:
        """Test samples."""
        f = np.load(self.path)
        return sequences(f["x_test"], f["y_test"], f["nu"], 0 * f["y_test"])


def compare(path: Path) -> dict[str, float]:
    """The largest difference of each recorded series from that of the file."""
    f = np.load(path)
    embed, steps = f["p0"].size, int(f["num_steps"])
    setting = Selection(
        embed=embed, learning_rate=float(f["learning_rate"]), steps=steps
    )
    plan = train(setting, GivenTask(str(path)))
    plan = replace(plan, observables=(*plan.observables, "output", "test_attention"))
    keys = np.pad(f["W0"].T, ((0, 0), (0, 1)))
    queries = np.zeros_like(keys)
    queries[:, -1] = f["p0"]
    weights = {"W_K": keys[None], "W_Q": queries[None], "w": np.zeros((1, embed + 1))}
    run = af.run(plan, weights=weights, at=range(steps + 1)).isel(seed=0)
    rows = run.sel(time=f["record_steps"])
    theirs = {
        "loss": (run["loss"], f["loss"]),
        "accuracy": (rows["accuracy"], f["train_accuracy"]),
        "output": (rows["output"], f["train_output"]),
        "attention": (rows["attention"][:, :, 0, 0], f["attention"]),
        "test_loss": (rows["test_loss"], f["test_loss"]),
        "test_accuracy": (rows["test_accuracy"], f["test_accuracy"]),
        "test_attention": (
            rows["test_attention"].mean("test_sample")[:, 0, 0],
            f["test_attention_mean"],
        ),
    }
    return {name: float(np.abs(a.values - b).max()) for name, (a, b) in theirs.items()}
