"""Initial values: which chain of weights gives a token its value, and their law.

Each record tells the shapes of its weights, draws them, and builds the part that moves
them: plainly, or reduced, from given weights or from a draw of what the reduced part
needs alone.
"""

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.forms.base import AbstractPart
from attnflow.forms.chains import ChainGram, ChainTransport
from attnflow.forms.laws import (
    Law,
    bartlett_factor,
    draw_entries,
    gram_of,
    shortened,
)
from attnflow.forms.values import ValueTable
from attnflow.forms.weights import (
    ChainWeights,
    FixedOutputWeights,
    NeuronWeights,
    ValueWeights,
)

Weights = Mapping[str, Array]
BasisVectors = Float[Array, "basis embed"]
Built = tuple[AbstractPart, Array | dict[str, Array]]


class AbstractValues(abc.ABC):
    """How a token gets its value."""

    @abc.abstractmethod
    def shapes(self, heads: int, embed: int) -> dict[str, tuple[int, ...]]:
        """The shapes of the weights by name."""

    @abc.abstractmethod
    def draw(self, heads: int, embed: int, *, key: Array) -> dict[str, Array]:
        """The weights themselves."""

    @abc.abstractmethod
    def plain(self, weights: Weights, basis: BasisVectors) -> Built:
        """The part that holds the weights, and its state."""

    @abc.abstractmethod
    def reduced(self, weights: Weights, basis: BasisVectors, *, gram: bool) -> Built:
        """The reduced part for given weights, and its state."""

    @abc.abstractmethod
    def sampled(self, heads: int, rank: int, *, gram: bool, key: Array) -> Built:
        """The reduced part in law, without drawing weights, and its state."""

    @abc.abstractmethod
    def is_small(self, embed: int, limit: int) -> bool:
        """Whether there are few weights, or only weights can be drawn."""


@dataclass(frozen=True)
class Vector(AbstractValues):
    """The value of x is `w · x`, with entries of standard deviation `scale`."""

    scale: float = 0.0
    law: Law = "normal"

    def __post_init__(self) -> None:
        _check_scales(scale=self.scale)

    def shapes(self, heads: int, embed: int) -> dict[str, tuple[int, ...]]:
        """`w`: `(heads, embed)`."""
        return {"w": (heads, embed)}

    def draw(self, heads: int, embed: int, *, key: Array) -> dict[str, Array]:
        """`w`."""
        return {"w": draw_entries(self.law, self.scale, (heads, embed), key=key)}

    def plain(self, weights: Weights, basis: BasisVectors) -> Built:
        """`w` itself."""
        return ValueWeights(basis), {"w": weights["w"]}

    def reduced(self, weights: Weights, basis: BasisVectors, *, gram: bool) -> Built:
        """`w` on the tokens' span."""
        table = weights["w"] @ basis.T
        return ValueTable(jnp.ones(len(table))), table

    def sampled(self, heads: int, rank: int, *, gram: bool, key: Array) -> Built:
        """`w` on the tokens' span, drawn there: a rotation does not change its law."""
        table = draw_entries("normal", self.scale, (heads, rank), key=key)
        return ValueTable(jnp.ones(heads)), table

    def is_small(self, embed: int, limit: int) -> bool:
        """A vector is always small."""
        return True


@dataclass(frozen=True)
class Chain(AbstractValues):
    """The value of x is `w_Oᵀ W_V x`.

    **Arguments:**

    - `width`: rows of `W_V`.
    - `scale`, `output_scale`: standard deviations of the entries of `W_V` and `w_O`.
    - `trained`: whether `w_O` moves.
    """

    width: int
    scale: float
    output_scale: float
    trained: bool = True
    law: Law = "normal"

    def __post_init__(self) -> None:
        _check_scales(scale=self.scale, output_scale=self.output_scale)
        _check_widths(width=self.width)

    def shapes(self, heads: int, embed: int) -> dict[str, tuple[int, ...]]:
        """`W_V`: `(heads, width, embed)`, `w_O`: `(heads, width)`."""
        return {"W_V": (heads, self.width, embed), "w_O": (heads, self.width)}

    def draw(self, heads: int, embed: int, *, key: Array) -> dict[str, Array]:
        """`W_V` and `w_O`."""
        key_v, key_o = jax.random.split(key)
        shapes = self.shapes(heads, embed)
        return {
            "W_V": draw_entries(self.law, self.scale, shapes["W_V"], key=key_v),
            "w_O": draw_entries(self.law, self.output_scale, shapes["w_O"], key=key_o),
        }

    def plain(self, weights: Weights, basis: BasisVectors) -> Built:
        """`W_V`, and `w_O` where it is trained."""
        if self.trained:
            return ChainWeights(basis), {n: weights[n] for n in ("W_V", "w_O")}
        part = FixedOutputWeights(basis, weights["w_O"])
        return part, {"W_V": weights["W_V"]}

    def reduced(self, weights: Weights, basis: BasisVectors, *, gram: bool) -> Built:
        """The chain on the tokens' span."""
        output = weights["w_O"]
        if self.trained:
            gain = jnp.ones(len(output))
            return _chain(weights["W_V"], output, gain, basis, gram=gram)
        table = jnp.einsum("hv,hvd,rd->hr", output, weights["W_V"], basis)
        return ValueTable((output**2).sum(axis=1)), table

    def sampled(self, heads: int, rank: int, *, gram: bool, key: Array) -> Built:
        """A Wishart draw of `[W_V β]`; for fixed `w_O` its norm and the values."""
        if self.trained:
            scales = jnp.full((heads,), self.output_scale)
            gain = jnp.ones(heads)
            return _sampled_chain(self, scales, gain, rank, gram=gram, key=key)
        key_norm, key_table = jax.random.split(key)
        chi = jax.random.chisquare(key_norm, self.width, (heads,), dtype=jnp.float64)
        norm = self.output_scale * jnp.sqrt(chi)
        table = draw_entries("normal", self.scale, (heads, rank), key=key_table)
        return ValueTable(norm**2), norm[:, None] * table

    def is_small(self, embed: int, limit: int) -> bool:
        """Few weights, or a law that only weights have."""
        few = self.width * embed <= limit or self.width < embed + 1
        return few or self.law != "normal"


