"""Initial values and the laws of initial weights.

Each record of values names the axes of its weights, draws them, and builds the part
that moves them: plainly, or reduced, from given weights or from a draw of what the
reduced part needs alone. Such a draw is one of three:

- `bartlett`: the law of weights of finite width;
- `limit`: Gram matrices at their expectation, and initial values that are normal with
  the variance that they have at large width. Values do not vanish there: a sum of many
  products of two weights is normal, while Gram matrices no longer fluctuate;
- `expected`: Gram matrices at their expectation and initial values zero: no noise.
"""

import abc
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.token_sequences import on_device
from attnflow.models.forms.base import BasisVectors, Built, DrawnWeights, Weights
from attnflow.models.forms.values import ValueTable
from attnflow.models.forms.weights import ClassMeanWeights, ValueWeights

Law = Literal["normal", "uniform"]
Draw = Literal["bartlett", "limit", "expected"]


def draw_entries(
    law: Law, scale: float, shape: tuple[int, ...], *, key: Key
) -> np.ndarray:
    """Independent entries of mean 0 and standard deviation `scale`."""
    if law == "normal":
        return scale * random.normal(key, shape)
    bound = np.sqrt(3.0)
    return scale * random.uniform(key, shape, -bound, bound)


def bartlett_factor(
    rows: int, columns: int, blocks: int, *, key: Key
) -> Float[np.ndarray, "blocks columns columns"]:
    """A factor F with `FᵀF` Wishart of `rows` degrees of freedom, in few draws.

    F is upper triangular with `F[i, i]² ~ χ²(rows − i)` and standard normal entries
    above: then `FᵀF` has the law of `XᵀX` for X of that many standard normal rows
    (Bartlett's decomposition). Needs `rows >= columns`.
    """
    # One seed must not give nearly the same draw at every width: ladders over the
    # width would look cleaner than they are.
    key_chi, key_normal = random.split(random.fold_in(key, rows % 2**31))
    # In float64: 10^20 rows are no 64-bit integer.
    freedom = float(rows) - np.arange(columns, dtype=float)
    chi = np.sqrt(random.chisquare(key_chi, freedom, (blocks, columns)))
    above = random.normal(key_normal, (blocks, columns, columns))
    return np.triu(above, 1) + np.eye(columns) * chi[:, :, None]


def shortened(
    factor: Float[np.ndarray, "blocks rows columns"],
) -> Float[np.ndarray, "blocks short columns"]:
    """A factor with the same Gram matrix and at most as many rows as columns."""
    if factor.shape[1] <= factor.shape[2]:
        return factor
    # With this mode it is R alone, whatever the stubs say.
    return np.linalg.qr(factor, mode="r")  # pyright: ignore[reportReturnType]


def gram_of(factor: Float[np.ndarray, "blocks rows columns"]) -> np.ndarray:
    """`FᵀF`."""
    return factor.swapaxes(-1, -2) @ factor


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


class Alike(NamedTuple):
    """Neurons of values for rules that see each coordinate alone.

    A value is `Σ_n readout_n ⟨w_n, x⟩`; one neuron here may stand for many whose
    gradients are equal at all times up to their signs. A unit force on a value pulls on
    each by `slope`, and the value moves by `gain` when each moves by one.

    - `weights`: `(heads, neurons, embed)`; `output`: the trained readout, if it is.
    """

    weights: np.ndarray
    readout: np.ndarray
    slope: np.ndarray
    gain: float = 1.0
    output: np.ndarray | None = None


