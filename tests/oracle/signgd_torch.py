"""The two-layer transformer of paper C in PyTorch, written from its definition.

Weights are `W_K`, `W_Q` `(heads, width, embed)` and `W_V` `(heads, 2, neurons, embed)`,
with class +1 before class −1; a head that is trained is `theta` `(heads, 2, neurons)`.
Samples are raw tokens x `(samples, length, embed)` and labels y `(samples,)`.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import torch

Arrays = dict[str, np.ndarray]
Tensors = dict[str, torch.Tensor]


def draw_weights(
    *, embed: int, width: int, neurons: int, scale: float, heads: int = 1, seed: int = 0
) -> Arrays:
    """Normal entries of standard deviation `scale`."""
    draw = np.random.default_rng(seed)
    shapes = {
        "W_K": (heads, width, embed),
        "W_Q": (heads, width, embed),
        "W_V": (heads, 2, neurons, embed),
    }
    return {name: scale * draw.standard_normal(s) for name, s in shapes.items()}


def fixed_head(weights: Arrays) -> np.ndarray:
    """The head 1/m_v for class +1 and −1/m_v for class −1."""
    heads, _, neurons, _ = weights["W_V"].shape
    return np.broadcast_to(
        np.array([1.0, -1.0])[:, None] / neurons, (heads, 2, neurons)
    ).copy()


def with_trained_head(weights: Arrays) -> Arrays:
    """The weights with a head that starts where the fixed one stays."""
    return {**weights, "theta": fixed_head(weights)}


def output(weights: Tensors, x: torch.Tensor) -> torch.Tensor:
    """f = Σ_heads Σ_l Σ_{j,r} θ_{j,r} w_{V,j,r} · X softmax(Xᵀ W_Kᵀ W_Q x_l)."""
    theta = weights.get("theta")
    if theta is None:
        arrays = {"W_V": weights["W_V"].detach().numpy()}
        theta = torch.tensor(fixed_head(arrays), dtype=x.dtype)
    total = torch.zeros(len(x), dtype=x.dtype)
    for head in range(len(weights["W_K"])):
        keys = x @ weights["W_K"][head].T
        queries = x @ weights["W_Q"][head].T
        attention = torch.softmax(queries @ keys.transpose(1, 2), dim=-1)
        read = (attention @ x).sum(dim=1)
        for j in range(2):
            total = total + (read @ weights["W_V"][head, j].T) @ theta[head, j]
    return total


def mean_loss(weights: Tensors, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The mean logistic loss."""
    return torch.nn.functional.softplus(-y * output(weights, x)).mean()


class SignDescent(torch.optim.Optimizer):
    """w ← w − rate · sgn(gradient), with sgn(0) = 0."""

    def __init__(self, parameters: Iterable[torch.Tensor], rate: float) -> None:
        super().__init__(parameters, {"rate": rate})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """One step."""
        assert closure is None
        for group in self.param_groups:
            for weight in group["params"]:
                weight -= group["rate"] * torch.sign(weight.grad)


class Course(NamedTuple):
    """A training run at its recorded steps: losses, and weights by name."""

    steps: np.ndarray
    loss: np.ndarray
    weights: Arrays


def gradients(
    weights: Arrays, x: np.ndarray, y: np.ndarray, dtype: torch.dtype = torch.float64
) -> Arrays:
    """Gradients of the mean loss by autograd."""
    state = _parameters(weights, dtype)
    loss = mean_loss(state, *_samples(x, y, dtype))
    found = torch.autograd.grad(loss, list(state.values()))
    return {n: g.numpy().copy() for n, g in zip(state, found, strict=True)}


def train(
    weights: Arrays,
    x: np.ndarray,
    y: np.ndarray,
    optimiser: Callable[[list[torch.Tensor]], torch.optim.Optimizer],
    *,
    steps: int,
    every: int = 1,
    dtype: torch.dtype = torch.float64,
) -> Course:
    """Full-batch training by autograd; `optimiser` takes the list of weights."""
    torch.set_num_threads(1)
    state = _parameters(weights, dtype)
    samples = _samples(x, y, dtype)
    update = optimiser(list(state.values()))
    losses: list[float] = []
    kept: dict[str, list[np.ndarray]] = {name: [] for name in state}
    for step in range(steps + 1):
        update.zero_grad()
        loss = mean_loss(state, *samples)
        if step % every == 0:
            losses.append(loss.item())
            for name, weight in state.items():
                kept[name].append(weight.detach().numpy().copy())
        loss.backward()
        update.step()
    return Course(
        np.arange(0, steps + 1, every),
        np.array(losses),
        {name: np.stack(rows) for name, rows in kept.items()},
    )


def judged(weights: Arrays, x: np.ndarray, y: np.ndarray) -> Arrays:
    """Mean loss and share of right signs on test samples, at every recorded step."""
    samples = _samples(x, y, torch.float64)
    rows = []
    for step in range(len(weights["W_K"])):
        state = {name: torch.tensor(w[step]) for name, w in weights.items()}
        right = (samples[1] * output(state, samples[0]) > 0).double().mean()
        rows.append((mean_loss(state, *samples).item(), right.item()))
    loss, share = np.array(rows).T
    return {"test_loss": loss, "test_accuracy": share}


def sign_descent(rate: float) -> Callable[[list[torch.Tensor]], torch.optim.Optimizer]:
    """SignGD, as `train` takes it."""
    return lambda weights: SignDescent(weights, rate)


def adam(
    rate: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-15
) -> Callable[[list[torch.Tensor]], torch.optim.Optimizer]:
    """PyTorch's own Adam, as `train` takes it."""
    return lambda weights: torch.optim.Adam(
        weights, lr=rate, betas=(float(beta1), float(beta2)), eps=epsilon
    )


def descent(rate: float) -> Callable[[list[torch.Tensor]], torch.optim.Optimizer]:
    """Gradient descent, as `train` takes it."""
    return lambda weights: torch.optim.SGD(weights, lr=rate)


def on_tokens(weights: Arrays, tokens: np.ndarray) -> Arrays:
    """What recorded weights make of tokens: key and query neurons, and the value.

    Leading axes, such as recorded steps, are kept.
    """
    theta = weights.get("theta")
    if theta is None:
        one = weights["W_V"].reshape(-1, *weights["W_V"].shape[-4:])[0]
        theta = fixed_head({"W_V": one})
    mean = np.einsum("...jr,...jrd->...d", theta, weights["W_V"])
    return {
        "key_neuron": weights["W_K"] @ tokens.T,
        "query_neuron": weights["W_Q"] @ tokens.T,
        "value": mean @ tokens.T,
    }


def _parameters(weights: Arrays, dtype: torch.dtype) -> Tensors:
    return {
        name: torch.tensor(w, dtype=dtype, requires_grad=True)
        for name, w in weights.items()
    }


def _samples(
    x: np.ndarray, y: np.ndarray, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor(x, dtype=dtype), torch.tensor(y, dtype=dtype)
