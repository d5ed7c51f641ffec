"""From the names in somebody's checkpoint to ours, with errors that say what is there.

A map of names gives, for each of ours, where it comes from:

- a name in the checkpoint;
- a list of names, whose arrays are stacked along a new first axis (heads that are
  modules of their own, or the two banks of neurons of a class);
- an array, for what is fixed and not in the checkpoint;
- a function of the whole state, for everything else.

Where there is one head, its axis may be left out.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from attnflow.runs.checkpoints.series import State, as_array, listing
from attnflow.schema.names import did_you_mean, unknown

Source = str | Sequence[str] | np.ndarray | Callable[[State], Any]
Names = Mapping[str, Source]
Shapes = Mapping[str, tuple[Any, ...]]
"""By our names, sizes of axes, or their names where any size will do."""


def pick(
    state: State, wanted: Shapes, names: Names | None, *, heads: int
) -> dict[str, np.ndarray]:
    """The arrays that are `wanted`, by our names; others are left where they are."""
    names = names or {}
    for name in names:
        if name not in wanted:
            raise unknown("weight to be named", name, wanted)
    found = {}
    for name, shape in wanted.items():
        source = names.get(name, name)
        array = _from(state, source, name, shape)
        if heads == 1 and array.ndim == len(shape) - 1:
            array = array[None]
        found[name] = array
    return found


def explained(error: ValueError, state: State, names: Names | None) -> ValueError:
    """An error about arrays by our names, with what the checkpoint has."""
    mapped = [
        f"{name} is {source if callable(source) else repr(source)}"
        for name, source in (names or {}).items()
        if not isinstance(source, np.ndarray)
    ]
    told = f" By the map of names, {', '.join(mapped)}." if mapped else ""
    return ValueError(f"{error}{told} The checkpoint has {listing(state)}.")


def _from(
    state: State, source: Source, name: str, shape: tuple[Any, ...]
) -> np.ndarray:
    if isinstance(source, np.ndarray):
        return as_array(source)
    if isinstance(source, str):
        return _entry(state, source, name, shape)
    if callable(source):
        return as_array(source(state))
    parts = [_entry(state, one, name, shape) for one in source]
    if len({part.shape for part in parts}) > 1:
        each = listing(dict(zip(source, parts, strict=True)))
        raise ValueError(
            f"{name} is to be stacked from arrays of different shapes: {each}. Give "
            "arrays of one shape, or a function of the state."
        )
    return np.stack(parts)


def _entry(state: State, source: str, name: str, shape: tuple[Any, ...]) -> np.ndarray:
    if source in state:
        return as_array(state[source])
    written = "(" + ", ".join(map(str, shape)) + ")"
    mapped = source != name
    for_what = f", which is to be {name}" if mapped else ""
    advice = (
        "" if mapped else f" Where names differ, give a map: names={{{name!r}: …}}."
    )
    raise ValueError(
        f"The checkpoint has no {source!r}{for_what} {written}."
        f"{_likely(state, source, name, shape)} It has {listing(state)}.{advice}"
    )


def _likely(state: State, source: str, name: str, shape: tuple[Any, ...]) -> str:
    """A guess by the name, or by the shape where no name is near."""
    holding = [entry for entry in state if source.lower() in entry.lower()]
    guess = did_you_mean(source, [*state]) or did_you_mean(name, [*state])
    if holding or guess:
        return f" Did you mean {holding[0]!r}?" if holding else guess
    fitting = [entry for entry, v in state.items() if _fits(np.shape(v), shape)]
    if not fitting:
        return ""
    return f" Of its shape: {', '.join(map(repr, fitting))}."


def _fits(found: tuple[int, ...], shape: tuple[Any, ...]) -> bool:
    """Whether a shape may be the wanted one, perhaps without the axis of the head."""
    single = shape[0] == 1 and len(found) == len(shape) - 1
    without = shape[1:] if single else shape
    return len(found) == len(without) and all(
        isinstance(want, str) or want == size
        for want, size in zip(without, found, strict=True)
    )
