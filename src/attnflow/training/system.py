"""Systems: what training moves.

A system is a PyTree with a vector field (`FlowSystem`) or with a direction for rules of
descent (`DescentSystem`); its state is another PyTree. Training knows nothing else of
data and models.
"""

from collections.abc import Callable, Mapping
from typing import (
    Any,
    NamedTuple,
    Protocol,
    Self,
    TypeAlias,
    runtime_checkable,
)

import numpy as np
from jaxtyping import Array, Float

from attnflow.schema.dataset import Outcome

# PyTrees: type checkers have no type for them and do not know jaxtyping's.
State: TypeAlias = Any
System: TypeAlias = Any
"""A `FlowSystem` or a `DescentSystem`."""
Sight: TypeAlias = Any
"""What a system saw of its samples on the way to a direction."""
Row = dict[str, Array]
Observe = Callable[..., Row]
"""A function of system and state, and of a sight where there is one."""
Event = Callable[..., Array]
"""Likewise; the event has happened where it is not negative."""

# Codes inside jit; outcomes outside.
CODES = (
    Outcome.FINISHED,
    Outcome.EVENT,
    Outcome.EVENT_NOT_REACHED,
    Outcome.OUT_OF_STEPS,
    Outcome.DIVERGED,
    Outcome.INTERRUPTED,
)


class Leg(NamedTuple):
    """One stage of a run, for all seeds: rows, final state, time and outcome.

    `swamped` is the first step at which Adam's ε outweighed gradients, −1 for seeds
    where it did not; `None` for rules without an ε.
    """

    rows: Mapping[str, Array | np.ndarray]
    state: State
    end: Array | np.ndarray
    end_row: Mapping[str, Array | np.ndarray]
    code: Array | np.ndarray
    swamped: np.ndarray | None = None


class FlowSystem(Protocol):
    """A system with a vector field."""

    def velocity(self, t: Array, state: State) -> State:
        """The state's derivative."""
        ...


@runtime_checkable
class ShrinkingSystem(Protocol):
    """A system of a flow in which weights may decay."""

    def shrinking(self, state: State) -> State:
        """By how much the state shrinks per unit of weight decay and of time."""
        ...


class DescentSystem(Protocol):
    """A system that rules of descent can move."""

    def direction(self, state: State) -> dict[str, State]:
        """Minus the gradient, part by part, in the coordinates of the rule."""
        ...

    def move(self, state: State, updates: dict[str, State]) -> State:
        """The state after the updates."""
        ...


@runtime_checkable
class BatchSystem(Protocol):
    """A system of descent that differs from step to step, as by its batch."""

    def at(self, step: Array) -> Self:
        """The system as a step sees it."""
        ...


@runtime_checkable
class SightSystem(Protocol):
    """A system of descent that keeps what it saw of its samples."""

    def direction_and_forward(self, state: State) -> tuple[dict[str, State], Sight]:
        """The direction, and what was seen of samples on the way to it."""
        ...


@runtime_checkable
class PartedSystem(Protocol):
    """A system of descent whose parts have weights of their own names.

    Rules may then move `keys`, `queries` or a single weight apart from the rest of its
    part; and a part whose state is not made of weights says what these are to it.
    """

    def own(self, state: State, name: str) -> State:
        """What a rule with this name moves, of a state or of an update."""
        ...

    def unit(self, state: State) -> State:
        """The update that would add to all weights what they are."""
        ...


@runtime_checkable
class LengthSystem(Protocol):
    """A system of descent for rules that see how long a gradient is."""

    def square(self, name: str, state: State, direction: State) -> Float[Array, ""]:
        """The squared length of the gradient by a part's plain weights."""
        ...


@runtime_checkable
class MatrixSystem(Protocol):
    """A system of descent for rules that see matrices whole."""

    def each_matrix(
        self,
        name: str,
        state: State,
        update: State,
        change: Callable[[Array], Array],
    ) -> State:
        """A part's update with each matrix of its plain weights changed."""
        ...
