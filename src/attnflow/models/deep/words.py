"""Word-level causal networks: every word of a sequence is told from those before it."""

import math
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.models.deep.base import Look, Weights, check_sizes
from attnflow.models.deep.parts import (
    check_shared,
    draw_multihead,
    dropped,
    layer_norm,
    multihead,
    uniform,
    unit,
)
from attnflow.models.deep.stack import softmax_attention

_OWN = ("words", "decoder", "decoder_bias")
"""Values that no layer has."""
DROPS = 4
"""Places of a layer in which training drops entries."""


@dataclass(frozen=True)
class WordEncoder:
    """The transformer encoder of PyTorch's language-model tutorial.

    Words are embedded and get sinusoids for their places; each layer is `x ← norm(x +
    attention(x))`, `x ← norm(x + W_2 relu(W_1 x))`; a decoder of its own gives logits.
    A word pays attention to itself and to those before it.

    **Arguments:**

    - `vocabulary`: how many words; `length` of a sequence.
    - `embed`, `hidden`: of a word, and of the ReLU layer; `layers`, `heads`.
    - `dropout`: the share of entries that training drops, in five places, attention
      itself among them.
    """

    vocabulary: int
    length: int = 35
    embed: int = 200
    hidden: int = 200
    layers: int = 1
    heads: int = 1
    dropout: float = 0.2

    def __post_init__(self) -> None:
        check_sizes(self, "length", "embed", "hidden", "layers", "heads")
        check_shared("embed", self.embed, self.heads)
        if self.embed % 2:
            raise ValueError(
                f"embed is {self.embed}: places have a sine and a cosine for each of "
                f"their rates, so that it must be even, as in embed={self.embed + 1}."
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(
                f"dropout is {self.dropout}: it is the share of entries that are "
                "dropped, in [0, 1). Use dropout=0.2."
            )

    def draw(self, stream: np.random.Generator) -> Weights:
        """Weights as the tutorial's modules begin; words and decoder on ±0.1."""
        d, h, layers = self.embed, self.hidden, self.layers
        scores, values = draw_multihead(stream, layers, self.heads, d)
        values |= {
            "W_1": uniform(stream, d, layers, h, d),
            "b_1": uniform(stream, d, layers, h),
            "W_2": uniform(stream, h, layers, d, h),
            "b_2": uniform(stream, h, layers, d),
            **{f"gain_{k}": np.ones((layers, d)) for k in (1, 2)},
            **{f"shift_{k}": np.zeros((layers, d)) for k in (1, 2)},
            "words": stream.uniform(-0.1, 0.1, (self.vocabulary, d)),
            "decoder": stream.uniform(-0.1, 0.1, (self.vocabulary, d)),
            "decoder_bias": np.zeros(self.vocabulary),
        }
        return {"scores": scores, "values": values}

    def look(self, weights: Weights, tokens: Array, key: Array | None = None) -> Look:
        """Logits at every place, and the attention of each layer."""
        own = weights["values"]
        keys = None if key is None else jax.random.split(key, 1 + DROPS * self.layers)
        state = own["words"][tokens] * math.sqrt(self.embed)
        state = state + jnp.asarray(sinusoids(self.length, self.embed), state.dtype)
        state = dropped(state, self.dropout, None if keys is None else keys[0])
        layers = (
            weights["scores"],
            {name: array for name, array in own.items() if name not in _OWN},
            None if keys is None else keys[1:].reshape(self.layers, DROPS),
        )
        # A loop, of which one layer is compiled, however many there are.
        state, maps = jax.lax.scan(self._layer, state, layers)
        return Look(state @ own["decoder"].T + own["decoder_bias"], tuple(maps))

    def _layer(self, state: Array, layer: tuple) -> tuple[Array, Array]:
        """What a layer gives, and what it pays; `layer` has its weights and keys."""
        scores, values, keys = layer
        drop = [
            partial(dropped, share=self.dropout, key=None if keys is None else keys[k])
            for k in range(DROPS)
        ]
        mask = jnp.tril(jnp.ones((self.length, self.length), bool))
        read, paid = multihead(scores, values, state, mask, drop[0])
        state = layer_norm(state + drop[1](read), values["gain_1"], values["shift_1"])
        neurons = jax.nn.relu(state @ values["W_1"].T + values["b_1"])
        added = drop[2](neurons) @ values["W_2"].T + values["b_2"]
        state = layer_norm(state + drop[3](added), values["gain_2"], values["shift_2"])
        return state, paid


@dataclass(frozen=True)
class PlainWords:
    """The theory's own parametrisation: embeddings U, W_Q, W_K and W_V, and no places.

    A word pays attention to those before it alone, `z = u_query W_Q W_Kᵀ u_key / √d`;
    what it reads has length one and goes through W_V; logits are products with U. In a
    deeper network each layer reads what the last one gave. The first word of a
    sequence, before which there is none, reads itself.
    """

    vocabulary: int
    length: int = 35
    embed: int = 64
    layers: int = 1

    def __post_init__(self) -> None:
        check_sizes(self, "length", "embed", "layers")

    @property
    def heads(self) -> int:
        """One."""
        return 1

    def draw(self, stream: np.random.Generator) -> Weights:
        """Normal words of length about one, and weights as linear layers begin."""
        d = self.embed
        shape = self.layers, d, d
        return {
            "scores": {name: uniform(stream, d, *shape) for name in ("W_K", "W_Q")},
            "values": {
                "W_V": uniform(stream, d, *shape),
                "words": stream.standard_normal((self.vocabulary, d)) / math.sqrt(d),
            },
        }

    def look(self, weights: Weights, tokens: Array, key: Array | None = None) -> Look:
        """Logits at every place, and the attention of each layer."""
        own, scores = weights["values"], weights["scores"]
        before = jnp.tril(jnp.ones((self.length, self.length), bool), k=-1)
        mask = before.at[0, 0].set(True)
        state, maps = own["words"][tokens], []
        for layer in range(self.layers):
            keys, queries = (
                (state @ scores[name][layer].T)[:, :, None] for name in ("W_K", "W_Q")
            )
            paid = softmax_attention(keys, queries / math.sqrt(self.embed), mask)
            read = unit(jnp.einsum("nlk,nkd->nld", paid[:, 0], state))
            state = read @ own["W_V"][layer].T
            maps.append(paid)
        return Look(state @ own["words"].T, tuple(maps))


def sinusoids(length: int, embed: int) -> np.ndarray:
    """Sines and cosines of places, at rates from 1 to 1/10000."""
    rates = np.exp(np.arange(0, embed, 2) * (-math.log(10_000.0) / embed))
    angles = np.arange(length)[:, None] * rates
    table = np.zeros((length, embed))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table
