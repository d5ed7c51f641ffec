"""Events: what a stage that ends at a level asks of a state."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from attnflow.observables import Scalar
from attnflow.training import Reach


class Event(eqx.Module):
    """The distance of a scalar from its level, positive beyond it.

    The level is an array, so that another one compiles nothing anew. `view` makes what
    the scalar is read off of a system, a state and, where there is one, a sight.
    """

    scalar: Scalar = eqx.field(static=True)
    level: Array
    sign: float = eqx.field(static=True)
    view: Callable[..., Any] = eqx.field(static=True)

    def __call__(self, system: Any, state: Any, *sight: Any) -> Array:
        """How far beyond its level the scalar is."""
        value = self.scalar(self.view(system, state, *sight))
        return self.sign * (value - self.level)


def event_of(until: Reach, scalar: Scalar, view: Callable[..., Any]) -> Event:
    """The event that a stage waits for, whose scalar is read off a view."""
    sign = 1.0 if until.direction == "up" else -1.0
    return Event(scalar, jnp.asarray(until.level), sign, view)
