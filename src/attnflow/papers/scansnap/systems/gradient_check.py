"""Lemma 1 against autodiff, and Lemmas 2 and 18 on random sequences."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float
from scipy.special import softmax

from attnflow.papers.scansnap._types import Setting
from attnflow.papers.scansnap.computations import Gradients, LongSequences
from attnflow.training import precise

Table = Float[np.ndarray, "_ _"]


def gradients(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Gradients of one sequence: by Lemma 1, and by autodiff of a forward pass."""
    sizes = Gradients(**setting)
    M, T = sizes.vocabulary, sizes.length
    by_name: dict[str, list[Table]] = {name: [] for name in _NAMES}
    for seed in seeds:
        draw = np.random.default_rng(seed)
        values, scores = draw.normal(size=(2, M, M))
        context = np.eye(M)[draw.integers(0, M - 2, T - 1)]
        ends = (M - 2, int(draw.integers(0, M)))
        formula = lemma1_gradient(values, scores, context, ends)
        with precise():
            exact = jax.grad(objective, (0, 1))(values, scores, context, ends)
        tables = (*formula, *(np.asarray(part) for part in exact))
        for name, table in zip(_NAMES, tables, strict=True):
            by_name[name].append(table)
    dims = ("seed", "row", "column")
    return xr.Dataset({name: (dims, np.array(rows)) for name, rows in by_name.items()})


_NAMES = ("values_written", "scores_written", "values_autodiff", "scores_autodiff")


def objective(
    values: Array, scores: Array, context: Array, ends: tuple[int, int]
) -> Array:
    """Log α of the next token, from one-hot sequences; `ends` are query and next."""
    output = context.T @ jax.nn.softmax(context @ scores[ends[0]])
    unit = output / jnp.linalg.norm(output)
    return jax.nn.log_softmax(values.T @ unit)[ends[1]]


def lemma1_gradient(
    values: Table, scores: Table, context: Table, ends: tuple[int, int]
) -> tuple[Table, Table]:
    """Gradients of Y and Z by Lemma 1.

    dY = f (e − α)ᵀ, dz = Xᵀ diag(b) X (I − f fᵀ)/|Xᵀb| Y (e − α).
    """
    weight = softmax(context @ scores[ends[0]])
    output = context.T @ weight
    size = np.linalg.norm(output)
    unit = output / size
    pull = np.eye(len(values))[ends[1]] - softmax(values.T @ unit)
    across = np.eye(len(unit)) - np.outer(unit, unit)
    row = context.T @ np.diag(weight) @ context @ across @ values @ pull / size
    score_gradient = np.zeros_like(scores)
    score_gradient[ends[0]] = row
    return np.outer(unit, pull), score_gradient


def long_sequences(setting: Setting, seeds: Sequence[int]) -> xr.Dataset:
    """Distance of attention to random contexts from its limit, by length.

    `distance` is the root mean square of |Xᵀb − c|, `outside` the number of contexts in
    which the worst token's frequency leaves Lemma 18's band.
    """
    sizes = LongSequences(**setting)
    lengths, count = sizes.lengths, sizes.samples
    probability = np.append(np.ones(10), np.linspace(0.1, 1, 10))
    probability /= probability.sum()
    shape = (len(seeds), len(lengths))
    distance, outside = np.zeros(shape), np.zeros(shape, int)
    for i, seed in enumerate(seeds):
        draw = np.random.default_rng(seed)
        growth = np.exp(draw.normal(size=len(probability)))
        limit = probability * growth / (probability @ growth)
        for j, length in enumerate(lengths):
            share = draw.multinomial(length - 1, probability, size=count) / (length - 1)
            attention = share * growth / (share @ growth)[:, None]
            distance[i, j] = np.sqrt(np.square(attention - limit).sum(axis=1).mean())
            band = np.sqrt(np.log(2 / sizes.delta) / (2 * (length - 1)))
            outside[i, j] = (np.abs(share - probability) > band).sum(axis=0).max()
    dims = ("seed", "length")
    return xr.Dataset(
        {"distance": (dims, distance), "outside": (dims, outside)},
        {"length": list(lengths)},
    )
