"""Training as a dynamical system: a form under the forces of a problem."""

from collections.abc import Callable, Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PyTree, UInt32

from attnflow.data import Sequences
from attnflow.data.random import KIND
from attnflow.models.forms import AbstractForm, CoordinateForm, State
from attnflow.models.forms.base import (
    AbstractLengths,
    AbstractMatrices,
    AbstractPieces,
    piece_of,
)
from attnflow.models.forms.widths import UNKNOWN, Widths
from attnflow.models.problem import Problem
from attnflow.models.tables import Forward, Pairs, Tables
from attnflow.schema.fields import WEIGHTS
from attnflow.schema.settings import part_of
from attnflow.training.rules import Batches
from attnflow.training.scaled_numbers import Scaled

Time = ArrayLike | None


class Training(eqx.Module):
    """A form that moves by the forces of a problem on data.

    **Arguments:**

    - `data`: all samples, which observables see.
    - `probability`: the samples' probabilities in training (a stage may train on some
      groups alone).
    - `trained`: the parts that move, or weights of them; all else stays.
    - `test`: samples that are never trained on, over the same vocabulary.
    - `start`: the initial state, for observables that are changes.
    - `batches`: which samples each step of a descent sees, all where it is `None`;
      `batch_key`: the seed's own numbers for it, as data of a key.
    - `vocabulary`: the coordinates of every token on the form's basis, for observables
      of tokens that are not shown.
    - `widths`: of the weights that a reduced state stands for, for their curvature.
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
    widths: Widths = eqx.field(static=True, default=UNKNOWN)

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
        velocity = jax.tree.map(jnp.zeros_like, state)
        for name in self._parts():
            part = self.form.part(name)
            if self._is_whole(name):
                velocity[name] = part.velocity(state[name], force[name])
            else:
                update = part.direction(state[name], force[name])
                velocity[name] = part.flow(state[name], self._kept(name, update))
        return velocity

    def shrinking(self, state: State) -> State:
        """By how much the state shrinks per unit of weight decay and of time."""
        moved = jax.tree.map(jnp.zeros_like, state)
        for name in self._parts():
            part = self.form.part(name)
            unit = self._kept(name, part.unit(state[name]))
            moved[name] = part.flow(state[name], unit)
        return moved

    def unit(self, state: State) -> State:
        """The update that would add to all weights what they are."""
        return {name: self.form.part(name).unit(x) for name, x in state.items()}

    def direction(self, state: State) -> State:
        """Minus the gradient of what moves, as its rules see it."""
        return self.direction_and_forward(state)[0]

    def direction_and_forward(self, state: State) -> tuple[State, Forward | None]:
        """The same, and the forward pass on the way to it where the form has one."""
        force, forward = self.form.part_forces(self.problem, state, self.trained_on)
        ahead = {
            name: self.form.part(name).direction(state[name], force[name])
            for name in self._parts()
        }
        return {name: self.own(ahead, name) for name in self.trained}, forward

    def own(self, state: State, name: str) -> PyTree:
        """What a rule with this name moves, of a state or of an update."""
        owner = part_of(name)
        if self._is_whole(owner):
            return state[owner]
        pieces = self._owner(owner).pieces(state[owner])
        return {piece: pieces[piece] for piece in self._pieces(pieces, name)}

    def _owner(self, name: str) -> AbstractPieces:
        """The part with this name, of which weights are trained apart."""
        part = self.form.part(name)
        if not isinstance(part, AbstractPieces):
            raise ValueError(
                f"{type(part).__name__} does not tell its weights apart: train "
                f"{name!r} as a whole, or use form='weights'."
            )
        return part

    def _parts(self) -> tuple[str, ...]:
        """The parts of which anything moves, each once."""
        return tuple(dict.fromkeys(part_of(name) for name in self.trained))

    def _is_whole(self, part: str) -> bool:
        """Whether one rule moves all of a part."""
        return not any(n != part and part_of(n) == part for n in self.trained)

    def _pieces(self, pieces: Mapping[str, PyTree], name: str) -> list[str]:
        """Which of a part's pieces a name stands for: one, or all without a name."""
        if name in WEIGHTS:
            return [piece_of(pieces, name)]
        others = [n for n in self.trained if n != name and part_of(n) == name]
        named = [piece_of(pieces, other) for other in others]
        return [piece for piece in pieces if piece not in named]

    def _kept(self, part: str, update: PyTree) -> PyTree:
        """An update of a part without the pieces that are not trained."""
        if self._is_whole(part):
            return update
        mine = [n for n in self.trained if part_of(n) == part]
        return self._whole({n: self.own({part: update}, n) for n in mine}, part, update)

    def _whole(self, updates: Mapping[str, PyTree], part: str, like: PyTree) -> PyTree:
        """The update of a part from those of its weights; others stay."""
        owner = self._owner(part)
        pieces = dict(owner.pieces(jax.tree.map(jnp.zeros_like, like)))
        for update in updates.values():
            pieces |= update
        return owner.whole(pieces)

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
        return {n: parts[n].gradient(state[n], force[n]) for n in self._parts()}

    def square(self, name: str, state: State, direction: PyTree) -> Float[Array, ""]:
        """The squared length of the gradient by a part's plain weights."""
        owner = part_of(name)
        part = self.form.part(owner)
        assert isinstance(part, AbstractLengths)
        if not self._is_whole(owner):
            direction = self._whole({name: direction}, owner, state[owner])
        return part.square(state[owner], direction)

    def each_matrix(
        self,
        name: str,
        state: State,
        update: PyTree,
        change: Callable[[Array], Array],
    ) -> PyTree:
        """A part's update with each matrix of its plain weights changed."""
        owner = part_of(name)
        part = self.form.part(owner)
        assert isinstance(part, AbstractMatrices)
        if self._is_whole(owner):
            return part.from_matrices(jax.tree.map(change, part.matrices(update)))
        whole = self._whole({name: update}, owner, state[owner])
        changed = part.from_matrices(jax.tree.map(change, part.matrices(whole)))
        return self.own({owner: changed}, name)

    def move(self, state: State, updates: State) -> State:
        """The state after the rules' updates."""
        moved = dict(state)
        for name in self._parts():
            part = self.form.part(name)
            if self._is_whole(name):
                moved[name] = part.move(state[name], updates[name])
                continue
            mine = {n: u for n, u in updates.items() if part_of(n) == name}
            update = self._whole(mine, name, state[name])
            moved[name] = part.move_apart(state[name], update)
        return moved


def squared_length(tree: PyTree) -> Float[Array, ""]:
    """The sum of the squares of all entries."""
    squares = [jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree)]
    return jnp.stack(squares).sum()
