"""A plain PyTorch training loop, seen by attnflow and judged by a paper's claims.

    python examples/observe_pytorch.py

The model of `signgd` is written as anybody would write it, and trained by sign gradient
descent in float64 on the paper's data. Of attnflow the loop takes the samples, the
initial weights and the steps at which to look; `observe` sees its state dicts while it
runs, so that no checkpoint is kept. Then the run is compared with attnflow's own from
the same weights, and judged.

At the paper's sizes (45 s of one core) the two are equal to rounding up to step 530.
There attention is saturated to the last digit, softmax's slope is exactly zero in
float64, and so are signs that the exact run still knows: at the end PyTorch's queries
are 11% and its keys 13% away, while values and the training loss agree to 3e-13. So
the claims about the loss hold of both, and what a paper says of late keys and queries
cannot be read off such a loop.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import xarray as xr

import attnflow as af

EXPERIMENT = "signgd/setting-a"
NAMES = {
    "W_K": "key.weight",
    "W_Q": "query.weight",
    "W_V": ["plus.weight", "minus.weight"],
}
CLAIMS = ("C-R-overlap", "C-T3.2-lin")


class Transformer(torch.nn.Module):
    """One layer of attention, and a bank of linear neurons for either class."""

    def __init__(self, embed: int, key_neurons: int, value_neurons: int):
        super().__init__()
        self.key = torch.nn.Linear(embed, key_neurons, bias=False)
        self.query = torch.nn.Linear(embed, key_neurons, bias=False)
        self.plus = torch.nn.Linear(embed, value_neurons, bias=False)
        self.minus = torch.nn.Linear(embed, value_neurons, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The output for samples x, `(samples, length, embed)`."""
        scores = self.query(x) @ self.key(x).transpose(1, 2)
        read = torch.softmax(scores, dim=-1) @ x
        return (self.plus(read) - self.minus(read)).mean(dim=-1).sum(dim=1)


def build(weights: dict[str, np.ndarray]) -> Transformer:
    """The model with given initial weights, in float64."""
    _, key_neurons, embed = weights["W_K"].shape
    model = Transformer(embed, key_neurons, weights["W_V"].shape[2]).double()
    plus, minus = weights["W_V"][0]
    state = {
        "key.weight": weights["W_K"][0],
        "query.weight": weights["W_Q"][0],
        "plus.weight": plus,
        "minus.weight": minus,
    }
    model.load_state_dict({name: torch.tensor(w) for name, w in state.items()})
    return model


def training(
    model: Transformer, samples: dict[str, np.ndarray], at: np.ndarray, *, rate: float
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Train by SignGD; give the state dict at those steps."""
    x = torch.tensor(samples["tokens"][samples["key"]])
    y = torch.tensor(samples["label"])
    looks = set(at.astype(int).tolist())
    for step in range(max(looks) + 1):
        if step in looks:
            yield step, model.state_dict()
        model.zero_grad()
        torch.nn.functional.softplus(-y * model(x)).mean().backward()
        with torch.no_grad():
            for weight in model.parameters():
                assert weight.grad is not None
                weight -= rate * weight.grad.sign()


def observed(seed: int = 0, rate: float = 1e-4, **setting: Any) -> xr.Dataset:
    """PyTorch's run of the experiment, as attnflow sees it."""
    torch.set_num_threads(1)
    drawn: dict[str, Any] = {"seed": seed, **setting}
    loop = training(
        build(af.initial_weights(EXPERIMENT, **drawn)),
        af.samples(EXPERIMENT, **drawn),
        af.times(EXPERIMENT, **setting),
        rate=rate,
    )
    return af.observe(EXPERIMENT, [loop], names=NAMES, seeds=[seed], **setting)


def gap(theirs: xr.Dataset, ours: xr.Dataset, name: str) -> xr.DataArray:
    """The largest difference at each step, over the largest entry there."""
    over = [dim for dim in ours[name].dims if dim != "time"]
    return abs(theirs[name] - ours[name]).max(over) / abs(ours[name]).max(over)


def parting(theirs: xr.Dataset, ours: xr.Dataset, tolerance: float = 1e-12) -> float:
    """The last step up to which keys and queries are equal to rounding."""
    apart = [gap(theirs, ours, name) for name in ("key_neuron", "query_neuron")]
    beyond = np.flatnonzero(np.maximum(*apart).values > tolerance)
    last = beyond[0] - 1 if len(beyond) else ours.sizes["time"] - 1
    return float(ours["time"][last])


def main() -> None:
    """Train, compare and judge at the paper's sizes."""
    theirs = observed()
    ours = af.run(EXPERIMENT)
    print(f"equal to rounding up to step {parting(theirs, ours):g}")
    for name in ("loss", "value", "key_neuron", "query_neuron"):
        print(f"apart at the end: {name:12} {float(gap(theirs, ours, name)[-1]):.2g}")
    print(af.paper("signgd").claims.verify(*CLAIMS, run=theirs))


if __name__ == "__main__":
    sys.exit(main())
