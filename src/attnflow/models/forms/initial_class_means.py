"""Values by the difference of two means over neurons."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
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
    check_widths,
)
from attnflow.models.forms.laws import Law, draw_entries
from attnflow.models.forms.values import ValueTable
from attnflow.models.forms.weights import ClassMeanWeights


@dataclass(frozen=True)
class ClassMeans(AbstractValues):
    """The value of x is `mean_r W_V[0, r] · x − mean_r W_V[1, r] · x`.

    Each head has two banks of `count` linear neurons, one for either class, which are
    all trained. A unit force moves each of them by `±1 / count` and the value by
    `2 / count`, whatever the neurons are: all of them move alike.

    **Arguments:**

    - `count`: neurons of a bank.
    - `scale`: standard deviation of the entries of `W_V`, by `law`.
    """

    count: int
    scale: float
    law: Law = "normal"
    alike_is_known: ClassVar[bool] = True
    axes: ClassVar[dict[str, tuple[str, ...]]] = {"W_V": ("class", "neuron", "embed")}

    def __post_init__(self) -> None:
        check_scales(scale=self.scale)
        check_widths(count=self.count)

    def shapes(self, heads: int, embed: int) -> dict[str, tuple[int, ...]]:
        """`W_V`: `(heads, 2, count, embed)`."""
        return {"W_V": (heads, 2, self.count, embed)}

    def draw(self, heads: int, embed: int, *, key: Array) -> dict[str, Array]:
        """`W_V`."""
        shape = self.shapes(heads, embed)["W_V"]
        return {"W_V": draw_entries(self.law, self.scale, shape, key=key)}

    def plain(self, weights: Weights, basis: BasisVectors) -> Built:
        """`W_V` itself."""
        return ClassMeanWeights(basis), {"W_V": weights["W_V"]}

    def reduced(self, weights: Weights, basis: BasisVectors, *, gram: bool) -> Built:
        """The difference of the means on the tokens' span."""
        heads, _, count, _ = weights["W_V"].shape
        table = ClassMeanWeights(basis).table({"W_V": weights["W_V"]})
        return ValueTable(jnp.full((heads,), 2 / count), copies=2), table

    def sampled(
        self,
        heads: int,
        rank: int,
        *,
        gram: bool,
        key: Array,
        draw: Draw = "bartlett",
    ) -> Built:
        """The difference of the means itself, of variance `2 scale² / count`."""
        check_draw(self.law, draw)
        scale = 0.0 if draw == "expected" else self.scale * np.sqrt(2 / self.count)
        table = draw_entries("normal", scale, (heads, rank), key=key)
        return ValueTable(jnp.full((heads,), 2 / self.count), copies=2), table

    def alike(self, weights: Weights) -> Alike:
        """One neuron for all: those of one class move as one, the others opposite."""
        means = weights["W_V"].mean(axis=2)
        one = jnp.ones((len(means), 1))
        return Alike(
            (means[:, 0] - means[:, 1])[:, None, :], one, one / self.count, 2.0
        )

    def is_small(self, embed: int, limit: int) -> bool:
        """Few weights, or a law that only weights have."""
        return 2 * self.count * embed <= limit or self.law != "normal"
