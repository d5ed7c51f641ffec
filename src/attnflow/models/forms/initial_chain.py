"""Values by a matrix and an output vector."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array

from attnflow.models.forms.chain_factors import (
    drawn_factor,
    given_factor,
    part_of_factor,
)
from attnflow.models.forms.initial_values import (
    AbstractValues,
    Alike,
    BasisVectors,
    Built,
    Draw,
    Weights,
    check_draw,
    check_scales,
    check_widths,
)
from attnflow.models.forms.laws import Law, draw_entries
from attnflow.models.forms.values import ValueTable
from attnflow.models.forms.weights import ChainWeights, FixedOutputWeights


@dataclass(frozen=True)
class Chain(AbstractValues):
    """The value of x is `w_Oᵀ W_V x`.

    **Arguments:**

    - `width`: rows of `W_V`.
    - `scale`, `output_scale`: standard deviations of the entries of `W_V` and `w_O`.
    - `output`: entries of `w_O` by `law`, or two `banks`: `+output_scale` in the first
      half of them and `−output_scale` in the second.
    - `trained`: whether `w_O` moves.
    """

    width: int
    scale: float
    output_scale: float
    trained: bool = True
    law: Law = "normal"
    output: Literal["law", "banks"] = "law"
    alike_is_known: ClassVar[bool] = True
    axes: ClassVar[dict[str, tuple[str, ...]]] = {
        "W_V": ("value_width", "embed"),
        "w_O": ("value_width",),
    }

    def __post_init__(self) -> None:
        check_scales(scale=self.scale, output_scale=self.output_scale)
        check_widths(width=self.width)
        if self.output == "banks" and self.width % 2:
            raise ValueError(
                f"width is {self.width}, but two banks of outputs need an even number "
                f"of neurons. Use width={self.width + 1}."
            )

    def shapes(self, heads: int, embed: int) -> dict[str, tuple[int, ...]]:
        """`W_V`: `(heads, width, embed)`, `w_O`: `(heads, width)`."""
        return {"W_V": (heads, self.width, embed), "w_O": (heads, self.width)}

    def draw(self, heads: int, embed: int, *, key: Array) -> dict[str, Array]:
        """`W_V` and `w_O`."""
        key_v, key_o = jax.random.split(key)
        shapes = self.shapes(heads, embed)
        return {
            "W_V": draw_entries(self.law, self.scale, shapes["W_V"], key=key_v),
            "w_O": self._outputs(shapes["w_O"], key=key_o),
        }

    def _outputs(self, shape: tuple[int, ...], *, key: Array) -> Array:
        if self.output == "law":
            return draw_entries(self.law, self.output_scale, shape, key=key)
        half = jnp.where(jnp.arange(self.width) < self.width // 2, 1.0, -1.0)
        return self.output_scale * jnp.broadcast_to(half, shape)

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
            factor = given_factor(weights["W_V"], output, basis)
            return part_of_factor(factor, jnp.ones(len(output)), gram=gram)
        table = jnp.einsum("hv,hvd,rd->hr", output, weights["W_V"], basis)
        return ValueTable((output**2).sum(axis=1)), table

    def sampled(
        self,
        heads: int,
        rank: int,
        *,
        gram: bool,
        key: Array,
        draw: Draw = "bartlett",
    ) -> Built:
        """A draw of `[W_V β]`; for fixed `w_O` its norm and the values."""
        check_draw(self.law, draw)
        if self.output == "banks":
            raise ValueError(
                "Two banks of outputs are drawn with their weights alone: use "
                "draw='weights' (or 'auto')."
            )
        if not self.trained:
            return self._sampled_table(heads, rank, key=key, draw=draw)
        factor = drawn_factor(
            self.width,
            rank,
            scale=self.scale,
            seen_scales=jnp.full((heads,), self.output_scale),
            key=key,
            draw=draw,
        )
        return part_of_factor(factor, jnp.ones(heads), gram=gram)

    def _sampled_table(self, heads: int, rank: int, *, key: Array, draw: Draw) -> Built:
        """Given `w_O`, values are normal with variance `|w_O|² scale²`, exactly."""
        key_norm, key_table = jax.random.split(key)
        square = jnp.full((heads,), float(self.width))
        if draw == "bartlett":
            square = jax.random.chisquare(key_norm, square, dtype=jnp.float64)
        norm = self.output_scale * jnp.sqrt(square)
        scale = 0.0 if draw == "expected" else self.scale
        table = draw_entries("normal", scale, (heads, rank), key=key_table)
        return ValueTable(norm**2), norm[:, None] * table

    def alike(self, weights: Weights) -> Alike:
        """Every neuron by itself."""
        output = weights["w_O"]
        trained = output if self.trained else None
        return Alike(weights["W_V"], output, output, output=trained)

    def is_small(self, embed: int, limit: int) -> bool:
        """Few weights, or a law that only weights have."""
        few = self.width * embed <= limit or self.width < embed + 1
        return few or self.law != "normal" or self.output == "banks"
