"""Stacks of attention blocks below the two-layer transformer with a linear head."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.models.deep.layers import (
    DrawnWeights,
    Forward,
    Weights,
    check_sizes,
    softmax_attention,
)


@dataclass(frozen=True)
class Stack:
    """Blocks `H ← [H +] attention(H)`, `H ← [H +] W_2 relu(W_1 H)`, and a read-out.

    The read-out is the two-layer transformer: with v the mean of its neurons of class
    +1 less that of class −1, `f = Σ_heads Σ_queries Σ_keys p(key | query) v · h_key`.
    Without blocks the stack is that transformer itself.

    **Arguments:**

    - `embed`, `width`, `neurons`: d, m_k and m_v; `heads` of every layer.
    - `blocks`: how many stand below the read-out.
    - `residual`: whether a block adds to what it reads.
    - `hidden`: neurons of a block's ReLU layer; none for blocks without one.
    - `deviation`: of all initial entries; `block_deviation`: of those of W_V, W_1 and
      W_2, where it is another.
    - `value_rank`: blocks have `W_O W_V` of this rank for W_V; none: a full matrix.
    - `factor`: of what a block adds.
    """

    embed: int
    width: int
    neurons: int
    deviation: float
    heads: int = 1
    blocks: int = 0
    residual: bool = True
    hidden: int | None = None
    block_deviation: float | None = None
    value_rank: int | None = None
    factor: float = 1.0

    def __post_init__(self) -> None:
        check_sizes(self, "embed", "width", "neurons", "heads", "hidden", "value_rank")
        if self.blocks < 0 or not self.deviation > 0:
            raise ValueError(
                f"blocks is {self.blocks} and deviation {self.deviation}: use 0 blocks "
                "or more, and a positive deviation."
            )

    @property
    def layers(self) -> int:
        """Blocks, and the attention of the read-out."""
        return self.blocks + 1

    def draw(self, stream: np.random.Generator) -> DrawnWeights:
        """Normal weights; blocks change nothing of the first layer and the read-out."""
        first, blocks = (part.standard_normal for part in stream.spawn(2))
        size = self.heads, self.width, self.embed
        scores = {
            name: self.deviation
            * np.concatenate([first((1, *size)), blocks((self.blocks, *size))])
            for name in ("W_K", "W_Q")
        }
        scale = self.block_deviation or self.deviation
        # An array for each block: the gradient of a slice would fill all of them.
        values = {
            name: tuple(scale * blocks((self.blocks, *shape)))
            for name, shape in self._block_shapes().items()
        }
        readout = self.deviation * first((self.heads, 2, self.neurons, self.embed))
        return {"scores": scores, "values": {**values, "readout": readout}}

    def _block_shapes(self) -> dict[str, tuple[int, ...]]:
        if not self.blocks:
            return {}
        d, rank = self.embed, self.value_rank
        shapes = {"W_V": (self.heads, rank or d, d)}
        if rank is not None:
            shapes["W_O"] = (self.heads, d, rank)
        if self.hidden is not None:
            shapes |= {"W_1": (self.hidden, d), "W_2": (d, self.hidden)}
        return shapes

    def forward(
        self, weights: Weights, tokens: Array, key: Array | None = None
    ) -> Forward:
        """Outputs of samples, and the attention of each layer."""
        state, maps = tokens, []
        for layer in range(self.blocks):
            state, paid = self._block(weights, layer, state)
            maps.append(paid)
        paid = self._attention(weights, self.blocks, state)
        means = weights["values"]["readout"].mean(axis=-2)
        value = jnp.einsum("nkd,hd->nhk", state, means[:, 0] - means[:, 1])
        output = jnp.einsum("nhlk,nhk->n", paid, value)
        return Forward(output, (*maps, paid))

    def _attention(self, weights: Weights, layer: int, state: Array) -> Array:
        keys, queries = (
            jnp.einsum("nld,hmd->nlhm", state, weights["scores"][name][layer])
            for name in ("W_K", "W_Q")
        )
        return softmax_attention(keys, queries)

    def _block(self, weights: Weights, layer: int, state: Array) -> tuple[Array, Array]:
        block = {n: w[layer] for n, w in weights["values"].items() if n != "readout"}
        paid = self._attention(weights, layer, state)
        value = jnp.einsum("nkd,hed->nkhe", state, block["W_V"])
        read = jnp.einsum("nhlk,nkhe->nlhe", paid, value)
        if self.value_rank is None:
            added = read.sum(axis=2)
        else:
            added = jnp.einsum("nlhe,hde->nld", read, block["W_O"])
        state = self._join(state, added)
        if self.hidden is not None:
            neurons = jax.nn.relu(state @ block["W_1"].T)
            state = self._join(state, neurons @ block["W_2"].T)
        return state, paid

    def _join(self, state: Array, added: Array) -> Array:
        return self.factor * added + (state if self.residual else 0.0)
