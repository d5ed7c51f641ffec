"""Transport where samples see few pairs of tokens: forces at their positions alone.

A force on the scores is zero wherever no sample has the key beside the query. Where
the tokens are the basis and most of them stand in one sample, nearly all of `N Ω` and
of the table of scores would be products with zeros, or entries that no sample reads:
both are computed at the positions of samples instead. The state is that of `Transport`,
and so is everything that observables see.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from attnflow.data import Sequences
from attnflow.models.forms.base import (
    AbstractForm,
    AbstractFrame,
    AbstractPart,
    AbstractTableForm,
    Forces,
    Form,
    State,
)
from attnflow.models.forms.frames import GatherFrame
from attnflow.models.forms.scores import PairForce, Transport
from attnflow.models.problem import Problem, forces
from attnflow.models.tables import Pairs

ENTRIES_PER_PAIR = 8
"""Entries of a table for each pair that samples see, from which on few are seen."""


class SparseForm(AbstractTableForm):
    """`transport` over tokens of which samples see few pairs."""

    # Modules are frozen, so that narrower types are sound.
    frame: GatherFrame  # pyright: ignore[reportIncompatibleVariableOverride]
    scores: Transport  # pyright: ignore[reportIncompatibleVariableOverride]
    values: AbstractPart
    name: str = eqx.field(static=True)
    test_frame: AbstractFrame | None = None
    normalised: bool = eqx.field(static=True, default=False)
    careful: bool = eqx.field(static=True, default=False)

    def pairs(self, state: State) -> Pairs:
        """Pair scores and values of every sample, without a table of all scores."""
        return self._pairs(state, *self._seen(state))

    def part_forces(
        self, problem: Problem, state: State, data: Sequences
    ) -> tuple[Forces, None]:
        """The force on pair scores at their positions, and that on the values."""
        return self._forces(problem, state, data, normalised=self.normalised), None

    def flow_forces(self, problem: Problem, state: State, data: Sequences) -> Forces:
        """The same, of their true size."""
        return self._forces(problem, state, data, normalised=False)

    def _forces(
        self, problem: Problem, state: State, data: Sequences, *, normalised: bool
    ) -> Forces:
        keys, queries = self._seen(state)
        pairs = self._pairs(state, keys, queries)
        on_pairs = forces(
            problem, pairs, data, normalised=normalised, careful=self.careful
        )
        frame, values = self.frame, self.values.table(state["values"])
        on_values = jnp.zeros_like(values).at[:, frame.key]
        return {
            "scores": PairForce(on_pairs.scores, keys, queries, frame.key, frame.query),
            "values": on_values.add(on_pairs.values.swapaxes(0, 1)),
        }

    def _seen(self, state: State) -> tuple[Array, Array]:
        keys, queries = self.scores.columns(state["scores"])
        return keys[:, self.frame.key], queries[:, self.frame.query]

    def _pairs(self, state: State, keys: Array, queries: Array) -> Pairs:
        values = self.values.table(state["values"])[:, self.frame.key]
        scores = jnp.einsum("hnkc,hnqc->nhqk", keys, queries)
        return Pairs(scores, values.swapaxes(0, 1))


def sparse_if_few(form: Form) -> AbstractForm:
    """The form, as a sparse one where its samples see few pairs of its tokens."""
    frame, scores = form.frame, form.scores
    if not (isinstance(frame, GatherFrame) and isinstance(scores, Transport)):
        return form
    pairs = frame.key.size * frame.query.shape[1]
    if not frame.plain or ENTRIES_PER_PAIR * pairs > len(frame.coordinates) ** 2:
        return form
    flags = {"normalised": form.normalised, "careful": form.careful}
    return SparseForm(frame, scores, form.values, form.name, form.test_frame, **flags)
