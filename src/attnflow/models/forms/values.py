"""Values that are linear in one set of weights, on the tokens' span."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.models.forms.base import AbstractLinearPart, rotation_refusal
from attnflow.models.forms.whole import AbstractMatrices, Matrices, divisor
from attnflow.training.rules import Rule


class ValueTable(AbstractLinearPart, AbstractMatrices):
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

    def refuses(self, rule: Rule) -> str | None:
        """Rules that act on single coordinates depend on the basis."""
        return rotation_refusal(rule)

    def matrices(self, update: Array) -> Matrices:
        """One row for each copy, in units in which it is as long as its matrix."""
        row = update / jnp.sqrt(divisor(self.copies * self.gain))[:, None]
        shape = (row.shape[0], self.copies, 1, row.shape[1])
        return {"table": jnp.broadcast_to(row[:, None, None, :], shape)}

    def from_matrices(self, matrices: Matrices) -> Array:
        """What copies that move alike make of the table."""
        row = matrices["table"][:, 0, 0]
        return jnp.sqrt(self.copies * self.gain)[:, None] * row
