"""Largest entries that Appendix D bounds, sampled at any width.

They depend on two Gram matrices, which are sampled directly: that of the tokens' keys
and queries, and that of the tokens' values and the neurons.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.token_sequences import on_device
from attnflow.models.forms.initial_values import bartlett_factor, draw_entries, gram_of
from attnflow.training.programs import Effort, Program, put

Largest = Float[Array | np.ndarray, "*draws"]
"""The largest entry of each draw: of JAX while it is computed, then of NumPy."""
# Limits the draws in a batch: their Gram matrices stay below about 50 MB.
ENTRIES = 6_000_000


class Sizes(NamedTuple):
    """m, m1, d, n and L."""

    width: int
    neurons: int
    embed: int
    samples: int
    length: int


class Grams(NamedTuple):
    """Gram matrices divided by variance times m, so that their means are I.

    - `keys_queries`: of `[W_K μ …, W_Q μ …]`; `values_neurons`: of `[W_V μ …, w_j …]`.
    - `signs`: a.
    """

    keys_queries: Float[Array, "*draws both both"]
    values_neurons: Float[Array, "*draws all all"]
    signs: Float[Array, "*draws neurons"]


class Worst(NamedTuple):
    """Largest entry of each kind in a draw, in units independent of the variances.

    - `keys_queries`, `values`, `neurons` (between two), `neuron_lengths`,
      `neurons_values`: of the Gram matrices, minus I.
    - `read_length`: `|W_V X p_l|²` over σ0² m / L, minus 1.
    - `read_neuron`: `w_j · W_V X p_l` over σ0 σ1 sqrt(m / L).
    - `attention`: `m (L p − 1)`.
    - `readout`: G over σ0 σ1 sqrt(m m1). `output`: F over σ0 σ1 sqrt(L m m1).
    - `other_neurons`: `Σ_{j' ≠ j} a_j' ⟨w_j, w_j'⟩` over σ1² m.
    - `length_readout`: `|k(μ)|² G(ν)`, or with queries, over σ0² m σ0 σ1 sqrt(m m1),
      of tokens of one sample; `cross_readout`: `⟨k(ν), k(μ)⟩ G(ξ)`, μ ≠ ν, over σ0²
      sqrt(m) σ0 σ1 sqrt(m m1).
    """

    keys_queries: Largest
    values: Largest
    neurons: Largest
    neuron_lengths: Largest
    neurons_values: Largest
    read_length: Largest
    read_neuron: Largest
    attention: Largest
    readout: Largest
    output: Largest
    other_neurons: Largest
    length_readout: Largest
    cross_readout: Largest


def worst_entries(
    sizes: Sizes,
    position: Int[Array, "samples length"],
    scale: float,
    *,
    draws: int,
    key: Key,
) -> Worst:
    """Largest entries of each draw; `position` holds the samples' tokens as indices.

    Only attention depends on a variance, through `scale`, which is σ0 sqrt(L m).
    """
    columns = max(2 * sizes.embed, sizes.embed + sizes.neurons)
    batch = min(draws, max(1, ENTRIES // columns**2))
    parts = []
    for i in range(-(-draws // batch)):
        grams = _draw_grams(sizes, batch, key=random.fold_in(key, i))
        numbers = put(scale), put(float(sizes.width))
        worst = _WORST(Effort.LESS, grams, position, *numbers)
        parts.append(jax.tree.map(np.asarray, worst))
    return Worst(*[np.concatenate(c)[:draws] for c in zip(*parts, strict=True)])


def _draw_grams(sizes: Sizes, draws: int, *, key: Key) -> Grams:
    keys = random.split(key, 3)
    return Grams(
        on_device(_gram(sizes.width, 2 * sizes.embed, draws, key=keys[0])),
        on_device(_gram(sizes.width, sizes.embed + sizes.neurons, draws, key=keys[1])),
        on_device(random.rademacher(keys[2], (draws, sizes.neurons)).astype(float)),
    )


def _gram(width: int, columns: int, draws: int, *, key: Key) -> np.ndarray:
    if width >= columns:
        factor = bartlett_factor(width, columns, draws, key=key)
    else:
        factor = draw_entries("normal", 1.0, (draws, width, columns), key=key)
    return gram_of(factor) / width


def worst_of(grams: Grams, position: Array, scale: Array, width: Array) -> Worst:
    """Largest entries of one draw; the `width` m is a number as others are."""
    m, m1, L = width, float(grams.signs.shape[-1]), position.shape[1]
    d = grams.keys_queries.shape[-1] // 2
    A, N = grams.values_neurons[:d, :d], grams.values_neurons[d:, :d]
    between = grams.values_neurons[d:, d:]
    keys, queries = position[:, :, None], position[:, None, :]
    # Axes: sample, key, query. W_Kᵀ W_Q / sqrt(m) is σ0² sqrt(m) times the Gram matrix.
    score = scale**2 / (L * m**0.5) * grams.keys_queries[keys, d + queries]
    p = jax.nn.softmax(score, axis=1)
    lengths = jnp.einsum("ihl,ikl,ihk->il", p, p, A[keys, queries])
    reads = jnp.einsum("jih,ihl->jil", N[:, position], p)
    G = (m / m1) ** 0.5 * grams.signs @ N
    F = jnp.einsum("ih,ihl->i", G[position], p) / L**0.5
    lengths_squared = jnp.diagonal(between)
    largest_readout = jnp.abs(G[position]).max(axis=1)
    square, cross = _of_samples(grams.keys_queries, position, d)
    return Worst(
        keys_queries=jnp.abs(grams.keys_queries - jnp.eye(2 * d)).max(),
        values=jnp.abs(A - jnp.eye(d)).max(),
        neurons=jnp.abs(between - jnp.diag(lengths_squared)).max(),
        neuron_lengths=jnp.abs(lengths_squared - 1).max(),
        neurons_values=jnp.abs(N).max(),
        read_length=jnp.abs(L * lengths - 1).max(),
        read_neuron=(m * L) ** 0.5 * jnp.abs(reads).max(),
        attention=m * jnp.abs(L * p - 1).max(),
        readout=jnp.abs(G).max(),
        output=jnp.abs(F).max(),
        other_neurons=jnp.abs(
            between @ grams.signs - lengths_squared * grams.signs
        ).max(),
        length_readout=(square * largest_readout).max(),
        cross_readout=m**0.5 * (cross * largest_readout).max(),
    )


_WORST = Program(jax.vmap(worst_of, in_axes=(0, None, None, None)))


def _of_samples(gram: Array, position: Array, embed: int) -> tuple[Array, Array]:
    """Largest squared length of keys and queries, and product of two, by sample."""
    rows, columns = position[:, :, None], position[:, None, :]
    # The same token twice is a squared length too.
    is_same = rows == columns
    tables = jnp.stack([gram[s + rows, s + columns] for s in (0, embed)])
    largest = [jnp.where(mask, jnp.abs(tables), 0.0) for mask in (is_same, ~is_same)]
    square, cross = (table.max(axis=(0, 2, 3)) for table in largest)
    return square, cross
