"""Seeds side by side: systems of one shape stacked for a vmapped run."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import Array


def stack(systems: list[Any]) -> tuple[Any, Any]:
    """Systems of several seeds as one, and a tree of the axes to map over.

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
    return jax.tree.unflatten(trees[0], stacked), _Axes(tuple(axes))


def stack_arrays(*arrays: Array) -> Array:
    """Arrays along a new first axis; on the host, where no shape is compiled."""
    # `jnp.asarray` would compile a program for every shape.
    if len(arrays) == 1:
        return jax.device_put(np.asarray(arrays[0])[None])
    return jax.device_put(np.stack([np.asarray(array) for array in arrays]))


class _Axes:
    """The axes of a stacked system: hashable, so that jit can hold it as static."""

    def __init__(self, axes: tuple[int | None, ...]):
        self.axes = axes

    def __hash__(self) -> int:
        return hash(self.axes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Axes) and self.axes == other.axes

    def tree(self, system: Any) -> Any:
        """The axes in the shape of the system."""
        return jax.tree.unflatten(jax.tree.structure(system), self.axes)

    def one_by_one(self, function: Callable, system: Any, carry: Any) -> Any:
        """A function of system and carry, for one seed after the other.

        Side by side costs no less where a seed's arrays are large, and every branch
        would be taken for every seed.
        """
        leaves, tree = jax.tree.flatten(system)
        own = [x for x, axis in zip(leaves, self.axes, strict=True) if axis == 0]

        def one(item: tuple[list[Array], Any]) -> Any:
            mine = iter(item[0])
            whole = [
                leaf if axis is None else next(mine)
                for leaf, axis in zip(leaves, self.axes, strict=True)
            ]
            return function(jax.tree.unflatten(tree, whole), item[1])

        return jax.lax.map(one, (own, carry))


def _equal(a: Any, b: Any) -> bool:
    return a is b or (
        np.shape(a) == np.shape(b) and bool((np.asarray(a) == np.asarray(b)).all())
    )
