"""Benchmarks of `scansnap`: a panel of Figure 6, data included.

The rivals take the first seed of the first of the panel's sixteen cells.
"""

import random
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from attnflow.bench.case import Case, Rows

SEEDS = tuple(range(1, 11))
RATES, RATIOS = (0.5, 1.0, 2.0, 3.0), (1.0, 2.0, 5.0, 10.0)
STEPS, BATCH, LENGTH = 100, 128, 128


def _case(id: str, queries: int, *, counts: bool = False) -> Case:
    how = "on counts of tokens" if counts else "on one-hot sequences"
    return Case(
        paper="scansnap",
        id=id,
        size=f"{queries} queries, 160 runs of {STEPS} steps",
        ours=partial(_ours, queries),
        weights=None,
        torch=partial(_torch, queries, counts=counts) if find_spec("torch") else None,
        rival=f"autograd and SGD in PyTorch {how}, samples drawn one by one",
        # The layers' own bound and the rival's draws are in float32.
        tolerance=1e-5,
        share=1 / (len(SEEDS) * len(RATES) * len(RATIOS)),
        repeats=3,
    )


CASES: dict[str, Callable[[], Case]] = {
    "figure6-1": partial(_case, "figure6-1", 1),
    "figure6-10": partial(_case, "figure6-10", 10),
    "figure6-10-counts": partial(_case, "figure6-10-counts", 10, counts=True),
}


def _ours(queries: int) -> Rows:
    """The whole panel; entropies by cell and seed, in that order."""
    from attnflow.experiment import run
    from attnflow.experiment.next_token import forget_draws
    from attnflow.papers.scansnap.experiments import entropy_grid
    from attnflow.papers.scansnap.settings import EntropyGrid

    # Each repeat draws its own data.
    forget_draws()
    setting = EntropyGrid(
        queries=(queries,), score_rates=RATES, ratios=RATIOS, stream="published"
    )
    found = run(entropy_grid(setting), seeds=SEEDS)["mean_distinct_entropy"]
    return {"entropy": found.values[:, 0].transpose(1, 2, 0).ravel()}


def _torch(queries: int, *, counts: bool) -> Rows:
    """One run as its authors would write it, in float64."""
    import torch

    torch.set_num_threads(1)
    classes = 2 * queries
    size = 10 + 11 * classes + queries
    raw = torch.cat([torch.ones(10), torch.linspace(0.1, 1.0, 10)])
    weights = raw / raw.sum()
    own = 10 + torch.arange(10 * classes).reshape(classes, 10)
    tokens = [torch.cat([torch.arange(10), mine]) for mine in own]
    random.seed(SEEDS[0])
    torch.manual_seed(SEEDS[0] + 2)
    layers = [torch.nn.Linear(size, size, bias=False).double() for _ in range(2)]
    Y, Z = layers
    rate, ratio = RATES[0], RATIOS[0]
    groups = [
        {"params": Y.parameters(), "lr": rate * ratio},
        {"params": Z.parameters(), "lr": rate},
    ]
    rule = torch.optim.SGD(groups, lr=rate, momentum=0.9)
    for _ in range(STEPS):
        x, label = _batch(torch, tokens, weights, classes, size)
        rule.zero_grad()
        read = _read_counts if counts else _read_sequences
        combined = read(torch, Z.weight, x, size)
        logits = Y(combined / combined.norm(dim=1, keepdim=True))
        torch.nn.functional.cross_entropy(logits, label).backward()
        rule.step()
    return {"entropy": np.array([_entropy(Z.weight.detach(), tokens, weights, size)])}


def _batch(
    torch: Any, tokens: list, weights: Any, classes: int, size: int
) -> tuple[Any, Any]:
    first = size - classes - classes // 2
    x = torch.empty(BATCH, LENGTH, dtype=torch.long)
    label = torch.empty(BATCH, dtype=torch.long)
    for i in range(BATCH):
        n = random.choice(range(classes))
        picked = torch.multinomial(weights, LENGTH - 1, replacement=True)
        x[i, :-1] = tokens[n][picked]
        x[i, -1] = first + n // 2
        label[i] = size - classes + n
    return x, label


def _read_sequences(torch: Any, Z: Any, x: Any, size: int) -> Any:
    onehot = torch.nn.functional.one_hot(x, size).double()
    context, asked = onehot[:, :-1], onehot[:, -1]
    scores = torch.bmm(context @ Z.T, asked[:, :, None])[..., 0]
    return torch.bmm(torch.softmax(scores, dim=1)[:, None], context)[:, 0]


def _read_counts(torch: Any, Z: Any, x: Any, size: int) -> Any:
    counts = torch.zeros(len(x), size, dtype=torch.float64)
    counts.scatter_add_(1, x[:, :-1], torch.ones(len(x), LENGTH - 1).double())
    return torch.softmax(Z[x[:, -1]] + torch.log(counts), dim=1)


def _entropy(Z: Any, tokens: list, weights: Any, size: int) -> float:
    classes, first = len(tokens), size - len(tokens) - len(tokens) // 2
    found = []
    for n in range(classes):
        mass = weights[10:].double() * Z[first + n // 2, tokens[n][10:]].exp()
        share = (mass / mass.sum()).numpy()
        found.append(-(share * np.log(share)).sum())
    return float(np.mean(found))
