"""Transformers: a small vision transformer, and word-level causal models."""

import math
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.models.deep.layers import (
    DrawnWeights,
    Forward,
    Weights,
    check_shared,
    check_sizes,
    draw_multihead,
    drop_entries,
    layer_norm,
    layer_of,
    multihead,
    softmax_attention,
    uniform,
    unit,
)

_ATTENTION = ("W_V", "b_V", "W_O", "b_O", "gain", "shift")
_NO_LAYER = ("words", "decoder", "decoder_bias")
"""Values that belong to no layer."""
Layer = tuple[dict[str, Array], dict[str, Array], Array | None]
DROPS = 4
"""Places of a layer in which training drops entries."""


@dataclass(frozen=True)
class VisionTransformer:
    """`x ← x + attention(norm(x))` in each layer; then logits of the mean over patches.

    Patches are embedded linearly and get a trained vector for their place.

    **Arguments:**

    - `embed`: pixels of a patch; `length`: patches of an image.
    - `width`: of the embedding, a multiple of `heads`; `layers` of attention.
    - `hidden`: neurons of the ReLU layer; `classes`: logits.
    """

    embed: int
    length: int
    width: int = 32
    heads: int = 4
    layers: int = 2
    hidden: int = 64
    classes: int = 10

    def __post_init__(self) -> None:
        check_sizes(self, "length", "width", "heads", "layers", "hidden", "classes")
        check_shared("width", self.width, self.heads)

    def draw(self, stream: np.random.Generator) -> DrawnWeights:
        """Weights as PyTorch's modules begin; places begin at zero."""
        d = self.width
        scores, values = draw_multihead(stream, self.layers, self.heads, d)
        values |= {
            "gain": np.ones((self.layers, d)),
            "shift": np.zeros((self.layers, d)),
            "patch": uniform(stream, self.embed, d, self.embed),
            "patch_bias": uniform(stream, self.embed, d),
            "place": np.zeros((self.length, d)),
            "W_1": uniform(stream, d, self.hidden, d),
            "b_1": uniform(stream, d, self.hidden),
            "W_2": uniform(stream, self.hidden, self.classes, self.hidden),
            "b_2": uniform(stream, self.hidden, self.classes),
        }
        return {"scores": scores, "values": values}

    def forward(
        self, weights: Weights, tokens: Array, key: Array | None = None
    ) -> Forward:
        """Logits of images, and the attention of each layer."""
        trained = weights["values"]
        state = tokens @ trained["patch"].T + trained["patch_bias"] + trained["place"]
        maps = []
        for layer in range(self.layers):
            values = layer_of({name: trained[name] for name in _ATTENTION}, layer)
            scores = layer_of(weights["scores"], layer)
            seen = layer_norm(state, values["gain"], values["shift"])
            added, paid = multihead(scores, values, seen)
            state = state + added
            maps.append(paid)
        neurons = jax.nn.relu(state.mean(axis=1) @ trained["W_1"].T + trained["b_1"])
        return Forward(neurons @ trained["W_2"].T + trained["b_2"], tuple(maps))


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
                f"embed is {self.embed}: positions have a sine and a cosine for each "
                f"of their rates, so it must be even, as in embed={self.embed + 1}."
            )
        if not 0 <= self.dropout < 1:
            raise ValueError(
                f"dropout is {self.dropout}: it is the share of entries that are "
                "dropped, in [0, 1). Use dropout=0.2."
            )

    def draw(self, stream: np.random.Generator) -> DrawnWeights:
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

    def forward(
        self, weights: Weights, tokens: Array, key: Array | None = None
    ) -> Forward:
        """Logits at every place, and the attention of each layer."""
        trained = weights["values"]
        keys = None if key is None else jax.random.split(key, 1 + DROPS * self.layers)
        state = trained["words"][tokens] * math.sqrt(self.embed)
        state = state + jnp.asarray(sinusoids(self.length, self.embed), state.dtype)
        state = drop_entries(state, self.dropout, None if keys is None else keys[0])
        layers = (
            weights["scores"],
            {name: array for name, array in trained.items() if name not in _NO_LAYER},
            None if keys is None else keys[1:].reshape(self.layers, DROPS),
        )
        # A loop, of which one layer is compiled, however many there are.
        state, maps = jax.lax.scan(self._layer, state, layers)
        return Forward(
            state @ trained["decoder"].T + trained["decoder_bias"], tuple(maps)
        )

    def _layer(self, state: Array, layer: Layer) -> tuple[Array, Array]:
        """What a layer gives, and what it pays; `layer` has its weights and keys."""
        scores, values, keys = layer
        drop = [
            partial(
                drop_entries, share=self.dropout, key=None if keys is None else keys[k]
            )
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
    """The parametrisation of the theory: embeddings U, W_Q, W_K and W_V, and no places.

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

    def draw(self, stream: np.random.Generator) -> DrawnWeights:
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

    def forward(
        self, weights: Weights, tokens: Array, key: Array | None = None
    ) -> Forward:
        """Logits at every place, and the attention of each layer."""
        values, scores = weights["values"], weights["scores"]
        before = jnp.tril(jnp.ones((self.length, self.length), bool), k=-1)
        mask = before.at[0, 0].set(True)
        state, maps = values["words"][tokens], []
        for layer in range(self.layers):
            keys, queries = (
                (state @ scores[name][layer].T)[:, :, None] for name in ("W_K", "W_Q")
            )
            paid = softmax_attention(keys, queries / math.sqrt(self.embed), mask)
            read = unit(jnp.einsum("nlk,nkd->nld", paid[:, 0], state))
            state = read @ values["W_V"][layer].T
            maps.append(paid)
        return Forward(state @ values["words"].T, tuple(maps))


def sinusoids(length: int, embed: int) -> np.ndarray:
    """Sines and cosines of places, at rates from 1 to 1/10000."""
    rates = np.exp(np.arange(0, embed, 2) * (-math.log(10_000.0) / embed))
    angles = np.arange(length)[:, None] * rates
    table = np.zeros((length, embed))
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return table
