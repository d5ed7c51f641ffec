"""Benchmarks of `scansnap`: Figure 6, data included, by panel and as a whole.

Ours are all runs: ten seeds of sixteen cells for each panel, drawn once for a seed. The
rivals are loops in PyTorch that draw, train and measure one run at a time. They take
the first seed of the first cell of each panel, and their times are scaled to all.

| rival | what it reads | how it draws |
|---|---|---|
| `sequences` | one-hot sequences, as the authors wrote it | sample by sample |
| `counts` | counts of tokens, from which attention follows | sample by sample |
| `batches` | counts of tokens | all samples of a step at once |
"""

import random
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from attnflow.cli.benchmarks.harness import Case, Rows

if TYPE_CHECKING:
    from torch import Tensor

PANELS = (1, 3, 5, 10)
SEEDS = tuple(range(1, 11))
RATES, RATIOS = (0.5, 1.0, 2.0, 3.0), (1.0, 2.0, 5.0, 10.0)
STEPS, BATCH, LENGTH = 100, 128, 128
RUNS = len(SEEDS) * len(RATES) * len(RATIOS)
Rival = Literal["sequences", "counts", "batches"]
RIVALS: dict[Rival, str] = {
    "sequences": "on one-hot sequences, samples drawn one by one",
    "counts": "on counts of tokens, samples drawn one by one",
    "batches": "on counts of tokens, a step's samples drawn at once",
}


def _case(panels: tuple[int, ...], rival: Rival) -> Case:
    queries = " or ".join(map(str, panels))
    return Case(
        size=f"{queries} queries, {RUNS * len(panels)} runs of {STEPS} steps",
        ours=partial(_ours, panels),
        torch=partial(_torch, panels, rival),
        rival=f"autograd and SGD in PyTorch {RIVALS[rival]}",
        # The layers' own bound and the rivals' draws are in float32.
        tolerance=1e-5,
        share=1 / RUNS,
        repeats=3,
    )


CASES: dict[str, Callable[[], Case]] = {
    "figure6": partial(_case, PANELS, "sequences"),
    "figure6-counts": partial(_case, PANELS, "counts"),
    "figure6-batches": partial(_case, PANELS, "batches"),
    "figure6-1": partial(_case, (1,), "sequences"),
    "figure6-1-counts": partial(_case, (1,), "counts"),
    "figure6-10": partial(_case, (10,), "sequences"),
    "figure6-10-counts": partial(_case, (10,), "counts"),
}


def _ours(panels: tuple[int, ...]) -> Rows:
    """Whole panels; entropies by cell and seed, in that order."""
    from attnflow.experiments import run
    from attnflow.experiments.next_token import forget_draws
    from attnflow.papers.scansnap.experiments import entropy_grid
    from attnflow.papers.scansnap.settings import EntropyGrid

    # Each repeat draws its own data.
    forget_draws()
    setting = EntropyGrid(
        queries=panels, score_rates=RATES, ratios=RATIOS, stream="published"
    )
    entropy = run(entropy_grid(setting), seeds=SEEDS)["mean_distinct_entropy"]
    rows = entropy.values.transpose(1, 2, 3, 0).reshape(len(panels), -1)
    return {f"{count} queries": row for count, row in zip(panels, rows, strict=True)}


def _torch(panels: tuple[int, ...], rival: Rival) -> Rows:
    """One run of each panel, in float64."""
    return {
        f"{queries} queries": np.array([_train(_Panel(queries), rival)])
        for queries in panels
    }


class _Panel:
    """The tokens of each class, as they are numbered."""

    def __init__(self, queries: int):
        import torch

        self.classes = 2 * queries
        self.size = 10 + 11 * self.classes + queries
        raw = torch.cat([torch.ones(10), torch.linspace(0.1, 1.0, 10)])
        self.weights = raw / raw.sum()
        distinct = 10 + torch.arange(10 * self.classes).reshape(self.classes, 10)
        common = torch.arange(10).expand(self.classes, 10)
        self.tokens = torch.cat([common, distinct], dim=1)
        self.first_label = self.size - self.classes
        self.first_query = self.first_label - queries


def _train(panel: _Panel, rival: Rival) -> float:
    import torch

    random.seed(SEEDS[0])
    torch.manual_seed(SEEDS[0] + 2)
    sizes = panel.size, panel.size
    Y, Z = (torch.nn.Linear(*sizes, bias=False).double() for _ in range(2))
    rate, ratio = RATES[0], RATIOS[0]
    groups = [
        {"params": Y.parameters(), "lr": rate * ratio},
        {"params": Z.parameters(), "lr": rate},
    ]
    rule = torch.optim.SGD(groups, lr=rate, momentum=0.9)
    draw = _draw_at_once if rival == "batches" else _draw_one_by_one
    read = _read_sequences if rival == "sequences" else _read_counts
    for _ in range(STEPS):
        label, context = draw(panel)
        rule.zero_grad()
        query = panel.first_query + label // 2
        combined = read(Z.weight, context, query)
        logits = Y(combined / combined.norm(dim=1, keepdim=True))
        target = panel.first_label + label
        torch.nn.functional.cross_entropy(logits, target).backward()
        rule.step()
    return _entropy(Z.weight.detach(), panel)


def _draw_one_by_one(panel: _Panel) -> "tuple[Tensor, Tensor]":
    """A class, then its tokens, for one sample after the other."""
    import torch

    label = torch.empty(BATCH, dtype=torch.long)
    context = torch.empty(BATCH, LENGTH - 1, dtype=torch.long)
    for i in range(BATCH):
        n = random.choice(range(panel.classes))
        picked = torch.multinomial(panel.weights, LENGTH - 1, replacement=True)
        label[i], context[i] = n, panel.tokens[n][picked]
    return label, context


def _draw_at_once(panel: _Panel) -> "tuple[Tensor, Tensor]":
    """The same samples: the two streams do not meet, and rows are drawn in order."""
    import torch

    options = range(panel.classes)
    label = torch.tensor([random.choice(options) for _ in range(BATCH)])
    rows = panel.weights.expand(BATCH, -1)
    picked = torch.multinomial(rows, LENGTH - 1, replacement=True)
    return label, panel.tokens[label].gather(1, picked)


def _read_sequences(Z: "Tensor", context: "Tensor", query: "Tensor") -> "Tensor":
    import torch

    onehot = torch.nn.functional.one_hot
    tokens, queries = (onehot(x, len(Z)).double() for x in (context, query))
    scores = torch.bmm(tokens @ Z.T, queries[:, :, None])[..., 0]
    return torch.bmm(torch.softmax(scores, dim=1)[:, None], tokens)[:, 0]


def _read_counts(Z: "Tensor", context: "Tensor", query: "Tensor") -> "Tensor":
    import torch

    counts = torch.zeros(len(context), len(Z), dtype=torch.float64)
    counts.scatter_add_(1, context, torch.ones_like(context, dtype=torch.float64))
    return torch.softmax(Z[query] + torch.log(counts), dim=1)


def _entropy(Z: "Tensor", panel: _Panel) -> float:
    entropies = []
    for n in range(panel.classes):
        scores = Z[panel.first_query + n // 2, panel.tokens[n, 10:]]
        mass = panel.weights[10:].double() * scores.exp()
        share = (mass / mass.sum()).numpy()
        entropies.append(-(share * np.log(share)).sum())
    return float(np.mean(entropies))
