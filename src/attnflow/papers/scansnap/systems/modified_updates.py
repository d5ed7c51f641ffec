"""Equation 26's update of the decoder by single samples, with and without attention."""

import math
from collections.abc import Sequence

import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.special import softmax

from attnflow.papers.scansnap._types import Setting
from attnflow.papers.scansnap.computations import Decorrelated, SingleSamples, Visits
from attnflow.papers.scansnap.systems.decoder import log_odds

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

    `features` is F, `values` Y at the end and `rows` FᵀY, `alone` each row trained on
    its own samples only, `coupling` the coefficients of Y(e_n − α_n) on F by least
    squares, `beside` the relative part of it outside F's span.
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
        "features": ("token", "class"),
        "values": ("token", "output"),
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
        "features": features,
        "values": values,
        "rows": features.T @ values,
        "alone": alone,
        "coupling": coupling,
        "gram": gram,
        "visits": np.bincount(visited, minlength=classes),
        "beside": outside / np.abs(back).max(axis=0),
    }


def visits(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Draws out of `samples` that leave the bounds of Lemmas 10 to 12, by seed.

    With Δ = √(N ln(1/δ)) and N̄ = N/K, both rounded up: `visits_outside` has N_n off N̄
    by more than √(N ln(2/δ)/2) + 1; `heights_outside` has h(N_n) off h(N̄) by more than
    the share Δ/N̄; `errors_outside` has 1/(M − 1 + e^{Mh}) off by more than the share
    η_Y Δ/3, and `late_errors_outside` by more than Δ/N̄; `sigma_outside` by more than
    (K/√N) √ln(1/δ), all of the worst class; `theta_outside` has some |θ_n| above (K/√N)
    √ln(K/δ).
    """
    plan = Visits(**setting)
    K, M, N = plan.classes, plan.vocabulary, plan.steps
    mean, radius = math.ceil(N / K), math.ceil(math.sqrt(N * math.log(1 / plan.delta)))
    middle = log_odds(mean, M, plan.value_rate)
    counts: dict[str, list[int]] = {name: [] for name in _BOUNDED}
    for seed in seeds:
        draw = np.random.default_rng(seed)
        drawn = draw.multinomial(N, [1 / K] * K, size=plan.samples)
        u = log_odds(drawn, M, plan.value_rate)
        theta = np.abs(u / middle - 1)
        errors = np.abs((M - 1 + np.exp(middle)) / (M - 1 + np.exp(u)) - 1)
        near = math.sqrt(N / 2 * math.log(2 / plan.delta)) + 1
        far = K / math.sqrt(N) * math.sqrt(math.log(K / plan.delta))
        sigma = K / math.sqrt(N) * math.sqrt(math.log(1 / plan.delta))
        outside = (
            (np.abs(drawn - mean) > near).sum(axis=0).max(),
            (theta > radius / mean).sum(axis=0).max(),
            (errors > plan.value_rate * radius / 3).sum(axis=0).max(),
            (errors > radius / mean).sum(axis=0).max(),
            (errors > sigma).sum(axis=0).max(),
            (theta > far).any(axis=1).sum(),
        )
        for name, count in zip(_BOUNDED, outside, strict=True):
            counts[name].append(int(count))
    return xr.Dataset({name: ("seed", column) for name, column in counts.items()})


_BOUNDED = (
    *("visits_outside", "heights_outside", "errors_outside"),
    *("late_errors_outside", "sigma_outside", "theta_outside"),
)


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
