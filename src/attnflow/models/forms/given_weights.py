"""Given initial weights: which arrays are needed, and whether they fit."""

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from attnflow.models.forms.initialise import Initial


def check_weights(
    given: Mapping[str, Any], initial: Initial, *, heads: int, embed: int
) -> dict[str, Array]:
    """Given initial weights, checked.

    `W_K`, `W_Q`: `(heads, width, embed)`, rows are hidden units, or `W_KQ`: `(heads,
    embed, embed)`, rows are for keys, where they are merged; those of the values as
    the record `initial.values` says: `w`: `(heads, embed)` for a vector. Widths are
    taken from the arrays and must fit each other.
    """
    wanted = open_shapes(initial, heads, embed)
    if set(given) != set(wanted):
        listed = ", ".join(f"{n} {_written(s)}" for n, s in wanted.items())
        raise ValueError(f"The given weights are {sorted(given)}; needed are {listed}.")
    arrays = {name: np.asarray(given[name], float) for name in wanted}
    sizes: dict[str, int] = {}
    for name, array in arrays.items():
        _check_shape(name, array, wanted[name], sizes)
        if not np.isfinite(array).all():
            bad = int((~np.isfinite(array)).sum())
            raise ValueError(
                f"{name} has {bad} entries that are not finite: mend them first."
            )
    return {name: jnp.asarray(array) for name, array in arrays.items()}


def axes_of(initial: Initial) -> dict[str, tuple[str, ...]]:
    """The axes of every weight by name, after that of the heads."""
    rows = {"W_KQ": "key_embed"} if initial.merged else {"W_K": "width", "W_Q": "width"}
    scores = {name: (axis, "embed") for name, axis in rows.items()}
    return {**scores, **initial.values.axes}


def open_shapes(initial: Initial, heads: int, embed: int) -> dict[str, tuple[Any, ...]]:
    """Shapes of all weights, with names for the widths that may differ."""
    known = {"embed": embed, "key_embed": embed, "class": 2}
    return {
        name: (heads, *(known.get(axis, axis) for axis in axes))
        for name, axes in axes_of(initial).items()
    }


def _check_shape(
    name: str, array: np.ndarray, wanted: tuple[Any, ...], sizes: dict[str, int]
) -> None:
    fits = len(wanted) == array.ndim
    if fits:
        for want, size in zip(wanted, array.shape, strict=True):
            known = sizes.setdefault(want, size) if isinstance(want, str) else want
            fits = fits and known == size
    if not fits:
        known = ", ".join(f"{n} = {s}" for n, s in sizes.items())
        raise ValueError(
            f"{name} has shape {array.shape}; it must have {_written(wanted)}"
            f"{f' with {known}' if known else ''}."
            f"{_orientation_hint(array.shape, wanted)}"
        )


def _written(shape: tuple[Any, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ")"


def _orientation_hint(given: tuple[int, ...], wanted: tuple[Any, ...]) -> str:
    if len(given) == 3 and given[1] == wanted[-1] != given[2]:
        return " It looks transposed: rows must be hidden units, columns the embedding."
    if len(given) == len(wanted) - 1:
        return " The first axis must be the head."
    return ""
