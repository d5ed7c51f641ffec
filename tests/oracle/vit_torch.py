"""The one-layer transformer with mean pooling of paper D in PyTorch, by autograd.

Written from the paper's definition alone, in its own shapes: `W_Q`, `W_K` are
`(embed, key_width)`, `W_V` is `(embed, value_width)` and `w_O` `(value_width,)`.
Samples are tokens x `(samples, length, embed)` and labels y `(samples,)`.
"""

from typing import NamedTuple

import numpy as np
import torch

Arrays = dict[str, np.ndarray]
Tensors = dict[str, torch.Tensor]


def draw_weights(
    *, embed: int, key_width: int, value_width: int, divisor: float = 16.0, seed: int
) -> Arrays:
    """`torch.nn.Linear`'s own initial weights over a divisor, without biases.

    A layer's weight is `(out, in)`, uniform on ±1/√in.
    """
    torch.manual_seed(seed)
    shapes = {
        "W_Q": (embed, key_width),
        "W_K": (embed, key_width),
        "W_V": (embed, value_width),
        "w_O": (value_width, 1),
    }
    made = {}
    for name, (fan_in, fan_out) in shapes.items():
        layer = torch.nn.Linear(fan_in, fan_out, bias=False, dtype=torch.float64)
        weight = layer.weight.detach().T / divisor
        made[name] = np.ascontiguousarray(weight.numpy())
    made["w_O"] = made["w_O"][:, 0]
    return made


def scores(weights: Tensors, x: torch.Tensor) -> torch.Tensor:
    """`x_l W_Q W_Kᵀ x_j`, `(samples, queries, keys)`."""
    return (x @ weights["W_Q"]) @ (x @ weights["W_K"]).transpose(1, 2)


def values(weights: Tensors, x: torch.Tensor) -> torch.Tensor:
    """`x_j W_V w_O`, `(samples, keys)`."""
    return (x @ weights["W_V"]) @ weights["w_O"]


def output(weights: Tensors, x: torch.Tensor) -> torch.Tensor:
    """f = (1/M) Σ_l softmax(x_l W_Q W_Kᵀ Xᵀ) X W_V w_O."""
    attention = torch.softmax(scores(weights, x), dim=-1)
    return torch.einsum("nlj,nj->nl", attention, values(weights, x)).mean(dim=1)


def mean_loss(weights: Tensors, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The mean logistic loss."""
    return losses(output(weights, x), y).mean()


def losses(found: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The logistic loss of each output."""
    return torch.nn.functional.softplus(-y * found)


class Course(NamedTuple):
    """A training run at each of its steps."""

    loss: np.ndarray
    score: np.ndarray
    value: np.ndarray
    test_loss: np.ndarray
    test_output: np.ndarray
    weights: Arrays


def train(
    weights: Arrays,
    samples: tuple[np.ndarray, np.ndarray],
    tests: tuple[np.ndarray, np.ndarray],
    *,
    rate: float,
    steps: int,
    trained: bool,
    target: float = 0.0,
) -> Course:
    """Full-batch gradient descent for a number of steps, or until the loss is `target`.

    `trained` says whether `w_O` moves too.
    """
    state = {n: torch.tensor(w, dtype=torch.float64) for n, w in weights.items()}
    moving = [n for n in state if trained or n != "w_O"]
    x, y, other_x, other_y = (
        torch.tensor(a, dtype=torch.float64) for a in (*samples, *tests)
    )
    for name in moving:
        state[name].requires_grad_()
    update = torch.optim.SGD([state[n] for n in moving], lr=rate)
    rows = []
    for step in range(steps + 1):
        update.zero_grad()
        loss = mean_loss(state, x, y)
        with torch.no_grad():
            seen = (loss, scores(state, x), values(state, x))
            tested = output(state, other_x)
            rows.append([*seen, losses(tested, other_y).mean(), tested])
            rows[-1] = [entry.detach().numpy().copy() for entry in rows[-1]]
        if step == steps or loss.item() <= target:
            break
        loss.backward()
        update.step()
    last = {n: w.detach().numpy().copy() for n, w in state.items()}
    columns = [np.stack(column) for column in zip(*rows, strict=True)]
    return Course(*columns, weights=last)
