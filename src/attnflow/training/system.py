"""Systems: what training moves, in float64, with seeds side by side.

A system is a PyTree with a vector field (`FlowSystem`) or with a direction for rules of
descent (`DescentSystem`); its state is another PyTree. Training knows nothing else of
data and models.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, Self, TypeAlias, TypeVar, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

# PyTrees, for which checkers have no type: jaxtyping's name is unknown to them.
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

S = TypeVar("S")
Result = TypeVar("Result")


class FlowSystem(Protocol):
    """A system with a vector field."""

    def velocity(self, t: Array, state: State) -> State:
        """The state's derivative."""
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
class WholeSystem(Protocol):
    """A system of descent for rules that see weights whole."""

    def square(self, name: str, state: State, direction: State) -> Float[Array, ""]:
        """The squared length of the gradient by a part's plain weights."""
        ...

    def each_matrix(
        self, name: str, update: State, change: Callable[[Array], Array]
    ) -> State:
        """A part's update with each matrix of its plain weights changed."""
        ...


def precise() -> AbstractContextManager[None]:
    """A context in which JAX computes in float64; the caller's setting comes back.

    !!! example
        ```python
        with attnflow.precise():
            data = attnflow.MixtureTask().sequences()
        ```
    """
    return jax.enable_x64(True)


def require_precise() -> None:
    """Raise where JAX computes in float32: exactness would be lost without a word."""
    if jnp.zeros(()).dtype != jnp.float64:
        raise RuntimeError(
            "JAX computes in float32 here, in which reduced forms are not exact. Call "
            "this inside `with attnflow.precise():`, or set jax_enable_x64."
        )


class Axes:
    """The axes of a stacked system: hashable, so that jit can hold it as static."""

    def __init__(self, axes: tuple[int | None, ...]):
        self.axes = axes

    def __hash__(self) -> int:
        return hash(self.axes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axes) and self.axes == other.axes

    def tree(self, system: System) -> System:
        """The axes in the shape of the system."""
        return jax.tree.unflatten(jax.tree.structure(system), self.axes)

    def one_by_one(
        self, function: Callable[[S, State], Result], system: S, carry: State
    ) -> Result:
        """A function of system and carry, for one seed after the other.

        Side by side costs no less where a seed's arrays are large, and every branch
        would be taken for every seed.
        """
        leaves, tree = jax.tree.flatten(system)
        stacked = [x for x, axis in zip(leaves, self.axes, strict=True) if axis == 0]

        def of_seed(item: tuple[list[Array], State]) -> Result:
            mine = iter(item[0])
            whole = [
                leaf if axis is None else next(mine)
                for leaf, axis in zip(leaves, self.axes, strict=True)
            ]
            return function(jax.tree.unflatten(tree, whole), item[1])

        return jax.lax.map(of_seed, (stacked, carry))


def stack(systems: Sequence[S]) -> tuple[S, Axes]:
    """Systems of several seeds as one, and the axes to map over.

    Leaves that are equal for every seed (a population, say) are kept once, with axis
    `None`; the others are stacked along axis 0.
    """
    leaves, trees = zip(*(jax.tree.flatten(s) for s in systems), strict=True)
    if any(tree != trees[0] for tree in trees[1:]):
        raise ValueError(
            "The seeds' systems differ in shape or form, so that they cannot run side "
            "by side: run them one by one."
        )
    stacked, axes = [], []
    for column in zip(*leaves, strict=True):
        same = all(_equal(column[0], other) for other in column[1:])
        stacked.append(column[0] if same else stack_arrays(*column))
        axes.append(None if same else 0)
    return jax.tree.unflatten(trees[0], stacked), Axes(tuple(axes))


def stack_arrays(*arrays: Array) -> Array:
    """Arrays along a new first axis; on the host, where no shape is compiled."""
    # `jnp.asarray` would compile a program for every shape.
    if len(arrays) == 1:
        return jax.device_put(np.asarray(arrays[0])[None])
    return jax.device_put(np.stack([np.asarray(array) for array in arrays]))


def _equal(a: Array, b: Array) -> bool:
    return a is b or (
        np.shape(a) == np.shape(b) and bool((np.asarray(a) == np.asarray(b)).all())
    )
