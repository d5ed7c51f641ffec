"""Initial values: which chain of weights gives a token its value, and their law.

Each record names the axes of its weights, draws them, and builds the part that moves
them: plainly, or reduced, from given weights or from a draw of what the reduced part
needs alone (`attnflow.models.forms.laws`).
"""

import abc
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.models.forms.base import Arrays, BasisVectors, Built, Weights
from attnflow.models.forms.laws import (
    Draw,
    Law,
    check_draw,
    check_scales,
    check_widths,
    draw_entries,
)
from attnflow.models.forms.values import ValueTable
from attnflow.models.forms.weights import ClassMeanWeights, ValueWeights


class Alike(NamedTuple):
    """Neurons of values for rules that see each coordinate alone.

    A value is `Σ_n readout_n ⟨w_n, x⟩`; one neuron here may stand for many whose
    gradients are equal at all times up to their signs. A unit force on a value pulls on
    each by `slope`, and the value moves by `gain` when each moves by one.

    - `weights`: `(heads, neurons, embed)`; `output`: the trained readout, if it is.
    """

    weights: Array
    readout: Array
    slope: Array
    gain: float = 1.0
    output: Array | None = None


class AbstractValues(abc.ABC):
    """How a token gets its value.

    `axes` names the axes of each weight after that of the heads; axes of one name have
    one size.
    """

    axes: ClassVar[dict[str, tuple[str, ...]]]
    law: Law

    @abc.abstractmethod
    def draw(self, heads: int, embed: int, *, key: Array) -> Arrays:
        """The weights themselves."""

    @abc.abstractmethod
    def plain(self, weights: Weights, basis: BasisVectors) -> Built:
        """The part that holds the weights, and its state."""

    @abc.abstractmethod
    def reduced(self, weights: Weights, basis: BasisVectors, *, gram: bool) -> Built:
        """The reduced part for given weights, and its state."""

    @abc.abstractmethod
    def sampled(
        self, heads: int, rank: int, *, gram: bool, key: Array, draw: Draw = "bartlett"
    ) -> Built:
        """The reduced part in law, without drawing weights, and its state."""

    alike_is_known: ClassVar[bool] = False

    def alike(self, weights: Weights) -> Alike:
        """The neurons for rules that see each coordinate alone."""
        raise ValueError(
            f"{type(self).__name__} is not known to forms over coordinates: use "
            "form='weights'."
        )

    @abc.abstractmethod
    def is_small(self, embed: int, limit: int) -> bool:
        """Whether there are few weights, or only weights can be drawn."""


@dataclass(frozen=True)
class Vector(AbstractValues):
    """The value of x is `w · x`, with entries of standard deviation `scale`."""

    scale: float = 0.0
    law: Law = "normal"
    alike_is_known: ClassVar[bool] = True
    axes: ClassVar[dict[str, tuple[str, ...]]] = {"w": ("embed",)}

    def __post_init__(self) -> None:
        check_scales(scale=self.scale)

    def draw(self, heads: int, embed: int, *, key: Array) -> Arrays:
        """`w`: `(heads, embed)`."""
        return {"w": draw_entries(self.law, self.scale, (heads, embed), key=key)}

    def plain(self, weights: Weights, basis: BasisVectors) -> Built:
        """`w` itself."""
        return ValueWeights(basis), {"w": weights["w"]}

    def reduced(self, weights: Weights, basis: BasisVectors, *, gram: bool) -> Built:
        """`w` on the tokens' span."""
        table = weights["w"] @ basis.T
        return ValueTable(jnp.ones(len(table))), table

    def sampled(
        self, heads: int, rank: int, *, gram: bool, key: Array, draw: Draw = "bartlett"
    ) -> Built:
        """`w` on the tokens' span, drawn there: a rotation does not change its law."""
        if self.scale > 0:
            check_draw(self.law, draw)
        scale = 0.0 if draw == "expected" else self.scale
        table = draw_entries("normal", scale, (heads, rank), key=key)
        return ValueTable(jnp.ones(heads)), table

    def alike(self, weights: Weights) -> Alike:
        """One neuron."""
        unit = jnp.ones((len(weights["w"]), 1))
        return Alike(weights["w"][:, None, :], unit, unit)

    def is_small(self, embed: int, limit: int) -> bool:
        """A vector is always small."""
        return True


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

    def draw(self, heads: int, embed: int, *, key: Array) -> Arrays:
        """`W_V`: `(heads, 2, count, embed)`."""
        shape = (heads, 2, self.count, embed)
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
        self, heads: int, rank: int, *, gram: bool, key: Array, draw: Draw = "bartlett"
    ) -> Built:
        """The difference of the means itself, of variance `2 scale² / count`."""
        check_draw(self.law, draw)
        scale = 0.0 if draw == "expected" else self.scale * np.sqrt(2 / self.count)
        table = draw_entries("normal", scale, (heads, rank), key=key)
        return ValueTable(jnp.full((heads,), 2 / self.count), copies=2), table

    def alike(self, weights: Weights) -> Alike:
        """One neuron for all: those of one class move as one, the others opposite."""
        means = weights["W_V"].mean(axis=2)
        unit, neuron = (
            jnp.ones((len(means), 1)),
            (means[:, 0] - means[:, 1])[:, None, :],
        )
        return Alike(neuron, unit, unit / self.count, 2.0)

    def is_small(self, embed: int, limit: int) -> bool:
        """Few weights, or a law that only weights have."""
        return 2 * self.count * embed <= limit or self.law != "normal"
