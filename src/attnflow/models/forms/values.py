"""Reduced values: on the tokens' span, linear in one set of weights or a chain of two.

Two chains are trained in their factors. With β the vector that the readout sees,

- `w_O` trained:  value of x is `w_Oᵀ W_V x`, and β is `w_O`;
- neurons:        value of x is `aᵀ W W_V x` with a fixed, and β is `Wᵀ a`.

In both, with the force z on the values, minus the gradient moves `W_V` by `β zᵀ` and
β by `g W_V z`, where the gain g is 1, and `|a|²` for neurons (all move along a,
so that they collapse into one of output weight |a|). So `[W_V β]` moves by
`[W_V β] Ω` with

    Ω = [[0, g z], [zᵀ, 0]],

and the chain closes at every width as keys and queries do: by transport
`[W_V β](t) = [W_V β](0) M(t)`, or by the Gram matrix `P = [[A_V, G], [Gᵀ, b]]`, whose
last column G holds the values. Its initial state is a factor F with `FᵀF` the Gram
matrix of `[W_V β]`.
"""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.models.forms.base import (
    AbstractColumns,
    AbstractLengths,
    AbstractMatrices,
    AbstractOneWeight,
    AbstractPart,
    AbstractReducedPart,
    Matrices,
    divisor,
    memory_refusal,
    rotation_refusal,
)
from attnflow.training.rules import Rule

Factor = Float[Array, "heads rows columns"]


class ValueTable(AbstractOneWeight, AbstractReducedPart, AbstractMatrices):
    """The values of an orthonormal basis of the tokens' span; the state is the table.

    What lies outside the span is never seen and never moves. The `gain` is what a unit
    force moves a value by: 1 where the value of x is `w · x`, `|w_O|²` where it is
    `w_Oᵀ W_V x` with `w_O` fixed, `2/m` where it is the difference of two means over m
    neurons. Behind the table stand `copies` matrices, each of which moves along one
    direction of its rows alone, by equal amounts.
    """

    gain: Float[Array, " blocks"]
    copies: int = eqx.field(static=True, default=1)

    def table(self, state: Array) -> Array:
        """The state itself."""
        return state

    def velocity(self, state: Array, force: Array) -> Array:
        """The gain times the force."""
        return self.gain[:, None] * force

    def matrices(self, update: Array) -> Matrices:
        """One row for each copy, in units in which it is as long as its matrix."""
        row = update / jnp.sqrt(divisor(self.copies * self.gain))[:, None]
        shape = (row.shape[0], self.copies, 1, row.shape[1])
        return {"table": jnp.broadcast_to(row[:, None, None, :], shape)}

    def from_matrices(self, matrices: Matrices) -> Array:
        """What copies that move alike make of the table."""
        row = matrices["table"][:, 0, 0]
        return jnp.sqrt(self.copies * self.gain)[:, None] * row


class ChainTransport(AbstractColumns, AbstractReducedPart, AbstractMatrices):
    """The transport of `[W_V β]`, carried as `N = F M`.

    The state is N, `(blocks, rows, r + 1)` with at most r + 1 rows.
    """

    gain: Float[Array, " blocks"]
    first: ClassVar[str] = "W_V"
    second: ClassVar[str] = "w_O"

    def table(self, state: Array) -> Array:
        """The value of each basis vector."""
        return jnp.einsum("bmr,bm->br", state[..., :-1], state[..., -1])

    def velocity(self, state: Array, force: Array) -> Array:
        """`N Ω`."""
        first, seen = state[..., :-1], state[..., -1]
        rate = self.gain[:, None] * jnp.einsum("bmr,br->bm", first, force)
        outer = seen[..., None] * force[:, None, :]
        return jnp.concatenate([outer, rate[..., None]], axis=-1)

    def matrices(self, update: Array) -> Matrices:
        """`W_V`, and β as the row along which the weights behind it move.

        These are `w_O` itself, or neurons, which move by `a uᵀ` alone: β moves by
        `|a|² u`, and the row is `|a| u`.
        """
        row = update[..., -1] / jnp.sqrt(divisor(self.gain))[:, None]
        return {"W_V": update[..., :-1], "beta": row[:, None, :]}

    def from_matrices(self, matrices: Matrices) -> Array:
        """Both side by side, with β as the last column."""
        seen = jnp.sqrt(self.gain)[:, None] * matrices["beta"][:, 0]
        return jnp.concatenate([matrices["W_V"], seen[..., None]], axis=-1)


class ChainGram(AbstractColumns, AbstractPart, AbstractLengths):
    """The Gram matrix of `[W_V β]`; the state is P, `(blocks, r + 1, r + 1)`."""

    gain: Float[Array, " blocks"]
    first: ClassVar[str] = "W_V"
    second: ClassVar[str] = "w_O"

    def table(self, state: Array) -> Array:
        """The value of each basis vector: the last column without its last entry."""
        return state[..., :-1, -1]

    def velocity(self, state: Array, force: Array) -> Array:
        """`Ωᵀ P + P Ω`."""
        half = state @ chain_generator(force, self.gain)
        return half + half.swapaxes(-1, -2)

    def direction(self, state: Array, force: Array) -> Array:
        """`Ω`, of which a step is a multiple."""
        return chain_generator(force, self.gain)

    def move(self, state: Array, update: Array) -> Array:
        """`(I + U)ᵀ P (I + U)`."""
        half = state + state @ update
        return half + update.swapaxes(-1, -2) @ half

    def unit(self, state: Array) -> Array:
        """The identity."""
        return jnp.broadcast_to(jnp.eye(state.shape[-1]), state.shape)

    def flow(self, state: Array, update: Array) -> Array:
        """`Uᵀ P + P U`."""
        half = state @ update
        return half + half.swapaxes(-1, -2)

    def refuses(self, rule: Rule) -> str | None:
        """Gram matrices forget the directions that a memory would need."""
        return rotation_refusal(rule) or memory_refusal(rule)

    def square(self, state: Array, direction: Array) -> Array:
        """The diagonal of `Ωᵀ P Ω`, with `1 / g` of its last entry."""
        diagonal = (direction * (state @ direction)).sum(axis=-2)
        last = diagonal[:, -1] / divisor(self.gain)
        return diagonal[:, :-1].sum() + last.sum()


def chain_generator(
    force: Float[Array, "blocks basis"], gain: Float[Array, " blocks"]
) -> Float[Array, "blocks columns columns"]:
    """`Ω = [[0, g z], [zᵀ, 0]]`."""
    blocks, rank = force.shape
    generator = jnp.zeros((blocks, rank + 1, rank + 1))
    generator = generator.at[:, :rank, rank].set(gain[:, None] * force)
    return generator.at[:, rank, :rank].set(force)
