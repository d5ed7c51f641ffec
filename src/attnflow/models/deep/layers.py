"""Deep networks as training sees them, and the layers that they are made of."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

Weights = dict[str, dict[str, Any]]
"""By part: `scores` are all key and query weights, `values` all others.

Arrays, with layers first where there are several; or a tuple with an array for each.
"""
DrawnWeights = dict[str, dict[str, Any]]
HeadVectors = Float[Array, "samples length heads width"]
NORM_EPSILON = 1e-5
"""PyTorch's default, under the root of a layer's variance."""


def check_sizes(network: "Network", *names: str) -> None:
    """Raise where one of these sizes of a network is there and not positive."""
    for name in names:
        size = getattr(network, name)
        if size is not None and size < 1:
            raise ValueError(f"{name} is {size}: use at least 1, as in {name}=1.")


class Forward(NamedTuple):
    """What the forward pass of a network gives.

    - `output`: a number for each sample, or a row of logits for each prediction.
    - `attention`: of each layer, `(samples, heads, queries, keys)`.
    """

    output: Array
    attention: tuple[Array, ...]


class Network(Protocol):
    """An architecture: a frozen dataclass without arrays."""

    @property
    def layers(self) -> int:
        """How many layers pay attention."""
        ...

    @property
    def heads(self) -> int:
        """How many heads each of them has."""
        ...

    def draw(self, stream: np.random.Generator) -> DrawnWeights:
        """Initial weights."""
        ...

    def forward(
        self, weights: Weights, tokens: Array, key: Array | None = None
    ) -> Forward:
        """The forward pass on samples; `key` is for what training drops."""
        ...


def softmax_attention(
    keys: HeadVectors, queries: HeadVectors, mask: Array | None = None
) -> Float[Array, "samples heads length length"]:
    """`softmax_k(q_l · k_k)`, over keys that the mask (queries, keys) allows."""
    scores = jnp.einsum("nlhm,nkhm->nhlk", queries, keys)
    if mask is not None:
        scores = jnp.where(mask, scores, -jnp.inf)
    return jax.nn.softmax(scores, axis=-1)


def layer_norm(state: Array, gain: Array, shift: Array) -> Array:
    """`gain · (x − mean) / √(variance + ε) + shift`, over the last axis."""
    centred = state - state.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return gain * centred / jnp.sqrt(variance + NORM_EPSILON) + shift


def unit(state: Array) -> Array:
    """Vectors of length one, along the last axis."""
    return state / jnp.sqrt((state**2).sum(axis=-1, keepdims=True))


def drop_entries(state: Array, share: float, key: Array | None) -> Array:
    """A `share` of entries at zero and the others grown; all kept without a key."""
    if key is None or not share:
        return state
    is_kept = jax.random.bernoulli(key, 1 - share, state.shape)
    return jnp.where(is_kept, state / (1 - share), 0.0)


def multihead(
    scores: dict[str, Array],
    values: dict[str, Array],
    state: Array,
    mask: Array | None = None,
    drop: Callable[[Array], Array] = lambda paid: paid,
) -> tuple[Array, Array]:
    """Multi-head attention of one layer with its output map, and what heads pay.

    Weights are `(heads, width, embed)`, biases `(heads, width)`; `W_O` is `(heads,
    embed, width)` and `b_O` `(embed,)`. Scores are over the root of the width. What is
    read goes by attention from which entries may be dropped by `drop`.
    """
    width = scores["W_K"].shape[-2]
    keys, queries, value = (
        jnp.einsum("nld,hmd->nlhm", state, of[f"W_{name}"]) + of[f"b_{name}"]
        for name, of in (("K", scores), ("Q", scores), ("V", values))
    )
    paid = softmax_attention(keys, queries / math.sqrt(width), mask)
    read = jnp.einsum("nhlk,nkhm->nlhm", drop(paid), value)
    return jnp.einsum("nlhm,hdm->nld", read, values["W_O"]) + values["b_O"], paid


def check_shared(name: str, size: int, heads: int) -> None:
    """Raise where heads cannot share a `size` evenly."""
    if size % heads:
        raise ValueError(
            f"{name} is {size} and heads {heads}: heads share it evenly, as in "
            f"{name}={heads * (size // heads + 1)}."
        )


def draw_multihead(
    stream: np.random.Generator, layers: int, heads: int, embed: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Weights of attention as PyTorch's module begins, for `multihead`.

    Queries, keys and values are uniform with Glorot's bound for all three together.
    """
    width = embed // heads
    bound = math.sqrt(6 / (embed + 3 * embed))
    shape = layers, heads, width
    drawn = {
        name: stream.uniform(-bound, bound, (*shape, embed)) for name in ("K", "Q", "V")
    }
    output = uniform(stream, embed, layers, heads, embed, width)
    scores = {f"W_{n}": drawn[n] for n in ("K", "Q")}
    scores |= {f"b_{n}": np.zeros(shape) for n in ("K", "Q")}
    values = {"W_V": drawn["V"], "b_V": np.zeros(shape)}
    return scores, {**values, "W_O": output, "b_O": np.zeros((layers, embed))}


def uniform(stream: np.random.Generator, inputs: int, *shape: int) -> np.ndarray:
    """A linear layer's entries as PyTorch draws them: uniform on ±1/√inputs."""
    bound = 1 / math.sqrt(inputs)
    return stream.uniform(-bound, bound, shape)


def layer_of(weights: dict[str, Array], layer: int) -> dict[str, Array]:
    """The weights of one layer, of weights that have layers first."""
    return {name: array[layer] for name, array in weights.items()}
