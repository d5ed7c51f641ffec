"""Views: what observables are functions of, a system in one state and its samples."""

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnflow.data import Sequences
from attnflow.models.forms import AbstractFrame, SelfScores, State, TokenForm
from attnflow.models.forms.base import is_apart
from attnflow.models.forms.frames import AbstractHeadFrame
from attnflow.models.forms.shared import SharedForm
from attnflow.models.problem import Classes, Problem
from attnflow.models.systems import Training
from attnflow.models.tables import Forward, Pairs, Tables
from attnflow.observables.chains import ValueChain, gain_of, value_chain
from attnflow.schema.settings import part_of

Tree = TypeVar("Tree")


class SampleView:
    """Samples of training or test in one state, each function of them computed once."""

    def __init__(
        self,
        problem: Problem,
        data: Sequences,
        pairs: Pairs,
        attention: Array | None = None,
    ):
        self.problem = problem
        self.data = data
        self.pairs = pairs
        self._attention = attention

    @cached_property
    def attention(self) -> Float[Array, "samples heads queries keys"]:
        """`p(key | query)` of every sample and head."""
        if self._attention is not None:
            return self._attention
        return self.problem.attention(self.pairs, self.data)

    @cached_property
    def head_outputs(self) -> Float[Array, "samples heads"]:
        """The output of every head on every sample."""
        return self.problem.head_outputs(self.pairs, self.data, self.attention)

    @cached_property
    def outputs(self) -> Float[Array, " samples"]:
        """The output of the model on every sample."""
        return self.problem.readout(self.head_outputs, self.data.label)

    @cached_property
    def losses(self) -> Float[Array, " samples"]:
        """The loss of every sample."""
        return self.problem.loss(self.outputs, self.target)

    @cached_property
    def target(self) -> Float[Array, " samples"]:
        """What the loss compares outputs with."""
        return self.problem.target(self.data)

    @cached_property
    def margins(self) -> Float[Array, " samples"]:
        """Label times output; of several classes, the output."""
        return self.target * self.outputs

    @cached_property
    def correct(self) -> Float[Array, " samples"]:
        """1 where the label is right: a positive margin, or the largest logit."""
        readout = self.problem.readout
        if isinstance(readout, Classes):
            return readout.correct(self.head_outputs, self.data.label)
        return jnp.where(self.margins > 0, 1.0, 0.0)

    @cached_property
    def pulls(self) -> Float[Array, " samples"]:
        """`|∂l/∂f|`."""
        return jnp.exp(self.problem.loss.pull(self.outputs, self.target)[1])

    @cached_property
    def group_weights(self) -> Float[Array, "groups samples"]:
        """The probabilities of each group's samples, 0 for those of others."""
        groups = jnp.arange(len(self.data.group_names))
        member = self.data.group[None, :] == groups[:, None]
        return jnp.where(member, self.data.probability, 0.0)

    def mean(self, numbers: Float[Array, " samples"]) -> Float[Array, ""]:
        """The mean of the samples' numbers under their probabilities."""
        return jnp.sum(self.data.probability * numbers)

    def by_group(self, numbers: Float[Array, " samples"]) -> Float[Array, " groups"]:
        """The mean of the samples' numbers within each group."""
        weights = self.group_weights
        return (weights * numbers).sum(axis=1) / weights.sum(axis=1)


