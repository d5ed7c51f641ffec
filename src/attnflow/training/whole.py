"""Rules that see weights whole, by what a system tells of its own coordinates."""

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from attnflow.training.rules import Descent, Muon


def length_of(
    system: Any,
    state: Any,
    directions: dict[str, Any],
    rules: Iterable[tuple[str, Descent]],
) -> Array | float:
    """The length of the gradient by all parts whose rules divide by it.

    It is 1 where the gradient is zero, or no rule asks for it.
    """
    names = [name for name, rule in rules if rule.sees == "length"]
    if not names:
        return 1.0
    squares = [system.square(name, state, directions[name]) for name in names]
    total = jnp.stack(squares).sum()
    return jnp.sqrt(jnp.where(total > 0, total, 1.0))


def made_orthogonal(
    system: Any, rule: Descent, name: str, update: Any, state: Any
) -> Any:
    """A rule's update, with orthogonal matrices and decay for Muon."""
    if not isinstance(rule, Muon):
        return update
    made = system.each_matrix(name, update, rule.orthogonalised)
    if not rule.weight_decay:
        return made
    return jax.tree.map(lambda u, x: u + rule.weight_decay * x, made, state[name])
