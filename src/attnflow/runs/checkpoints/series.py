"""Checkpoints as a series of moments: a time, and arrays by their names.

A series may be given as

- pairs `(time, state)`, also from a generator, so that a training loop may be observed
  while it runs and keeps no checkpoint;
- a mapping from times to states;
- a list of states, beside a list of times;
- arrays by name with the times as their first axis, beside a list of times or an entry
  `time`;
- the path of a file that holds one of these.

A state is a mapping from names to arrays or tensors, or the path of a file of one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

import numpy as np

from attnflow.runs.checkpoints.files import read_checkpoint

State = Mapping[str, Any]
Checkpoints = Mapping[Any, Any] | Iterable[Any] | str | Path
Moment = tuple[float, State]
CLOCKS = ("time", "step")


def moments(given: Checkpoints, at: Sequence[float] | None = None) -> Iterator[Moment]:
    """The moments of a series, one after the other; times must increase."""
    last = -np.inf
    for time, state in _moments(given, at):
        moment = _checked_time(time)
        if not moment > last:
            raise ValueError(
                f"A checkpoint at {moment:g} comes after one at {last:g}: give them in "
                "the order of training, each time once."
            )
        last = moment
        yield moment, _state(state)


def as_array(value: Any) -> np.ndarray:
    """An array or a tensor of any kind in NumPy, as a copy in float64.

    A state dict shares its memory with the model, which goes on being trained.
    """
    if hasattr(value, "detach"):
        # NumPy knows no bfloat16.
        value = value.detach().cpu().double().numpy()
    return np.array(value, float)


def _moments(
    given: Checkpoints, at: Sequence[float] | None
) -> Iterable[tuple[Any, Any]]:
    if isinstance(given, str | Path):
        given = read_checkpoint(given)
    if isinstance(given, Mapping):
        if not all(isinstance(key, str) for key in given):
            return given.items()
        return _named(given, at)
    if at is None:
        return map(_pair, given)
    if isinstance(given, Sized) and len(given) != len(at):
        raise _unequal(len(given), len(at))
    return _timed(given, at)


def _timed(states: Iterable[Any], at: Sequence[float]) -> Iterator[tuple[Any, Any]]:
    """States beside their times, each taken after the last one was seen.

    Those that a training loop yields may all be the memory of one model.
    """
    count = 0
    for count, state in enumerate(states, 1):
        if count > len(at):
            raise _unequal(f"more than {len(at)}", len(at))
        yield at[count - 1], state
    if count < len(at):
        raise _unequal(count, len(at))


def _unequal(found: int | str, times: int) -> ValueError:
    return ValueError(
        f"There are {found} checkpoints and {times} times: give one time for each."
    )


def _pair(moment: Any) -> tuple[Any, Any]:
    if isinstance(moment, Mapping | str | Path) or len(moment) != 2:
        raise ValueError(
            f"A checkpoint is a {type(moment).__name__} that does not say when it is: "
            "give pairs (time, state), or the times as at=[0, 10, …]."
        )
    return tuple(moment)


def _named(given: Mapping[str, Any], at: Sequence[float] | None) -> Iterator[Any]:
    """One state, or arrays over times, with a clock among them or beside them."""
    clock = next((given[name] for name in CLOCKS if name in given), None)
    times = clock if at is None else (at[0] if len(at) == 1 else at)
    if times is None:
        raise ValueError(
            "The checkpoints do not say when they are: give the times as at=[0, 10, …] "
            f"(--at), or as an entry 'time'. Found: {listing(given)}."
        )
    state = _state({name: v for name, v in given.items() if name not in CLOCKS})
    times = as_array(times)
    if times.ndim == 0:
        yield float(times), state
        return
    short = {n: v for n, v in state.items() if np.shape(v)[:1] != times.shape}
    if short:
        raise ValueError(
            f"There are {len(times)} times, which must be the first axis of every "
            f"array; it is not that of {listing(short)}."
        )
    for index, time in enumerate(times):
        yield time, {name: value[index] for name, value in state.items()}


def _state(given: Any) -> State:
    """A state: read where it is a file, and out of what is saved around it."""
    if isinstance(given, str | Path):
        given = read_checkpoint(given)
    if not isinstance(given, Mapping):
        raise ValueError(
            f"A checkpoint is a {type(given).__name__}: give a mapping from names to "
            "arrays, such as model.state_dict(), or the path of a file of one."
        )
    inner = [value for value in given.values() if isinstance(value, Mapping)]
    # As in {"model": model.state_dict(), "optimiser": …, "step": 100}.
    for name in ("model", "state_dict", "model_state_dict", "weights"):
        if isinstance(given.get(name), Mapping):
            return given[name]
    return inner[0] if len(inner) == 1 else given


def _checked_time(time: Any) -> float:
    try:
        found = float(time)
    except (TypeError, ValueError):
        found = np.nan
    if not 0 <= found < np.inf:
        raise ValueError(
            f"A checkpoint is said to be at {time!r}: its time (or step) must be a "
            "number that is finite and not negative."
        )
    return found


def listing(state: Mapping[str, Any], most: int = 40) -> str:
    """Names with their shapes, for errors."""
    told = [f"{name} {np.shape(value)}" for name, value in state.items()]
    more = f" and {len(told) - most} more" if len(told) > most else ""
    return (", ".join(told[:most]) or "nothing") + more