class View:
    """A system of training in one state.

    `samples` and `test` are what its samples see of it; `sight`, what training samples
    saw on the way to a direction, where that is known. Others are on the shown tokens,
    those named `every_…` on all of the basis.
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
                "The system does not know where it began, so that changes since the "
                "start are not defined: give its initial state (a checkpoint at "
                "time 0, or the start of a Training)."
            )
        return View(self.system, self.system.start)

    @cached_property
    def tables(self) -> Tables:
        """The tables of each head on the shown tokens."""
        return self._frame.shown(self._basis_tables)

    @cached_property
    def self_scores(self) -> SelfScores:
        """Self-scores of each head on the shown tokens."""
        basis = self._basis_self_scores
        return SelfScores(*(self._frame.shown_scores(table) for table in basis))

    @cached_property
    def vocabulary_values(self) -> Array:
        """Values of every token of the vocabulary."""
        values, coordinates = self._basis_tables.values, self.system.vocabulary
        if self.data.shown == tuple(range(len(self.data.names))):
            return self.tables.values
        if coordinates is None or not self._has_heads:
            raise ValueError(
                "The values of tokens that are not shown are not known here: a "
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
        gain = gain_of(self.system.form.values, self.state["values"])
        return jnp.broadcast_to(gain, (self.system.problem.heads,))

    @cached_property
    def value_self_scores(self) -> Array:
        """`A_V` of each head on the shown tokens."""
        self_scores = self.chain.self_scores
        if not self._has_heads:
            raise ValueError(
                "A quotient keeps the self-scores of values on one of its blocks "
                "alone, from which those of tokens do not follow. Use the data "
                "without the quotient."
            )
        return self._frame.shown_scores(self_scores)

    @cached_property
    def shown_forces(self) -> Tables:
        """The forces of training on the tables, on the shown tokens."""
        return self._frame.shown(self._forces)

    @cached_property
    def value_rate_parts(self) -> tuple[Array, Array]:
        """`b z` and `g A_V z`, zero where the values are not trained."""
        if isinstance(self.system.form, TokenForm):
            raise ValueError(
                "The parts of a value's rate are defined on an orthonormal basis, and "
                "form='tokens' has none. Use form='transport'."
            )
        if is_apart(n for n in self.system.trained if part_of(n) == "values"):
            raise ValueError(
                "The parts of a value's rate are those of all weights of the values, "
                "and some are trained apart: train 'values'."
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
        """Derivatives of the self-scores under gradient flow of the trained parts."""
        return self.rate(lambda moved: moved.self_scores)

    def rate(self, function: Callable[["View"], Tree], part: str = "") -> Tree:
        """The derivative of a function under gradient flow of the trained parts.

        With a `part`, as if it alone moved, at this moment.
        """

        def of_state(state: State) -> Tree:
            return function(View(self.system, state))

        velocity = {
            name: jax.tree.map(jnp.zeros_like, tangent)
            if part not in ("", name)
            else tangent
            for name, tangent in self._velocity.items()
        }
        return jax.jvp(of_state, (self.state,), (velocity,))[1]

    @cached_property
    def every_score(self) -> Array:
        """Scores on all of the basis; of a quotient on the shown tokens."""
        return self._basis_tables.scores if self._has_heads else self.tables.scores

    @cached_property
    def every_self_score(self) -> SelfScores:
        """Self-scores on all of the basis; of a quotient on the shown tokens."""
        return self._basis_self_scores if self._has_heads else self.self_scores

    @cached_property
    def every_value_self_score(self) -> Array:
        """Self-scores of the values on all of the basis, or on the shown tokens."""
        return self.chain.self_scores if self._has_heads else self.value_self_scores

    @property
    def _frame(self) -> AbstractFrame:
        return self.system.form.frame

    @property
    def _has_heads(self) -> bool:
        """Whether blocks are heads over a basis of the tokens' span."""
        return isinstance(self._frame, AbstractHeadFrame)

    @cached_property
    def _basis_tables(self) -> Tables:
        return self.system.form.tables(self.state)

    @cached_property
    def _basis_self_scores(self) -> SelfScores:
        own = self.system.form.scores.self_scores(self.state["scores"])
        if not isinstance(self.system.form, SharedForm):
            return own
        shape = (self.system.form.heads, *own.key.shape[1:])
        return SelfScores(*(jnp.broadcast_to(table, shape) for table in own))

    @cached_property
    def _forces(self) -> Tables:
        return self.system.forces(self.state)

    @cached_property
    def _velocity(self) -> State:
        return self.system.velocity(0.0, self.state)
