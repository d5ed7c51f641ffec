"""Benign and harmful token selection over signal and label noise: one command.

    python phase_diagram.py [FILE.png]

A map of the accuracy on fresh samples after training has fitted the labels, with the
boundary at which one fresh sample in ten is wrong.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import attnflow as af

SIGNALS = "1..16:9:log"
NOISE = [0.0, 0.1, 0.2, 0.3, 0.4]
LEVEL = 0.9


def compute() -> object:
    """Final accuracies over the grid, the mean of two seeds."""
    grid = {"signal": SIGNALS, "noise_ratio": NOISE, "steps": 2000, "test_samples": 100}
    measure = ["test_accuracy", "accuracy"]
    swept = af.sweep("selection/small", grid, measure=measure, seeds=2, workers=1)
    return swept.mean("seed")


def draw(table: object, path: str) -> None:
    """Accuracy on fresh samples, the boundary, and where training does not fit."""
    x, y = table["signal"].values, table["noise_ratio"].values
    test = table["test_accuracy"].transpose("noise_ratio", "signal").values
    fit = table["accuracy"].transpose("noise_ratio", "signal").values
    figure, axes = plt.subplots(figsize=(5.4, 3.6), layout="constrained")
    shown = axes.pcolormesh(x, y, test, vmin=0.5, vmax=1, cmap="viridis")
    axes.contour(x, y, test, levels=[LEVEL], colors="white", linewidths=1.5)
    unfit = np.argwhere(fit < 1)
    axes.plot(x[unfit[:, 1]], y[unfit[:, 0]], "x", color="white", ms=5)
    axes.set(xscale="log", xlabel="norm of the signal", ylabel="share of wrong labels")
    axes.set_title("Benign and harmful token selection, d = 400, n = 20", fontsize=10)
    figure.colorbar(shown, label="accuracy on fresh samples")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    draw(compute(), sys.argv[1] if len(sys.argv) > 1 else "phase-diagram.png")
