"""Rules that see weights whole: the length of a gradient, or its matrices.

Both commute with rotations. A form in coordinates of its own must tell lengths and
matrices as plain weights have them; rules are then followed exactly.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from attnflow.training.rules.base import (
    Paced,
    Sees,
    check_fraction,
    check_known,
    check_not_negative,
    check_positive,
)
from attnflow.training.rules.schedules import AbstractSchedule


@dataclass(frozen=True)
class NormalisedDescent(Paced):
    """`θ ← θ − learning_rate · ∇L(θ) / |∇L(θ)|`, with the length of the whole gradient.

    Where parts have rates of their own, it is still the length of the gradient by all
    parts that this kind of rule moves. A gradient of zero moves nothing. The size of
    the loss drops out, so that steps do not shrink with it, however small it becomes.
    """

    learning_rate: float
    schedule: AbstractSchedule | None = None
    name: ClassVar[str] = "normalised gradient descent"
    equivariant: ClassVar[bool] = True
    memoryless: ClassVar[bool] = True
    sees: ClassVar[Sees] = "length"

    def __post_init__(self) -> None:
        check_positive("learning_rate", self.learning_rate)

    def transformation(self) -> optax.GradientTransformation:
        """The gradient, which is divided by its length where parts come together."""
        return optax.identity()


@dataclass(frozen=True)
class Muon(Paced):
    """Momentum whose matrices are made orthogonal before each step.

    With `u ← momentum · u + G` for the gradient G of a matrix (and `G + momentum · u`
    in the place of u for `nesterov`), the step is

        W ← W − learning_rate · (O(u) + weight_decay · W).

    **Arguments:**

    - `orthogonal`: `exact` takes `O(u) = U Vᵀ` for `u = U Σ Vᵀ`, the polar factor;
      `newton-schulz` takes what is run in practice, `iterations` times
      `X ← a X + b X XᵀX + c X (XᵀX)²` with the `coefficients` (a, b, c), from
      `X = u / |u|`.
    - `cutoff`: the polar factor is not continuous where a singular value is zero, and
      gradients of attention have many of those. Singular values up to `cutoff` times
      the largest count as zero, and their directions do not move.

    Vectors are matrices of one row: they are normalised. Nothing is added to lengths
    that are divided by, and steps are not scaled by shapes: for `sqrt(max(1, rows /
    columns))`, as some have it, multiply the learning rate.

    ??? cite "Jordan et al., Muon: an optimizer for hidden layers, 2024"
    """

    learning_rate: float
    momentum: float = 0.95
    nesterov: bool = True
    weight_decay: float = 0.0
    orthogonal: Literal["newton-schulz", "exact"] = "newton-schulz"
    iterations: int = 5
    coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315)
    cutoff: float = 1e-9
    schedule: AbstractSchedule | None = None
    name: ClassVar[str] = "Muon"
    equivariant: ClassVar[bool] = True
    memoryless: ClassVar[bool] = False
    sees: ClassVar[Sees] = "matrices"

    def __post_init__(self) -> None:
        check_positive("learning_rate", self.learning_rate)
        check_positive("cutoff", self.cutoff)
        check_fraction("momentum", self.momentum)
        check_known("orthogonal", self.orthogonal, ("newton-schulz", "exact"))
        if self.iterations < 1:
            raise ValueError(
                f"iterations is {self.iterations}: use 1 or more, such as 5."
            )
        check_not_negative("weight_decay", self.weight_decay)

    def transformation(self) -> optax.GradientTransformation:
        """The momentum, whose matrices are then made orthogonal."""
        return optax.trace(decay=self.momentum, nesterov=self.nesterov)

    def orthogonalised(
        self, matrix: Float[Array, "*batch rows columns"]
    ) -> Float[Array, "*batch rows columns"]:
        """`O(u)` of each matrix."""
        if self.orthogonal == "exact":
            return polar_factor(matrix, cutoff=self.cutoff)
        return newton_schulz(matrix, self.coefficients, iterations=self.iterations)


def polar_factor(
    matrix: Float[Array, "*batch rows columns"], *, cutoff: float
) -> Float[Array, "*batch rows columns"]:
    """`U Vᵀ` over singular values above `cutoff` times the largest."""
    left, sizes, right = jnp.linalg.svd(matrix, full_matrices=False)
    kept = jnp.where(sizes > cutoff * sizes[..., :1], 1.0, 0.0 * sizes)
    return (left * kept[..., None, :]) @ right


def newton_schulz(
    matrix: Float[Array, "*batch rows columns"],
    coefficients: tuple[float, float, float],
    *,
    iterations: int,
) -> Float[Array, "*batch rows columns"]:
    """Iterations of `a X + b X XᵀX + c X (XᵀX)²`, from a matrix of length one."""
    first, second, third = coefficients
    if matrix.shape[-2] < matrix.shape[-1]:
        turned = newton_schulz(_turned(matrix), coefficients, iterations=iterations)
        return _turned(turned)
    x = _unit(matrix)
    for _ in range(iterations):
        square = _turned(x) @ x
        x = first * x + x @ (second * square + third * square @ square)
    return x


def _unit(matrix: Array) -> Array:
    # Squares of a small gradient would underflow before they are summed.
    top = jnp.abs(matrix).max(axis=(-2, -1), keepdims=True)
    even = matrix / jnp.where(top > 0, top, 1.0)
    size = jnp.sqrt((even**2).sum(axis=(-2, -1), keepdims=True))
    return even / jnp.where(size > 0, size, 1.0)


def _turned(matrix: Array) -> Array:
    return matrix.swapaxes(-1, -2)
