"""What observables look at: a system in one state, each quantity computed once."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from attnflow.models.forms import SelfScores, State, TokenForm
from attnflow.models.forms.frames import DenseFrame, GatherFrame
from attnflow.models.systems import Training
from attnflow.models.tables import Forward, Tables
from attnflow.observables.chains import ValueChain, gain_of, value_chain
from attnflow.observables.samples import SampleView


class View:
    """A system of training in one state.

    `samples` and `test` are what its samples see of it; `sight`, where what training
    samples see was found already. Other quantities are told on the shown tokens, those
    named `every_…` on all of the basis.
    """

    def __init__(self, system: Training, state: State, sight: Forward | None = None):
        self.system = system
        self.state = state
        self.sight = sight
        self.data = system.data

    @cached_property
    def samples(self) -> SampleView:
        """All samples, also those that a stage does not train on."""
        problem = self.system.problem
        if self.sight is not None:
            return SampleView(problem, self.data, *self.sight)
        return SampleView(problem, self.data, self.system.pairs(self.state))

    @cached_property
    def test(self) -> SampleView:
        """The test samples; a system without them is refused."""
        pairs, test = self.system.test_pairs(self.state), self.system.test
        assert test is not None
        if test.group_names != self.data.group_names:
            raise ValueError(
                f"The groups of the test samples are {test.group_names}, those of "
                f"training {self.data.group_names}: give both the same."
            )
        return SampleView(self.system.problem, test, pairs)

    @cached_property
    def start(self) -> "View":
        """The same system in its initial state."""
        if self.system.start is None:
            raise ValueError(
                "The system does not know where it began, so that nothing can be told "
                "as a change: give its initial state (a checkpoint at time 0, or "
                "the start of a Training)."
            )
        return View(self.system, self.system.start)

    @cached_property
    def tables(self) -> Tables:
        """The tables of each head on the shown tokens."""
        return self._frame.shown(self._basis_tables)

    @cached_property
    def self_scores(self) -> SelfScores:
        """Self-scores of each head on the shown tokens."""
        return self._shown_self_scores(self._basis_self_scores)

    @cached_property
    def vocabulary_values(self) -> Array:
        """Values of every token of the vocabulary."""
        values, coordinates = self._basis_tables.values, self.system.vocabulary
        if self.data.shown == tuple(range(len(self.data.names))):
            return self.tables.values
        if coordinates is None or not self._has_heads:
            raise ValueError(
                "The values of tokens that are not shown cannot be told here: a "
                "quotient keeps those of the shown tokens alone, and a Training needs "
                "the coordinates of its vocabulary. Record value, or use another form."
            )
        return values @ coordinates.T

    @cached_property
    def products(self) -> Array:
        """Products of every token (rows) with the shown ones."""
        form, shown = self.system.form, jnp.asarray(self.data.shown)
        if isinstance(form, TokenForm):
            return form.scores.gram[:, shown]
        return self.data.tokens @ self.data.tokens[shown].T

    @cached_property
    def chain(self) -> ValueChain:
        """The chain of the values, on the basis; values without one are refused."""
        return value_chain(self.system.form.values, self.state["values"])

    @cached_property
    def readout_gain(self) -> Array:
        """`|β|²` of each head; a quotient's one block stands for all heads alike.

        Values that are linear in one set of weights have it as their gain, which stays.
        """
        found = gain_of(self.system.form.values, self.state["values"])
        return jnp.broadcast_to(found, (self.system.problem.heads,))

    @cached_property
    def value_self_scores(self) -> Array:
        """`A_V` of each head on the shown tokens."""
        own = self.chain.self_scores
        if not self._has_heads:
            raise ValueError(
                "A quotient keeps the self-scores of values on one of its blocks "
                "alone, from which those of tokens cannot be told. Use the data "
                "without the quotient."
            )
        return self._frame.shown_scores(own)

    @cached_property
    def shown_forces(self) -> Tables:
        """The forces of training on the tables, on the shown tokens."""
        return self._frame.shown(self._forces)

    @cached_property
    def value_rate_parts(self) -> tuple[Array, Array]:
        """`b z` and `g A_V z`, zero where the values are not trained."""
        if isinstance(self.system.form, TokenForm):
            raise ValueError(
                "The parts of a value's rate are told on an orthonormal basis, and "
                "form='tokens' has none. Use form='transport'."
            )
        chain, force = self.chain, self._forces.values
        if "values" not in self.system.trained:
            force = jnp.zeros_like(force)
        inner = jnp.einsum("brs,bs->br", chain.self_scores, force)
        parts = chain.readout_gain[:, None] * force, chain.gain[:, None] * inner
        scores = self._basis_tables.scores
        first, second = (self._frame.shown(Tables(scores, part)) for part in parts)
        return first.values, second.values

    @cached_property
    def table_rates(self) -> Tables:
        """Derivatives of the tables under gradient flow of the trained parts."""
        return self.rate(lambda moved: moved.tables)

    @cached_property
    def self_score_rates(self) -> SelfScores:
        """Derivatives of the self-scores, likewise."""
        return self.rate(lambda moved: moved.self_scores)

    def rate(self, quantity: Callable[["View"], Any]) -> Any:
        """The derivative of a quantity under gradient flow of the trained parts."""

        def of_state(state: State) -> Any:
            return quantity(View(self.system, state))

        return jax.jvp(of_state, (self.state,), (self._velocity,))[1]

    @cached_property
    def every_score(self) -> Array:
        """Scores on all of the basis; of a quotient on the shown tokens."""
        return self._basis_tables.scores if self._has_heads else self.tables.scores

    @cached_property
    def every_self_score(self) -> SelfScores:
        """Self-scores likewise."""
        return self._basis_self_scores if self._has_heads else self.self_scores

    @cached_property
    def every_value_self_score(self) -> Array:
        """Self-scores of the values likewise."""
        return self.chain.self_scores if self._has_heads else self.value_self_scores

    @property
    def _frame(self) -> Any:
        return self.system.form.frame

    @property
    def _has_heads(self) -> bool:
        """Whether blocks are heads over a basis of the tokens' span."""
        return isinstance(self._frame, DenseFrame | GatherFrame)

    @cached_property
    def _basis_tables(self) -> Tables:
        return self.system.form.tables(self.state)

    @cached_property
    def _basis_self_scores(self) -> SelfScores:
        return self.system.form.scores.self_scores(self.state["scores"])

    def _shown_self_scores(self, own: SelfScores) -> SelfScores:
        return SelfScores(*(self._frame.shown_scores(table) for table in own))

    @cached_property
    def _forces(self) -> Tables:
        return self.system.forces(self.state)

    @cached_property
    def _velocity(self) -> State:
        return self.system.velocity(0.0, self.state)
