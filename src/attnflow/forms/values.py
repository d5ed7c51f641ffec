"""Values on the tokens' span."""

from jaxtyping import Array

from attnflow.forms.base import AbstractPart
from attnflow.rules import Rule


class ValueTable(AbstractPart):
    """The vector of each head in an orthonormal basis of the tokens' span.

    What lies outside the span is never seen and never moves. The state is the table.
    """

    def table(self, state: Array) -> Array:
        """The state itself."""
        return state

    def velocity(self, state: Array, force: Array) -> Array:
        """The force itself."""
        return force

    def direction(self, state: Array, force: Array) -> Array:
        """The force itself."""
        return force

    def move(self, state: Array, update: Array) -> Array:
        """The table plus the update."""
        return state + update

    def refuses(self, rule: Rule) -> str | None:
        """Rules that act on single coordinates depend on the basis."""
        return rotation_refusal(rule)


def rotation_refusal(rule: Rule) -> str | None:
    """Why a rule that does not commute with rotations cannot be followed."""
    if rule.equivariant:
        return None
    return (
        f"{rule.name} acts on each coordinate of the weights alone, so that it does "
        "not commute with rotations and the reduced forms do not close under it. Use "
        "form='weights'."
    )
