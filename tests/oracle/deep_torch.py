"""Deep networks in PyTorch, written from their definitions, and a loop of training."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

Tree = dict[str, dict[str, Any]]


def as_tensors(weights: Tree) -> dict[str, dict[str, torch.Tensor]]:
    return {
        part: {name: torch.tensor(w, requires_grad=True) for name, w in of.items()}
        for part, of in weights.items()
    }


def stack_output(network: Any, weights: Any, x: torch.Tensor) -> torch.Tensor:
    """One sample and one head after the other: slow, and near to the definition."""
    outputs = []
    for sample in x:
        hidden = sample
        for layer in range(network.blocks):
            hidden = _block(network, weights, layer, hidden)
        total = torch.zeros((), dtype=x.dtype)
        for head, banks in enumerate(weights["values"]["readout"]):
            paid = _paid(weights, network.blocks, head, hidden)
            for sign, bank in zip((1, -1), banks, strict=True):
                total = total + sign * (paid @ hidden @ bank.T).sum() / len(bank)
        outputs.append(total)
    return torch.stack(outputs)


def _paid(weights: Any, layer: int, head: int, hidden: torch.Tensor) -> torch.Tensor:
    key, query = (weights["scores"][n][layer, head] for n in ("W_K", "W_Q"))
    return torch.softmax((hidden @ query.T) @ (hidden @ key.T).T, dim=-1)


def _block(
    network: Any, weights: Any, layer: int, hidden: torch.Tensor
) -> torch.Tensor:
    own = weights["values"]
    added = torch.zeros_like(hidden)
    for head in range(network.heads):
        value = own["W_V"][layer, head]
        if "W_O" in own:
            value = own["W_O"][layer, head] @ value
        added = added + _paid(weights, layer, head, hidden) @ hidden @ value.T
    hidden = network.factor * added + (hidden if network.residual else 0)
    if "W_1" in own:
        grown = torch.relu(hidden @ own["W_1"][layer].T) @ own["W_2"][layer].T
        hidden = network.factor * grown + (hidden if network.residual else 0)
    return hidden


def logistic(output: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.softplus(-label * output).mean()


def train(
    output: Callable[[Any, torch.Tensor], torch.Tensor],
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    weights: Tree,
    batches: list[tuple[np.ndarray, np.ndarray]],
    step: Callable[[list[torch.Tensor]], Callable[[], None]],
) -> tuple[Tree, list[float]]:
    """Weights after a step on each batch, and the losses before each."""
    state = as_tensors(weights)
    leaves = [w for of in state.values() for w in of.values()]
    advance = step(leaves)
    losses = []
    for tokens, label in batches:
        for leaf in leaves:
            leaf.grad = None
        value = loss(output(state, torch.tensor(tokens)), torch.tensor(label))
        value.backward()
        losses.append(value.item())
        advance()
    end = {
        part: {n: w.detach().numpy() for n, w in of.items()}
        for part, of in state.items()
    }
    return end, losses


def signs(rate: float) -> Callable[[list[torch.Tensor]], Callable[[], None]]:
    def begin(leaves: list[torch.Tensor]) -> Callable[[], None]:
        @torch.no_grad()
        def advance() -> None:
            for leaf in leaves:
                assert leaf.grad is not None
                leaf -= rate * torch.sign(leaf.grad)

        return advance

    return begin


def descent(
    rate: float, clip: float | None = None
) -> Callable[[list[torch.Tensor]], Callable[[], None]]:
    def begin(leaves: list[torch.Tensor]) -> Callable[[], None]:
        optimiser = torch.optim.SGD(leaves, lr=rate)

        def advance() -> None:
            if clip is not None:
                torch.nn.utils.clip_grad_norm_(leaves, clip)
            optimiser.step()

        return advance

    return begin


def adam(rate: float) -> Callable[[list[torch.Tensor]], Callable[[], None]]:
    def begin(leaves: list[torch.Tensor]) -> Callable[[], None]:
        return torch.optim.Adam(leaves, lr=rate).step

    return begin
