"""Values by one vector."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array

from attnflow.models.forms.initial_values import (
    AbstractValues,
    Alike,
    BasisVectors,
    Built,
    Draw,
    Weights,
    check_draw,
    check_scales,
)
from attnflow.models.forms.laws import Law, draw_entries
from attnflow.models.forms.values import ValueTable
from attnflow.models.forms.weights import ValueWeights


@dataclass(frozen=True)
class Vector(AbstractValues):
    """The value of x is `w · x`, with entries of standard deviation `scale`."""

    scale: float = 0.0
    law: Law = "normal"
    alike_is_known: ClassVar[bool] = True
    axes: ClassVar[dict[str, tuple[str, ...]]] = {"w": ("embed",)}

    def __post_init__(self) -> None:
        check_scales(scale=self.scale)

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

    def sampled(
        self,
        heads: int,
        rank: int,
        *,
        gram: bool,
        key: Array,
        draw: Draw = "bartlett",
    ) -> Built:
        """`w` on the tokens' span, drawn there: a rotation does not change its law."""
        if self.scale > 0:
            check_draw(self.law, draw)
        scale = 0.0 if draw == "expected" else self.scale
        table = draw_entries("normal", scale, (heads, rank), key=key)
        return ValueTable(jnp.ones(heads)), table

    def alike(self, weights: Weights) -> Alike:
        """One neuron."""
        one = jnp.ones((len(weights["w"]), 1))
        return Alike(weights["w"][:, None, :], one, one)

    def is_small(self, embed: int, limit: int) -> bool:
        """A vector is always small."""
        return True
