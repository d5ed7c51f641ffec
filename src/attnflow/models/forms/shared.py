"""Heads that read through one attention: one block of scores, one of values for each.

What heads see of the scores is one table, so that its force is the sum of theirs. All
else is as in a form whose heads have scores of their own, at every width.
"""

import equinox as eqx
import jax.numpy as jnp

from attnflow.data import Sequences
from attnflow.models.forms.base import (
    AbstractFrame,
    AbstractPart,
    AbstractScores,
    AbstractTableForm,
    Forces,
    Form,
    State,
)
from attnflow.models.problem import Problem
from attnflow.models.tables import Pairs, Tables


class SharedForm(AbstractTableForm):
    """A form whose scores have one block, which all of its `heads` read."""

    frame: AbstractFrame
    scores: AbstractScores
    values: AbstractPart
    heads: int = eqx.field(static=True)
    name: str = eqx.field(static=True)
    test_frame: AbstractFrame | None = None
    normalised: bool = eqx.field(static=True, default=False)
    careful: bool = eqx.field(static=True, default=False)

    def tables(self, state: State) -> Tables:
        """The tables on the basis, with the scores once for each head."""
        one = self.scores.table(state["scores"])
        every = jnp.broadcast_to(one, (self.heads, *one.shape[1:]))
        return Tables(every, self.values.table(state["values"]))

    def pairs(self, state: State) -> Pairs:
        """Pair scores and values of every sample."""
        return self.frame.pairs(self.tables(state))

    def part_forces(
        self, problem: Problem, state: State, data: Sequences
    ) -> tuple[Forces, None]:
        """The forces on the tables, that on the scores summed over heads."""
        forces = self.forces(problem, state, data, normalised=self.normalised)
        return by_blocks(forces), None

    def flow_forces(self, problem: Problem, state: State, data: Sequences) -> Forces:
        """The same, of their true size."""
        return by_blocks(self.forces(problem, state, data))


def by_blocks(forces: Tables) -> Forces:
    """The force on the one block of scores, and those on the values."""
    return {"scores": forces.scores.sum(axis=0, keepdims=True), "values": forces.values}


def shared(form: Form, heads: int) -> SharedForm:
    """A form with one block of scores, for so many heads."""
    return SharedForm(
        frame=form.frame,
        scores=form.scores,
        values=form.values,
        heads=heads,
        name=form.name,
        test_frame=form.test_frame,
        normalised=form.normalised,
        careful=form.careful,
    )
