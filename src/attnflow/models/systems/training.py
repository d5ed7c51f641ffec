"""Training as a dynamical system: a form under the forces of a problem."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PyTree, UInt32

from attnflow.data import Sequences
from attnflow.data.random import KIND
from attnflow.models.forms import AbstractForm, CoordinateForm, State
from attnflow.models.forms.base import AbstractLengths, AbstractMatrices
from attnflow.models.problem import Problem
from attnflow.models.tables import Forward, Pairs, Tables
from attnflow.training.rules import Batches
from attnflow.training.scaled_numbers import Scaled

Time = ArrayLike | None


class Training(eqx.Module):
    """A form that moves by the forces of a problem on data.

    **Arguments:**

    - `data`: all samples, which observables see.
    - `probability`: the samples' probabilities in training (a stage may train on some
      groups alone).
    - `trained`: the parts that move; the others stay.
    - `test`: samples that are never trained on, over the same vocabulary.
    - `start`: the initial state, for observables that are changes.
    - `batches`: which samples each step of a descent sees, all where it is `None`;
      `batch_key`: the seed's own numbers for it, as data of a key.
    - `vocabulary`: the coordinates of every token on the form's basis, for observables
      of tokens that are not shown.
    """

    form: AbstractForm
    problem: Problem
    data: Sequences
    probability: Float[Array, " samples"]
    trained: tuple[str, ...] = eqx.field(static=True)
    test: Sequences | None = None
    start: State | None = None
    vocabulary: Float[Array, "tokens basis"] | None = None
    batches: Batches | None = eqx.field(static=True, default=None)
    batch_key: UInt32[Array, " words"] | None = None

    @property
    def scaled(self) -> bool:
        """Whether gradients come with scales of their own."""
        return isinstance(self.form, CoordinateForm)

    @property
    def apart(self) -> bool:
        """Whether seeds are better run one after the other than side by side.

        Their matrices are large, or they stop at steps of their own.
        """
        return self.form.name in ("signs", "tokens")

    def pairs(self, state: State) -> Pairs:
        """Pair scores and values of every sample."""
        return self.form.pairs(state)

    def test_pairs(self, state: State) -> Pairs:
        """Pair scores and values of every test sample."""
        return self.form.test_pairs(state)

    def at(self, step: Array) -> "Training":
        """The system as a step sees it, with the samples of its batch alone."""
        if self.batches is None:
            return self
        assert self.batch_key is not None
        key = jax.random.wrap_key_data(self.batch_key, impl=KIND)
        share = self.batches.shares(self.probability, step, key=key)
        now = eqx.tree_at(lambda system: system.probability, self, share)
        signs = self.batches.signs(len(share), step, key=key)
        if signs is None:
            return now
        return eqx.tree_at(lambda s: s.data.label, now, signs * self.data.label)

    @property
    def trained_on(self) -> Sequences:
        """The samples with the probabilities that they have in training."""
        return eqx.tree_at(lambda d: d.probability, self.data, self.probability)

    def forces(self, state: State) -> Tables:
        """Minus the gradient of the training loss by the tables."""
        return self.form.forces(self.problem, state, self.trained_on)

    def velocity(self, t: Time, state: State) -> State:
        """The state's derivative under gradient flow; zero for parts that stay."""
        force = self.form.flow_forces(self.problem, state, self.trained_on)
        return {
            name: (
                self.form.part(name).velocity(part, force[name])
                if name in self.trained
                else jax.tree.map(jnp.zeros_like, part)
            )
            for name, part in state.items()
        }

    def direction(self, state: State) -> State:
        """Minus the gradient of the parts that move, as their rules see it."""
        return self.direction_and_forward(state)[0]

    def direction_and_forward(self, state: State) -> tuple[State, Forward | None]:
        """The same, and the forward pass on the way to it where the form has one."""
        force, forward = self.form.part_forces(self.problem, state, self.trained_on)
        return {
            name: self.form.part(name).direction(state[name], force[name])
            for name in self.trained
        }, forward

    def gradients(self, state: State) -> dict[str, dict[str, Scaled]]:
        """Minus the gradients of a form over coordinates, with their scales."""
        form = self.form
        if not isinstance(form, CoordinateForm):
            raise ValueError(
                f"Gradients by coordinate are not known to form={form.name!r}: use "
                "form='coordinates' or 'signs'."
            )
        force, _ = form.part_forces(self.problem, state, self.trained_on)
        parts = {"scores": form.scores, "values": form.values}
        return {n: parts[n].gradient(state[n], force[n]) for n in self.trained}

    def square(self, name: str, state: State, direction: PyTree) -> Float[Array, ""]:
        """The squared length of the gradient by a part's plain weights."""
        part = self.form.part(name)
        assert isinstance(part, AbstractLengths)
        return part.square(state[name], direction)

    def each_matrix(
        self, name: str, update: PyTree, change: Callable[[Array], Array]
    ) -> PyTree:
        """A part's update with each matrix of its plain weights changed."""
        part = self.form.part(name)
        assert isinstance(part, AbstractMatrices)
        return part.from_matrices(jax.tree.map(change, part.matrices(update)))

    def move(self, state: State, updates: State) -> State:
        """The state after the rules' updates."""
        moved = {
            name: self.form.part(name).move(state[name], update)
            for name, update in updates.items()
        }
        return {**state, **moved}
