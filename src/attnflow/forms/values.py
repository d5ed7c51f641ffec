"""Values that are linear in one set of weights, on the tokens' span."""

from jaxtyping import Array, Float

from attnflow.forms.base import AbstractLinearPart, rotation_refusal
from attnflow.rules import Rule


class ValueTable(AbstractLinearPart):
    """The values of an orthonormal basis of the tokens' span; the state is the table.

    What lies outside the span is never seen and never moves. The `gain` is what a unit
    force moves a value by: 1 where the value of x is `w · x`, `|w_O|²` where it is
    `w_Oᵀ W_V x` with `w_O` fixed, `2/m` where it is the difference of two means over m
    neurons.
    """

    gain: Float[Array, " blocks"]

    def table(self, state: Array) -> Array:
        """The state itself."""
        return state

    def velocity(self, state: Array, force: Array) -> Array:
        """The gain times the force."""
        return self.gain[:, None] * force

    def refuses(self, rule: Rule) -> str | None:
        """Rules that act on single coordinates depend on the basis."""
        return rotation_refusal(rule)