@dataclass(frozen=True)
class Neurons(AbstractValues):
    """The value of x is `aᵀ W W_V x` with a fixed: a linear layer of neurons.

    **Arguments:**

    - `width`: rows of `W_V`; `count`: neurons, rows of `W`.
    - `scale`, `inner_scale`: standard deviations of the entries of `W_V` and `W`.
    - `output`: `signs` (each ±`output_scale`), or entries of that standard deviation by
      `law`.
    """

    width: int
    count: int
    scale: float
    inner_scale: float
    output_scale: float = 1.0
    output: Literal["signs", "law"] = "signs"
    law: Law = "normal"

    def __post_init__(self) -> None:
        _check_scales(
            scale=self.scale,
            inner_scale=self.inner_scale,
            output_scale=self.output_scale,
        )
        _check_widths(width=self.width, count=self.count)

    def shapes(self, heads: int, embed: int) -> dict[str, tuple[int, ...]]:
        """`W_V`: `(heads, width, embed)`, `W`: `(heads, count, width)`, `a`."""
        return {
            "W_V": (heads, self.width, embed),
            "W": (heads, self.count, self.width),
            "a": (heads, self.count),
        }

    def draw(self, heads: int, embed: int, *, key: Array) -> dict[str, Array]:
        """`W_V`, `W` and `a`."""
        key_v, key_w, key_a = jax.random.split(key, 3)
        shapes = self.shapes(heads, embed)
        return {
            "W_V": draw_entries(self.law, self.scale, shapes["W_V"], key=key_v),
            "W": draw_entries(self.law, self.inner_scale, shapes["W"], key=key_w),
            "a": self._draw_output(shapes["a"], key=key_a),
        }

    def _draw_output(self, shape: tuple[int, ...], *, key: Array) -> Array:
        if self.output == "law":
            return draw_entries(self.law, self.output_scale, shape, key=key)
        return self.output_scale * jax.random.rademacher(key, shape, jnp.float64)

    def plain(self, weights: Weights, basis: BasisVectors) -> Built:
        """`W_V` and `W`."""
        part = NeuronWeights(basis, weights["a"])
        return part, {name: weights[name] for name in ("W_V", "W")}

    def reduced(self, weights: Weights, basis: BasisVectors, *, gram: bool) -> Built:
        """The chain of `W_V` and `β = Wᵀ a`, with gain `|a|²`."""
        seen = jnp.einsum("hn,hnv->hv", weights["a"], weights["W"])
        gain = (weights["a"] ** 2).sum(axis=1)
        return _chain(weights["W_V"], seen, gain, basis, gram=gram)

    def sampled(self, heads: int, rank: int, *, gram: bool, key: Array) -> Built:
        """A Wishart draw of `[W_V β]`: given a, β is normal with variance `|a|²`."""
        key_a, key_chain = jax.random.split(key)
        if self.output == "signs":
            gain = jnp.full((heads,), self.output_scale**2 * self.count)
        else:
            chi = jax.random.chisquare(key_a, self.count, (heads,), dtype=jnp.float64)
            gain = self.output_scale**2 * chi
        scales = self.inner_scale * jnp.sqrt(gain)
        return _sampled_chain(self, scales, gain, rank, gram=gram, key=key_chain)

    def is_small(self, embed: int, limit: int) -> bool:
        """Few weights, or a law that only weights have."""
        few = self.width * (embed + self.count) <= limit or self.width < embed + 1
        return few or self.law != "normal"


def _chain(
    first: Array, seen: Array, gain: Array, basis: BasisVectors, *, gram: bool
) -> Built:
    factor = jnp.concatenate([first @ basis.T, seen[..., None]], axis=-1)
    return _from_factor(shortened(factor), gain, gram=gram)


def _from_factor(factor: Array, gain: Array, *, gram: bool) -> Built:
    if gram:
        return ChainGram(gain), gram_of(factor)
    return ChainTransport(gain), factor


def _sampled_chain(
    spec: Chain | Neurons,
    scales: Array,
    gain: Array,
    rank: int,
    *,
    gram: bool,
    key: Array,
) -> Built:
    """`[W_V β]` in law: independent columns, β with its own `scales`."""
    heads = len(scales)
    if spec.width < rank + 1:
        raise ValueError(
            f"The value width {spec.width} is below the tokens' rank {rank} plus one, "
            "where the Gram matrix is singular. Use draw='weights'."
        )
    factor = bartlett_factor(spec.width, rank + 1, heads, key=key)
    columns = jnp.full((heads, rank), spec.scale)
    columns = jnp.concatenate([columns, scales[:, None]], axis=1)
    return _from_factor(factor * columns[:, None, :], gain, gram=gram)


def _check_scales(**scales: float) -> None:
    for name, scale in scales.items():
        if not 0 <= scale < float("inf"):
            raise ValueError(
                f"{name} is {scale}; a standard deviation must be finite and not "
                f"negative. Use {name}=0.1."
            )


def _check_widths(**widths: int) -> None:
    for name, width in widths.items():
        if width < 1:
            raise ValueError(f"{name} is {width}; use a positive integer.")
