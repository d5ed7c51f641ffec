"""Next-token training of alike classes by the numbers of one of them."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.models.forms.class_symmetric import AlikeFrame, Lift
from attnflow.models.forms.token_classes import TokenFrame
from attnflow.models.problem.next_token import NextToken
from attnflow.models.systems.token_tables import Rates

State = dict[str, Any]


class AlikeTraining(eqx.Module):
    """Alike classes of long sequences; l2-normalised, no residual, from a zero start.

    `frame` and `lift` give what observables look at, tables over classes of tokens.
    """

    alike: AlikeFrame
    frame: TokenFrame
    lift: Lift
    rates: Rates
    model: NextToken

    def velocity(self, t: Any, state: State) -> State:
        """The state's derivative under gradient flow."""
        pull = self.direction(state)
        rates = {"scores": self.rates.scores, "values": self.rates.values}
        return {
            name: jax.tree.map(lambda x, rate=rates[name]: rate * x, part)
            for name, part in pull.items()
        }

    def direction(self, state: State) -> State:
        """Minus the gradient, as rules of descent see it."""
        return self.alike.forces(state)[0]

    def move(self, state: State, updates: State) -> State:
        """The state after the rules' updates."""
        return {**state, **_added(state, updates)}

    def tables(self, state: State) -> dict[str, Float[Array, "_ _"]]:
        """The two tables, over classes of tokens."""
        return self.lift(self.alike, state)


def _added(state: State, updates: State) -> State:
    return jax.tree.map(jnp.add, {name: state[name] for name in updates}, updates)
