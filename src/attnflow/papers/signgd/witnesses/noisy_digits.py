"""The two-layer transformer on noisy digits, in PyTorch alone.

Appendix B.1, with pixels standardised by MNIST's mean and standard deviation: SignGD
and Adam for 200 steps at 0.01, gradient descent for 500 steps at 1 (λ = 0.2) or 0.1
(λ = 1). $ATTNFLOW_DATA is the directory that has MNIST.
"""

import gzip
import os
from functools import cache
from pathlib import Path

import numpy as np
import torch

MEAN, DEVIATION = 0.1307 * 255, 0.3081 * 255


@cache
def read(name):
    """An array of an idx file."""
    data = gzip.decompress(
        (Path(os.environ["ATTNFLOW_DATA"]) / "mnist" / name).read_bytes()
    )
    dims = np.frombuffer(data, ">i4", data[3], 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(dims)


def samples(split, snr, rng, count=None):
    """Patches and labels of 3 and 7, with noise on the outer seven pixels."""
    images, digits = (
        read(f"{split}-{n}-ubyte.gz") for n in ("images-idx3", "labels-idx1")
    )
    rows = rng.permutation(np.flatnonzero((digits == 3) | (digits == 7)))[:count]
    shown = snr * (images[rows] - MEAN) / DEVIATION
    frame = np.ones((28, 28), bool)
    frame[7:-7, 7:-7] = False
    shown[:, frame] += (1 - snr) * rng.normal(size=(len(rows), frame.sum()))
    patches = shown.reshape(-1, 4, 7, 4, 7).swapaxes(2, 3).reshape(-1, 16, 49)
    labels = np.where(digits[rows] == 3, 1.0, -1.0)
    return [torch.tensor(part, dtype=torch.float32) for part in (patches, labels)]


def loss(weights, tokens, labels):
    """The mean logistic loss of f = F_1 − F_−1."""
    query, key, value = weights
    scores = (tokens @ query.T) @ (tokens @ key.T).mT
    attended = torch.softmax(scores, -1).sum(1, keepdim=True) @ tokens
    output = attended.squeeze(1) @ (value[0] - value[1]).mean(0)
    return torch.nn.functional.softplus(-labels * output).mean()


def train(snr, rule, steps, rate, seed=0):
    """Training and test loss at the end."""
    rng = np.random.default_rng(seed)
    weights = [
        torch.tensor(
            0.1 / 7 * rng.normal(size=size), dtype=torch.float32, requires_grad=True
        )
        for size in ((10, 49), (10, 49), (2, 10, 49))
    ]
    training, test = samples("train", snr, rng, 2000), samples("t10k", snr, rng)
    optimiser = {"adam": torch.optim.Adam, "gd": torch.optim.SGD}.get(rule)
    # SignGD is gradient descent on the signs of gradients.
    optimiser = (optimiser or torch.optim.SGD)(weights, lr=rate)
    for _ in range(steps):
        gradients = torch.autograd.grad(loss(weights, *training), weights)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = gradient.sign() if rule == "signgd" else gradient
        optimiser.step()
    with torch.no_grad():
        return [loss(weights, *part).item() for part in (training, test)]


# Runs of SignGD differ by tens of percents: powers of two are what they agree on.
signs = np.mean([train(0.2, "signgd", 200, 0.01, seed) for seed in (0, 1)], axis=0)
noisy, clean = train(0.2, "gd", 500, 1.0)[1], train(1.0, "gd", 500, 0.1)[1]
adam = train(1.0, "adam", 200, 0.01)[1]
print(f"SignGD's test loss over descent's, log2 = {np.log2(signs[1] / noisy):.0f}")
print(f"SignGD's training loss over 0.05, log2 = {np.log2(signs[0] / 0.05):.0f}")
print(f"Adam's test loss over descent's, log2 = {np.log2(adam / clean):.0f}")
