"""The one-layer transformer of paper E in PyTorch, token by token, by autograd.

Written from Section 3 of the paper and the order of draws in the published code (see
`attnflow.data.class_counts`): sequences are one-hot, classes are drawn by
`random`, tokens by `torch.multinomial`. Everything is in float64 but the draws.
"""

import math
import random
from typing import Any, NamedTuple

import numpy as np
import torch

BATCH, LENGTH = 128, 128


class Layout(NamedTuple):
    """Sequence classes over tokens 0 … M − 1: their tokens, queries and next tokens."""

    tokens: list[torch.Tensor]
    weights: list[torch.Tensor]
    query: list[int]
    following: list[int]
    size: int


def layout(queries: int, per_query: int) -> Layout:
    """Common tokens first, then distinct ones by class, queries, next tokens."""
    common, distinct, classes = 10, 10, queries * per_query
    first_query = common + distinct * classes
    raw = torch.cat([torch.ones(common), torch.linspace(0.1, 1.0, distinct)])
    class_tokens = common + torch.arange(distinct * classes).reshape(classes, distinct)
    return Layout(
        tokens=[torch.cat([torch.arange(common), tokens]) for tokens in class_tokens],
        weights=[raw / raw.sum() for _ in range(classes)],
        query=[first_query + n // per_query for n in range(classes)],
        following=[first_query + queries + n for n in range(classes)],
        size=first_query + queries + classes,
    )


class Run(NamedTuple):
    """Losses before each step, and both tables after each."""

    losses: np.ndarray
    values: np.ndarray
    scores: np.ndarray


def tables_of(parameters: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Y and Z, free or as products of plain weights."""
    if "Y" in parameters:
        return parameters["Y"], parameters["Z"]
    U = parameters["U"]
    Y = U @ parameters["W_V"].T @ U.T
    Z = U @ parameters["W_Q"] @ parameters["W_K"].T @ U.T / math.sqrt(U.shape[1])
    return Y, Z


def loss_of(
    Y: torch.Tensor,
    Z: torch.Tensor,
    x: torch.Tensor,
    label: torch.Tensor,
    residual: str,
) -> torch.Tensor:
    """Mean cross-entropy of sequences x (batch, T), whose last token is the query."""
    onehot = torch.nn.functional.one_hot(x, Y.shape[0]).to(Y.dtype)
    context, query = onehot[:, :-1], onehot[:, -1]
    b = torch.softmax((context @ (query @ Z)[:, :, None])[..., 0], dim=1)
    c = (b[:, None, :] @ context)[:, 0]
    if residual == "normalised":
        c = c / c.norm(dim=1, keepdim=True)
    if residual != "none":
        c = c + query
    f = c / c.norm(dim=1, keepdim=True)
    return torch.nn.functional.cross_entropy(f @ Y, label)


def draw(data: Layout, batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """One batch, sample by sample."""
    rows, labels = [], []
    for _ in range(batch):
        n = random.choice(range(len(data.query)))
        indices = torch.multinomial(data.weights[n], length - 1, replacement=True)
        rows.append([*data.tokens[n][indices].tolist(), data.query[n]])
        labels.append(data.following[n])
    return torch.tensor(rows), torch.tensor(labels)


def initial(data: Layout, *, zero: bool, weights: dict | None) -> dict[str, Any]:
    """Two layers, which draw their numbers in any case, or given weights."""
    layers = [torch.nn.Linear(data.size, data.size, bias=False) for _ in range(2)]
    start = {"Y": layers[0].weight.detach().T, "Z": layers[1].weight.detach()}
    start = {n: (0.0 if zero else 1.0) * w.double() for n, w in start.items()}
    if weights is not None:
        start = {n: torch.tensor(w, dtype=torch.float64) for n, w in weights.items()}
    return {n: w.clone().requires_grad_() for n, w in start.items()}


def optimiser_of(parameters: dict, rates: tuple[float, float], name: str) -> Any:
    """One rate for the scores, one for the values."""
    of_scores = [p for n, p in parameters.items() if n in ("Z", "W_Q", "W_K")]
    of_values = [p for n, p in parameters.items() if n in ("Y", "U", "W_V")]
    groups = [
        {"params": of_scores, "lr": rates[0]},
        {"params": of_values, "lr": rates[1]},
    ]
    if name == "adam":
        return torch.optim.Adam(groups)
    return torch.optim.SGD(groups, momentum=0.9)


def train(
    data: Layout,
    *,
    seed: int,
    steps: int,
    rates: tuple[float, float],
    optimiser: str = "momentum",
    zero: bool = False,
    residual: str = "none",
    weights: dict[str, np.ndarray] | None = None,
) -> Run:
    """Training as published; `rates` are those of Z and of Y."""
    before = random.getstate(), torch.get_rng_state()
    random.seed(seed)
    torch.manual_seed(seed + 2)
    try:
        parameters = initial(data, zero=zero, weights=weights)
        rule = optimiser_of(parameters, rates, optimiser)
        return _train(data, parameters, rule, steps, residual)
    finally:
        random.setstate(before[0])
        torch.set_rng_state(before[1])


def _train(data: Layout, parameters: dict, rule: Any, steps: int, residual: str) -> Run:
    losses, values, scores = [], [], []
    for _ in range(steps):
        x, label = draw(data, BATCH, LENGTH)
        rule.zero_grad()
        loss = loss_of(*tables_of(parameters), x, label, residual)
        loss.backward()
        rule.step()
        Y, Z = tables_of(parameters)
        losses.append(float(loss.detach()))
        values.append(Y.detach().numpy().copy())
        scores.append(Z.detach().numpy().copy())
    return Run(np.array(losses), np.array(values), np.array(scores))
