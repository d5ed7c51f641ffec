"""Initial values: which chain of weights gives a token its value, and their law.

Each record tells the shapes of its weights, draws them, and builds the part that moves
them: plainly, or reduced, from given weights or from a draw of what the reduced part
needs alone. That draw is one of

- `bartlett`: the law of weights of finite width;
- `limit`: Gram matrices at their expectation, and initial values that are normal with
  the variance that they have at large width. Values do not vanish there: a sum of many
  products of two weights is normal, while Gram matrices no longer fluctuate;
- `expected`: Gram matrices at their expectation and initial values zero: no noise.
"""

import abc
from collections.abc import Mapping
from typing import ClassVar, Literal, NamedTuple

from jaxtyping import Array, Float

from attnflow.models.forms.base import AbstractPart
from attnflow.models.forms.laws import Law

Weights = Mapping[str, Array]
BasisVectors = Float[Array, "basis embed"]
Built = tuple[AbstractPart, Array | dict[str, Array]]
Draw = Literal["bartlett", "limit", "expected"]


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
    def sampled(
        self,
        heads: int,
        rank: int,
        *,
        gram: bool,
        key: Array,
        draw: Draw = "bartlett",
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


def check_scales(**scales: float) -> None:
    """Raise where a standard deviation is negative or not finite."""
    for name, scale in scales.items():
        if not 0 <= scale < float("inf"):
            raise ValueError(
                f"{name} is {scale}; a standard deviation must be finite and not "
                f"negative. Use {name}=0.1."
            )


def check_widths(**widths: int) -> None:
    """Raise where a number of rows is not positive."""
    for name, width in widths.items():
        if width < 1:
            raise ValueError(f"{name} is {width}; use a positive integer.")


def check_draw(law: Law, draw: Draw) -> None:
    """Raise where weights of this law have no Wishart Gram matrix."""
    if draw == "bartlett" and law != "normal":
        raise ValueError(
            f"The law of the values' weights is {law!r}, and only normal weights have "
            "a Wishart Gram matrix. Use draw='weights', or draw='limit', which holds "
            "for every law."
        )
