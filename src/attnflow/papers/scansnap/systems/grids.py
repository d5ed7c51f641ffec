"""Grids of runs of J: Figures 6, 11 and 12, and what makes Figure 6 what it is."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from attnflow.experiments import run
from attnflow.papers.scansnap.experiments import steps, syn_layout
from attnflow.papers.scansnap.settings import Steps
from attnflow.papers.scansnap.systems.decoder import discrete_heights, log_odds

END = ("mean_distinct_entropy", "common_mass", "top_share", "loss")
SYSTEM = {"system": "J: the true gradient of both tables"}


def entropy_grid(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """Entropy, masses and recall after training, by queries and learning rates."""
    axes = ("queries", "score_rates", "ratios")
    cells = list(itertools.product(*(setting[name] for name in axes)))
    shape = tuple(len(setting[name]) for name in axes)
    found = [_cell(setting, *cell, seeds=seeds) for cell in cells]
    dims = ("seed", "queries", "score_rate", "ratio")
    variables = {
        name: (dims, _stacked([f[name] for f in found], shape), SYSTEM) for name in END
    }
    recall = _stacked([f["recall"] for f in found], shape)
    return xr.Dataset(
        {**variables, "recall": ((*dims, "threshold"), recall, SYSTEM)},
        {
            "queries": list(setting["queries"]),
            "score_rate": list(setting["score_rates"]),
            "ratio": list(setting["ratios"]),
            "threshold": list(setting["thresholds"]),
        },
    )


def _stacked(rows: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Cells by seeds, as seeds by the grid."""
    whole = np.stack(rows, axis=1)
    return whole.reshape(len(whole), *shape, *whole.shape[2:])


def _cell(
    setting: dict[str, Any],
    queries: int,
    score_rate: float,
    ratio: float,
    *,
    seeds: Sequence[int],
) -> dict[str, np.ndarray]:
    shared = ("momentum", "length", "batch", "steps", "start", "stream")
    plan = Steps(
        queries=queries,
        classes_per_query=2,
        score_rate=score_rate,
        value_rate=ratio * score_rate,
        every=setting["steps"],
        record=(*END, "score_share"),
        **{name: setting[name] for name in shared},
    )
    ended = run(steps(plan), seeds=seeds).isel(time=-1)
    means = {name: ended[name].values for name in END}
    for name in ("common_mass", "top_share"):
        means[name] = means[name].mean(axis=1)
    thresholds = np.array(setting["thresholds"])
    return {**means, "recall": recall(ended["score_share"], plan, thresholds)}


def recall(share: xr.DataArray, plan: Steps, thresholds: np.ndarray) -> np.ndarray:
    """Share of distinct tokens above thresholds/M in their query's row, per seed.

    `share` is the softmax of the scores over the whole vocabulary.
    """
    task = syn_layout(plan).sequence_classes()
    names = np.array(task.kind_names)
    query = share.get_index("query").get_indexer(names[list(task.query)])
    token = share.get_index("token").get_indexer(names)
    place = np.array([token[np.flatnonzero(mine)] for mine in task.distinct])
    # All labels at once: one class at a time, look-ups are a tenth of all the work.
    found = share.transpose(..., "query", "token").values[..., query[:, None], place]
    above = found[..., None] > thresholds / task.vocabulary
    return above.mean(axis=(-3, -2))


def decomposition(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """Entropy with and without momentum, finite length and uniform initial tables."""
    rates = setting["score_rates"]
    options = {"momentum": (0, 1), "batches": (0, 1), "uniform": (0, 1)}
    entropy = np.zeros((len(seeds), 2, 2, 2, len(rates)))
    for cell in itertools.product(*options.values()):
        for i, rate in enumerate(rates):
            entropy[:, *cell, i] = _part(setting, *cell, rate=rate, seeds=seeds)
    labels = {
        "momentum": ["plain descent", "heavy ball"],
        "batches": ["long sequences", "batches"],
        "uniform": ["zero", "uniform"],
        "score_rate": list(rates),
    }
    dims = ("seed", "momentum", "batches", "uniform", "score_rate")
    return xr.Dataset({"mean_distinct_entropy": (dims, entropy, SYSTEM)}, labels)


def _part(
    setting: dict[str, Any],
    momentum: int,
    batches: int,
    uniform: int,
    *,
    rate: float,
    seeds: Sequence[int],
) -> np.ndarray:
    # Without momentum the same flow time takes 1/(1 − μ) times as many steps.
    slower = 1 if momentum else 1 / (1 - setting["momentum"])
    count = round(setting["steps"] * slower)
    plan = Steps(
        queries=setting["queries"],
        classes_per_query=2,
        score_rate=rate,
        value_rate=setting["ratio"] * rate,
        optimiser="momentum" if momentum else "descent",
        momentum=setting["momentum"],
        length=setting["length"] if batches else None,
        batch=setting["batch"],
        steps=count,
        start="uniform" if uniform else "zero",
        # Exact from either start, which then share a compiled program.
        form="active",
        every=count,
        record=("mean_distinct_entropy",),
    )
    found = run(steps(plan), seeds=seeds)
    return found["mean_distinct_entropy"].values[:, -1]


def heights(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """h* step by step and h, both times M."""
    count = setting["steps"]
    shape = (1, len(setting["vocabularies"]), len(setting["value_rates"]), count + 1)
    steps_, smooth = np.zeros(shape), np.zeros(shape)
    for (i, M), (j, rate) in itertools.product(
        enumerate(setting["vocabularies"]), enumerate(setting["value_rates"])
    ):
        steps_[0, i, j] = M * discrete_heights(count, M, rate)
        smooth[0, i, j] = log_odds(np.arange(count + 1), M, rate)
    dims = ("seed", "vocabulary", "value_rate", "visit")
    every = [np.repeat(found, len(seeds), axis=0) for found in (steps_, smooth)]
    return xr.Dataset(
        {"discrete": (dims, every[0]), "continuous": (dims, every[1])},
        {
            "vocabulary": list(setting["vocabularies"]),
            "value_rate": list(setting["value_rates"]),
            "visit": np.arange(count + 1),
        },
    )
