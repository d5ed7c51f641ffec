"""Lemma 1 beside autodiff, and Lemmas 2 and 18 by drawn sequences."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float
from scipy.special import softmax

from attnflow.training import precise

Table = Float[np.ndarray, "_ _"]


def gradients(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """The gradient of one sequence: as written, and by autodiff of a forward pass."""
    M, T = setting["vocabulary"], setting["length"]
    found: dict[str, list[Table]] = {name: [] for name in _NAMES}
    for seed in seeds:
        draw = np.random.default_rng(seed)
        values, scores = draw.normal(size=(2, M, M))
        context = np.eye(M)[draw.integers(0, M - 2, T - 1)]
        ends = (M - 2, int(draw.integers(0, M)))
        by_hand = written(values, scores, context, ends)
        with precise():
            exact = jax.grad(objective, (0, 1))(values, scores, context, ends)
        tables = (*by_hand, *(np.asarray(part) for part in exact))
        for name, table in zip(_NAMES, tables, strict=True):
            found[name].append(table)
    dims = ("seed", "row", "column")
    return xr.Dataset({name: (dims, np.array(rows)) for name, rows in found.items()})


_NAMES = ("values_written", "scores_written", "values_autodiff", "scores_autodiff")


def objective(
    values: Array, scores: Array, context: Array, ends: tuple[int, int]
) -> Array:
    """Log α of the next token, from one-hot sequences; `ends` are query and next."""
    read = context.T @ jax.nn.softmax(context @ scores[ends[0]])
    unit = read / jnp.linalg.norm(read)
    return jax.nn.log_softmax(values.T @ unit)[ends[1]]


def written(
    values: Table, scores: Table, context: Table, ends: tuple[int, int]
) -> tuple[Table, Table]:
    """Lemma 1: dY = f (e − α)ᵀ, dz = Xᵀ diag(b) X (I − f fᵀ)/|Xᵀb| Y (e − α)."""
    weight = softmax(context @ scores[ends[0]])
    read = context.T @ weight
    size = np.linalg.norm(read)
    unit = read / size
    pull = np.eye(len(values))[ends[1]] - softmax(values.T @ unit)
    across = np.eye(len(unit)) - np.outer(unit, unit)
    moved = context.T @ np.diag(weight) @ context @ across @ values @ pull / size
    turned = np.zeros_like(scores)
    turned[ends[0]] = moved
    return np.outer(unit, pull), turned


def long_sequences(setting: dict[str, Any], seeds: Sequence[int]) -> xr.Dataset:
    """How far attention to drawn contexts is from its limit, by length.

    `distance` is the root mean square of |Xᵀb − c|, `outside` in how many of the drawn
    contexts the worst token's frequency leaves Lemma 18's band, `sharpness` |c|.
    """
    lengths, count = setting["lengths"], setting["samples"]
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
            seen = share * growth / (share @ growth)[:, None]
            distance[i, j] = np.sqrt(np.square(seen - limit).sum(axis=1).mean())
            band = np.sqrt(np.log(2 / setting["delta"]) / (2 * (length - 1)))
            outside[i, j] = (np.abs(share - probability) > band).sum(axis=0).max()
    dims = ("seed", "length")
    return xr.Dataset(
        {"distance": (dims, distance), "outside": (dims, outside)},
        {"length": list(lengths)},
    )
