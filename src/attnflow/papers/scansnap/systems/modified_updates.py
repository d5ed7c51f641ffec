"""Equation 26's update of the decoder by single samples, with and without attention."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.special import softmax

from attnflow.papers.scansnap._types import Setting
from attnflow.papers.scansnap.computations import Decorrelated, SingleSamples

Table = Float[np.ndarray, "_ _"]


def random_features(draw: np.random.Generator, classes: int, tokens: int) -> Table:
    """Non-negative unit vectors, one per column, weakly correlated."""
    mixed = draw.uniform(0.02, 0.3) * draw.uniform(size=(tokens, classes))
    mixed[:classes] += np.eye(classes)
    return mixed / np.linalg.norm(mixed, axis=0)


def sharing_features(draw: np.random.Generator, sizes: Decorrelated) -> Table:
    """Unit vectors, one per column: one common token, and distinct ones per class."""
    K, distinct = sizes.classes, sizes.distinct
    shared = draw.uniform(*sizes.shared, size=K)
    features = np.zeros((1 + K * distinct, K))
    features[0] = np.sqrt(shared)
    for n in range(K):
        weights = draw.uniform(0.1, 1.0, distinct)
        weights *= np.sqrt(1 - shared[n]) / np.linalg.norm(weights)
        features[1 + n * distinct : 1 + (n + 1) * distinct, n] = weights
    return features


def decorrelated(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Equation 26 with fixed features: rows of W, visits, back-propagated gradient.

    `rows` is FᵀY at the end, `alone` each row trained on its own samples only,
    `coupling` the coefficients of Y(e_n − α_n) on F by least squares, `beside` the
    relative part of it outside F's span.
    """
    sizes = Decorrelated(**setting)
    K, M, rate = sizes.classes, sizes.vocabulary, sizes.value_rate
    runs = []
    for seed in seeds:
        draw = np.random.default_rng(seed)
        features = sharing_features(draw, sizes)
        visited = draw.integers(0, K, sizes.steps)
        runs.append(_train_decoder(features, visited, M, rate))
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
            name: (("seed", *dims[name]), np.array([result[name] for result in runs]))
            for name in dims
        }
    )


def _train_decoder(
    features: Table, visited: np.ndarray, vocabulary: int, rate: float
) -> dict[str, np.ndarray]:
    classes = features.shape[1]
    gram = features.T @ features
    dual = features @ np.linalg.inv(gram)
    values = np.zeros((len(features), vocabulary))
    alone = np.zeros((classes, vocabulary))
    onehot = np.eye(classes, vocabulary)
    for n in visited:
        pull = onehot[n] - softmax(values.T @ features[:, n])
        values += rate * np.outer(dual[:, n], pull)
        alone[n] += rate * (onehot[n] - softmax(alone[n]))
    pulls = onehot - softmax(features.T @ values, axis=1)
    back = values @ pulls.T
    coupling = np.linalg.lstsq(features, back, rcond=None)[0].T
    outside = np.abs(back - features @ coupling.T).max(axis=0)
    return {
        "rows": features.T @ values,
        "alone": alone,
        "coupling": coupling,
        "gram": gram,
        "visits": np.bincount(visited, minlength=classes),
        "beside": outside / np.abs(back).max(axis=0),
    }


def single_samples(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Scores by single samples with the decorrelated decoder, K identical classes.

    The decoder is F (FᵀF)⁻¹ W at every step, each row of W moved by its own samples;
    a sample moves the scores by Lemma 1. Tokens are the common one and the distinct
    ones of the first class.
    """
    plan = SingleSamples(**setting)
    K = plan.classes
    weights = np.array(plan.distinct)
    distinct = len(weights)
    table = np.zeros((K, 1 + K * distinct))
    table[:, 0] = plan.common_weight
    for n in range(K):
        table[n, 1 + n * distinct : 1 + (n + 1) * distinct] = weights
    table /= table.sum(axis=1, keepdims=True)
    final_scores = []
    for seed in seeds:
        draw = np.random.default_rng(seed)
        visited = draw.integers(0, K, plan.steps)
        scores = _train_scores(table, visited, plan)
        final_scores.append(scores[: 1 + distinct])
    names = ["common0", *(f"distinct{i}@0" for i in range(distinct))]
    return xr.Dataset(
        {"score": (("seed", "token"), np.array(final_scores))}, {"token": names}
    )


def _train_scores(table: Table, visited: np.ndarray, plan: SingleSamples) -> np.ndarray:
    """Scores after all samples; a row of W is determined by its log-odds u."""
    vocabulary = plan.vocabulary
    others = vocabulary - 1
    rows = np.zeros(len(table))
    scores = np.zeros(table.shape[1])
    high, low = 1 + 1 / others, -vocabulary / others**2
    for n in visited:
        attention = table * np.exp(scores)
        unit = attention / np.linalg.norm(attention, axis=1, keepdims=True)
        error = others / (others + np.exp(rows[n]))
        mixed = np.full(len(rows), low)
        mixed[n] = high
        weight = np.linalg.solve(unit @ unit.T, others / vocabulary * rows * mixed)
        back = error * (weight @ unit)
        gradient = unit[n] * (back - unit[n] * (unit[n] @ back))
        scores = scores + plan.score_rate * gradient
        step = vocabulary * plan.value_rate
        rows[n] += step / (others + np.exp(rows[n]))
    return scores
