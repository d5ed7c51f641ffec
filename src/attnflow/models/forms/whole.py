"""What rules that see weights whole are told by parts in coordinates of their own.

Normalised descent needs the length of a gradient, and Muon the matrices that it is made
of. A reduced part holds each matrix G of the plain gradient as X, with `G = Q X E` for
Q with orthonormal columns and E with orthonormal rows: the isometries that carry the
part's rows to hidden units and its basis to the tokens' span. Lengths are then equal,
and a polar factor, or any odd polynomial, of G is Q times that of X times E, exactly.
"""

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.training.rules import Rule

Matrices = dict[str, Float[Array, "blocks *copies rows columns"]]


class AbstractLengths(eqx.Module):
    """A part that knows how long a gradient of its plain weights is."""

    @abc.abstractmethod
    def square(self, state: Any, direction: Any) -> Float[Array, ""]:
        """The squared length of the plain gradient that a direction stands for."""


class AbstractMatrices(AbstractLengths):
    """A part that knows the matrices of its plain weights, up to isometries."""

    @abc.abstractmethod
    def matrices(self, update: Any) -> Matrices:
        """The matrices that a direction or an update is made of, by weight."""

    @abc.abstractmethod
    def from_matrices(self, matrices: Matrices) -> Any:
        """The update that is made of these."""

    def square(self, state: Any, direction: Any) -> Float[Array, ""]:
        """The sum of the squares of all entries of the matrices."""
        return total_square(self.matrices(direction))


def total_square(tree: Any) -> Float[Array, ""]:
    """The sum of the squares of all entries."""
    return jnp.stack([(x**2).sum() for x in jax.tree.leaves(tree)]).sum()


def whole_refusal(part: Any, rule: Rule) -> str | None:
    """Why a part cannot tell a rule what it must know of the weights."""
    if rule.sees == "entries":
        return None
    kind = AbstractLengths if rule.sees == "length" else AbstractMatrices
    if isinstance(part, kind):
        return None
    what = "the length" if rule.sees == "length" else "the matrices"
    return (
        f"{rule.name} sees {what} of the whole gradient, which "
        f"{type(part).__name__} does not know. Use form='transport', or "
        "form='weights'."
    )


def divisor(size: Float[Array, " blocks"]) -> Float[Array, " blocks"]:
    """Sizes to divide by, with 1 for 0: what is divided by it is zero then."""
    return jnp.where(size > 0, size, 1.0)