class AbstractValues(abc.ABC):
    """How a token gets its value.

    `axes` names the axes of each weight after that of the heads; axes of one name have
    one size.
    """

    axes: ClassVar[dict[str, tuple[str, ...]]]
    law: Law

    @abc.abstractmethod
    def draw(self, heads: int, embed: int, *, key: Key) -> DrawnWeights:
        """The weights themselves."""

    @abc.abstractmethod
    def plain(self, weights: Weights, basis: BasisVectors) -> Built:
        """The part that holds the weights, and its state."""

    @abc.abstractmethod
    def reduced(self, weights: Weights, basis: BasisVectors, *, gram: bool) -> Built:
        """The reduced part for given weights, and its state."""

    @abc.abstractmethod
    def sampled(
        self, heads: int, rank: int, *, gram: bool, key: Key, draw: Draw = "bartlett"
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
    """Values by one vector: `w · x`, with entries of standard deviation `scale`."""

    scale: float = 0.0
    law: Law = "normal"
    alike_is_known: ClassVar[bool] = True
    axes: ClassVar[dict[str, tuple[str, ...]]] = {"w": ("embed",)}

    def __post_init__(self) -> None:
        check_scales(scale=self.scale)

    def draw(self, heads: int, embed: int, *, key: Key) -> DrawnWeights:
        """`w`: `(heads, embed)`."""
        return {"w": draw_entries(self.law, self.scale, (heads, embed), key=key)}

    def plain(self, weights: Weights, basis: BasisVectors) -> Built:
        """`w` itself."""
        return ValueWeights(on_device(basis)), on_device({"w": weights["w"]})

    def reduced(self, weights: Weights, basis: BasisVectors, *, gram: bool) -> Built:
        """`w` on the tokens' span."""
        table = np.asarray(weights["w"]) @ np.asarray(basis).T
        return ValueTable(on_device(np.ones(len(table)))), on_device(table)

    def sampled(
        self, heads: int, rank: int, *, gram: bool, key: Key, draw: Draw = "bartlett"
    ) -> Built:
        """`w` on the tokens' span, drawn there: a rotation does not change its law."""
        if self.law != "normal" and self.scale > 0:
            check_draw(self.law, draw)
        scale = 0.0 if draw == "expected" else self.scale
        table = draw_entries("normal", scale, (heads, rank), key=key)
        return ValueTable(on_device(np.ones(heads))), on_device(table)

    def alike(self, weights: Weights) -> Alike:
        """One neuron."""
        weight = np.asarray(weights["w"])
        unit = np.ones((len(weight), 1))
        return Alike(weight[:, None, :], unit, unit)

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

    def draw(self, heads: int, embed: int, *, key: Key) -> DrawnWeights:
        """`W_V`: `(heads, 2, count, embed)`."""
        shape = (heads, 2, self.count, embed)
        return {"W_V": draw_entries(self.law, self.scale, shape, key=key)}

    def plain(self, weights: Weights, basis: BasisVectors) -> Built:
        """`W_V` itself."""
        return ClassMeanWeights(on_device(basis)), on_device({"W_V": weights["W_V"]})

    def reduced(self, weights: Weights, basis: BasisVectors, *, gram: bool) -> Built:
        """The difference of the means on the tokens' span."""
        means = np.asarray(weights["W_V"]).mean(axis=2)
        table = (means[:, 0] - means[:, 1]) @ np.asarray(basis).T
        return self._part(len(table), weights["W_V"].shape[2]), on_device(table)

    def sampled(
        self, heads: int, rank: int, *, gram: bool, key: Key, draw: Draw = "bartlett"
    ) -> Built:
        """The difference of the means itself, of variance `2 scale² / count`."""
        check_draw(self.law, draw)
        scale = 0.0 if draw == "expected" else self.scale * np.sqrt(2 / self.count)
        table = draw_entries("normal", scale, (heads, rank), key=key)
        return self._part(heads, self.count), on_device(table)

    def _part(self, heads: int, count: int) -> ValueTable:
        return ValueTable(on_device(np.full(heads, 2 / count)), copies=2)

    def alike(self, weights: Weights) -> Alike:
        """One neuron for all: those of one class move as one, the others opposite."""
        means = np.asarray(weights["W_V"]).mean(axis=2)
        unit = np.ones((len(means), 1))
        neuron = (means[:, 0] - means[:, 1])[:, None, :]
        return Alike(neuron, unit, unit / self.count, 2.0)

    def is_small(self, embed: int, limit: int) -> bool:
        """Few weights, or a law that only weights have."""
        return 2 * self.count * embed <= limit or self.law != "normal"
