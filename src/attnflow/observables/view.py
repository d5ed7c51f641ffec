"""What observables look at: a system in one state, each quantity computed once."""

from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from attnflow._types import Pairs, Tables
from attnflow.forms import SelfScores, State
from attnflow.systems import Training


class View:
    """A system of training in one state."""

    def __init__(self, system: Training, state: State):
        self.system = system
        self.state = state
        self.problem = system.problem
        self.data = system.data

    @cached_property
    def pairs(self) -> Pairs:
        """Pair scores and values of every sample."""
        return self.system.pairs(self.state)

    @cached_property
    def tables(self) -> Tables:
        """The tables of each head on the shown tokens."""
        return _shown_tables(self.system, self.state)

    @cached_property
    def self_scores(self) -> SelfScores:
        """Self-scores of each head on the shown tokens."""
        return _shown_self_scores(self.system, self.state)

    @cached_property
    def attention(self) -> Array:
        """`p(key | query)` of every sample and head."""
        return self.problem.attention(self.pairs, self.data)

    @cached_property
    def head_outputs(self) -> Array:
        """The output of every head on every sample."""
        return self.problem.head_outputs(self.pairs, self.data)

    @cached_property
    def outputs(self) -> Array:
        """The output of the model on every sample."""
        return self.problem.readout(self.head_outputs)

    @cached_property
    def losses(self) -> Array:
        """The loss of every sample."""
        return self.problem.loss(self.outputs, self.data.label)

    @cached_property
    def _velocity(self) -> State:
        return self.system.velocity(0.0, self.state)

    @cached_property
    def table_rates(self) -> Tables:
        """Derivatives of the tables under gradient flow of the trained parts."""
        return self._rate(_shown_tables)

    @cached_property
    def self_score_rates(self) -> SelfScores:
        """Derivatives of the self-scores, likewise."""
        return self._rate(_shown_self_scores)

    def _rate(self, quantity: Any) -> Any:
        def of_state(state: State) -> Any:
            return quantity(self.system, state)

        return jax.jvp(of_state, (self.state,), (self._velocity,))[1]

    def mean(self, quantity: Array) -> Array:
        """The mean of a quantity of the samples under their probabilities."""
        return jnp.sum(self.data.probability * quantity)

    def by_group(self, quantity: Array) -> Array:
        """The same within each group of samples."""
        groups = jnp.arange(len(self.data.group_names))
        member = self.data.group[None, :] == groups[:, None]
        weight = jnp.where(member, self.data.probability, 0.0)
        return (weight * quantity).sum(axis=1) / weight.sum(axis=1)


def _shown_tables(system: Training, state: State) -> Tables:
    return system.form.frame.shown(system.form.tables(state))


def _shown_self_scores(system: Training, state: State) -> SelfScores:
    own = system.form.scores.self_scores(state["scores"])
    frame = system.form.frame
    return SelfScores(frame.shown_scores(own.key), frame.shown_scores(own.query))
