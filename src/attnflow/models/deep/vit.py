"""A small vision transformer: attention layers, a mean over patches, a ReLU layer."""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Array

from attnflow.models.deep.base import Look, Weights, check_sizes
from attnflow.models.deep.parts import (
    check_shared,
    draw_multihead,
    layer_norm,
    layer_of,
    multihead,
    uniform,
)

_ATTENTION = ("W_V", "b_V", "W_O", "b_O", "gain", "shift")


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

    def draw(self, stream: np.random.Generator) -> Weights:
        """Weights as PyTorch's own modules begin; places begin at zero."""
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

    def look(self, weights: Weights, tokens: Array, key: Array | None = None) -> Look:
        """Logits of images, and the attention of each layer."""
        own = weights["values"]
        state = tokens @ own["patch"].T + own["patch_bias"] + own["place"]
        maps = []
        for layer in range(self.layers):
            values = layer_of({name: own[name] for name in _ATTENTION}, layer)
            scores = layer_of(weights["scores"], layer)
            seen = layer_norm(state, values["gain"], values["shift"])
            added, paid = multihead(scores, values, seen)
            state = state + added
            maps.append(paid)
        neurons = jax.nn.relu(state.mean(axis=1) @ own["W_1"].T + own["b_1"])
        return Look(neurons @ own["W_2"].T + own["b_2"], tuple(maps))
