"""Grids of runs of J: Figures 6, 11 and 12, the decomposition, and Figure 8."""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
import xarray as xr

from attnflow.experiments import run
from attnflow.papers.scansnap._types import Setting
from attnflow.papers.scansnap.experiments import steps, syn_layout
from attnflow.papers.scansnap.settings import Decomposition, EntropyGrid, Heights, Steps
from attnflow.papers.scansnap.systems.decoder import discrete_heights, log_odds
from attnflow.schema.fields import Optimised

END = ("mean_distinct_entropy", "common_mass", "top_share", "loss")
SYSTEM = {"system": "J: the true gradient of both tables"}


def entropy_grid(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Entropy, masses and recall after training, by queries and learning rates."""
    grid = EntropyGrid(**setting)
    shape = (len(grid.queries), len(grid.score_rates), len(grid.ratios))
    cells = itertools.product(grid.queries, grid.score_rates, grid.ratios)
    results = [_cell(grid, *cell, seeds=seeds) for cell in cells]
    dims = ("seed", "queries", "score_rate", "ratio")
    variables = {
        name: (dims, _stack_cells([result[name] for result in results], shape), SYSTEM)
        for name in END
    }
    recall = _stack_cells([result["recall"] for result in results], shape)
    return xr.Dataset(
        {**variables, "recall": ((*dims, "threshold"), recall, SYSTEM)},
        {
            "queries": list(grid.queries),
            "score_rate": list(grid.score_rates),
            "ratio": list(grid.ratios),
            "threshold": list(grid.thresholds),
        },
    )


def _stack_cells(rows: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Reshape arrays of cells by seeds to seeds by the grid."""
    whole = np.stack(rows, axis=1)
    return whole.reshape(len(whole), *shape, *whole.shape[2:])


def _cell(
    grid: EntropyGrid,
    queries: int,
    score_rate: float,
    ratio: float,
    *,
    seeds: Sequence[int],
) -> dict[str, np.ndarray]:
    rates = {"score_rate": score_rate, "value_rate": ratio * score_rate}
    rule = {f.name: getattr(grid, f.name) for f in dataclasses.fields(Optimised)}
    plan = Steps(
        **{**rule, **rates},
        queries=queries,
        classes_per_query=2,
        length=grid.length,
        batch=grid.batch,
        steps=grid.steps,
        start=grid.start,
        stream=grid.stream,
        every=grid.steps,
        record=(*END, "score_share"),
    )
    last = run(steps(plan), seeds=seeds).isel(time=-1)
    means = {name: last[name].values for name in END}
    for name in ("common_mass", "top_share"):
        means[name] = means[name].mean(axis=1)
    thresholds = np.array(grid.thresholds)
    return {**means, "recall": recall(last["score_share"], plan, thresholds)}


def recall(share: xr.DataArray, plan: Steps, thresholds: np.ndarray) -> np.ndarray:
    """Share of distinct tokens above thresholds/M in their query's row, per seed.

    `share` is the softmax of the scores over the whole vocabulary.
    """
    task = syn_layout(plan).sequence_classes()
    names = np.array(task.kind_names)
    query = share.get_index("query").get_indexer(names[list(task.query)])
    token = share.get_index("token").get_indexer(names)
    columns = np.array(
        [token[np.flatnonzero(is_distinct)] for is_distinct in task.distinct]
    )
    # All labels at once: one class at a time, look-ups are a tenth of all the work.
    shares = share.transpose(..., "query", "token").values[..., query[:, None], columns]
    above = shares[..., None] > thresholds / task.vocabulary
    return above.mean(axis=(-3, -2))


def decomposition(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Entropy with and without momentum, finite length and uniform initial tables."""
    parts = Decomposition(**setting)
    rates = parts.score_rates
    options = {"momentum": (0, 1), "batches": (0, 1), "uniform": (0, 1)}
    entropy = np.zeros((len(seeds), 2, 2, 2, len(rates)))
    for cell in itertools.product(*options.values()):
        for i, rate in enumerate(rates):
            entropy[:, *cell, i] = _part(parts, *cell, rate=rate, seeds=seeds)
    labels = {
        "momentum": ["plain descent", "heavy ball"],
        "batches": ["long sequences", "batches"],
        "uniform": ["zero", "uniform"],
        "score_rate": list(rates),
    }
    dims = ("seed", "momentum", "batches", "uniform", "score_rate")
    return xr.Dataset({"mean_distinct_entropy": (dims, entropy, SYSTEM)}, labels)


def _part(
    parts: Decomposition,
    momentum: int,
    batches: int,
    uniform: int,
    *,
    rate: float,
    seeds: Sequence[int],
) -> np.ndarray:
    # Without momentum the same flow time takes 1/(1 − μ) times as many steps.
    slower = 1 if momentum else 1 / (1 - parts.momentum)
    count = round(parts.steps * slower)
    plan = Steps(
        queries=parts.queries,
        classes_per_query=2,
        score_rate=rate,
        value_rate=parts.ratio * rate,
        rule="momentum" if momentum else "gd",
        momentum=parts.momentum,
        length=parts.length if batches else None,
        batch=parts.batch,
        steps=count,
        start="uniform" if uniform else "zero",
        # Exact from either start, which then share a compiled program.
        form="active",
        every=count,
        record=("mean_distinct_entropy",),
    )
    result = run(steps(plan), seeds=seeds)
    return result["mean_distinct_entropy"].values[:, -1]


def heights(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Heights h* by steps and h by flow, both times M."""
    sizes = Heights(**setting)
    vocabularies, rates, count = sizes.vocabularies, sizes.value_rates, sizes.steps
    shape = (1, len(vocabularies), len(rates), count + 1)
    steps_, smooth = np.zeros(shape), np.zeros(shape)
    for (i, M), (j, rate) in itertools.product(
        enumerate(vocabularies), enumerate(rates)
    ):
        steps_[0, i, j] = M * discrete_heights(count, M, rate)
        smooth[0, i, j] = log_odds(np.arange(count + 1), M, rate)
    dims = ("seed", "vocabulary", "value_rate", "visit")
    every = [np.repeat(array, len(seeds), axis=0) for array in (steps_, smooth)]
    return xr.Dataset(
        {"discrete": (dims, every[0]), "continuous": (dims, every[1])},
        {
            "vocabulary": list(vocabularies),
            "value_rate": list(rates),
            "visit": np.arange(count + 1),
        },
    )
