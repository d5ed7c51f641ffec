"""The decoder under Equation 26's update, sample by sample, and attention beside it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.special import softmax

Table = Float[np.ndarray, "_ _"]


def random_features(draw: np.random.Generator, classes: int, tokens: int) -> Table:
    """Unit vectors without negative entries, one per column, mostly apart."""
    mixed = draw.uniform(0.02, 0.3) * draw.uniform(size=(tokens, classes))
    mixed[:classes] += np.eye(classes)
    return mixed / np.linalg.norm(mixed, axis=0)


def sharing_features(draw: np.random.Generator, setting: dict[str, Any]) -> Table:
    """Unit vectors, one per column: one token in common, and others of each class."""
    K, own = setting["classes"], setting["distinct"]
    shared = draw.uniform(*setting["shared"], size=K)
    found = np.zeros((1 + K * own, K))
    found[0] = np.sqrt(shared)
    for n in range(K):
        weights = draw.uniform(0.1, 1.0, own)
        weights *= np.sqrt(1 - shared[n]) / np.linalg.norm(weights)
        found[1 + n * own : 1 + (n + 1) * own, n] = weights
    return found


def decorrelated(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """Equation 26 with fixed features: rows of W, visits, and what flows back.

    `rows` is FᵀY at the end, `alone` what each row becomes by its own samples alone,
    `coupling` the coefficients of Y(e_n − α_n) on F by least squares, `beside` what of
    it lies outside F's span.
    """
    K, M, rate = setting["classes"], setting["vocabulary"], setting["value_rate"]
    runs = []
    for seed in seeds:
        draw = np.random.default_rng(seed)
        features = sharing_features(draw, setting)
        visited = draw.integers(0, K, setting["steps"])
        runs.append(_descended(features, visited, M, rate))
    outputs = ("class", "output")
    pair = ("class", "other_class")
    dims = {
        "rows": outputs,
        "alone": outputs,
        "coupling": pair,
        "gram": pair,
        "visits": ("class",),
        "beside": ("class",),
    }
    return xr.Dataset(
        {
            name: (("seed", *dims[name]), np.array([one[name] for one in runs]))
            for name in dims
        }
    )


def _descended(
    features: Table, visited: np.ndarray, vocabulary: int, rate: float
) -> dict[str, np.ndarray]:
    classes = features.shape[1]
    gram = features.T @ features
    apart = features @ np.linalg.inv(gram)
    values = np.zeros((len(features), vocabulary))
    alone = np.zeros((classes, vocabulary))
    own = np.eye(classes, vocabulary)
    for n in visited:
        pull = own[n] - softmax(values.T @ features[:, n])
        values += rate * np.outer(apart[:, n], pull)
        alone[n] += rate * (own[n] - softmax(alone[n]))
    pulls = own - softmax(features.T @ values, axis=1)
    back = values @ pulls.T
    coupling = np.linalg.lstsq(features, back, rcond=None)[0].T
    beside = np.abs(back - features @ coupling.T).max(axis=0)
    return {
        "rows": features.T @ values,
        "alone": alone,
        "coupling": coupling,
        "gram": gram,
        "visits": np.bincount(visited, minlength=classes),
        "beside": beside / np.abs(back).max(axis=0),
    }


def single_samples(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """Scores under single samples with the decorrelated decoder, K alike classes.

    The decoder is F (FᵀF)⁻¹ W at every step, each row of W moved by its own samples;
    a sample moves the scores by Lemma 1. Tokens are the common one and the distinct
    ones of the first class.
    """
    K, M = setting["classes"], setting["vocabulary"]
    weights = np.array(setting["distinct"])
    distinct = len(weights)
    table = np.zeros((K, 1 + K * distinct))
    table[:, 0] = setting["common_weight"]
    for n in range(K):
        table[n, 1 + n * distinct : 1 + (n + 1) * distinct] = weights
    table /= table.sum(axis=1, keepdims=True)
    found = []
    for seed in seeds:
        draw = np.random.default_rng(seed)
        visited = draw.integers(0, K, setting["steps"])
        scores = _attended(table, visited, M, setting)
        found.append(scores[: 1 + distinct])
    names = ["common0", *(f"distinct{i}@0" for i in range(distinct))]
    return xr.Dataset({"score": (("seed", "token"), np.array(found))}, {"token": names})


def _attended(
    table: Table, visited: np.ndarray, vocabulary: int, setting: dict[str, Any]
) -> np.ndarray:
    """The scores after all samples; a row's log-odds u are all that its row of W is."""
    others = vocabulary - 1
    rows = np.zeros(len(table))
    scores = np.zeros(table.shape[1])
    high, low = 1 + 1 / others, -vocabulary / others**2
    for n in visited:
        read = table * np.exp(scores)
        unit = read / np.linalg.norm(read, axis=1, keepdims=True)
        error = others / (others + np.exp(rows[n]))
        mixed = np.full(len(rows), low)
        mixed[n] = high
        weight = np.linalg.solve(unit @ unit.T, others / vocabulary * rows * mixed)
        back = error * (weight @ unit)
        turned = unit[n] * (back - unit[n] * (unit[n] @ back))
        scores = scores + setting["score_rate"] * turned
        step = vocabulary * setting["value_rate"]
        rows[n] += step / (others + np.exp(rows[n]))
    return scores
