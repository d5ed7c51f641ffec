"""Checkpoints as pairs of a time and a state, and the arrays of a state by our names.

`observe` says what a series of checkpoints, a state and a map of names may be. Pairs
may also come from a generator, so that a training loop is observed while it runs and
keeps no checkpoint.
"""

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnflow.models.forms.initial import OpenShape
from attnflow.schema.arrays import read_npz, real
from attnflow.schema.settings import did_you_mean, unknown

State = Mapping[str, Any]
Checkpoints = Mapping[Any, Any] | Iterable[Any] | str | Path
Source = str | Sequence[str] | np.ndarray | Callable[[State], ArrayLike]
Names = Mapping[str, Source]
Shapes = Mapping[str, OpenShape]
"""By our names, sizes of axes, or their names where any size will do."""
CLOCKS = ("time", "step")


def read_series(
    checkpoints: Checkpoints, at: Sequence[float] | None = None
) -> Iterator[tuple[float, State]]:
    """Times and states, one after the other; times must increase."""
    last = -np.inf
    for stamp, state in _pairs(checkpoints, at):
        time = _read_time(stamp)
        if not time > last:
            raise ValueError(
                f"A checkpoint at {time:g} comes after one at {last:g}: give them in "
                "the order of training, each time once."
            )
        last = time
        yield time, _read_state(state)


def _pairs(
    checkpoints: Checkpoints, at: Sequence[float] | None
) -> Iterable[tuple[object, object]]:
    if isinstance(checkpoints, str | Path):
        checkpoints = read_checkpoint(checkpoints)
    if isinstance(checkpoints, Mapping):
        if not all(isinstance(key, str) for key in checkpoints):
            return checkpoints.items()
        return _split_times(checkpoints, at)
    if not isinstance(checkpoints, Iterable):
        raise ValueError(
            f"{checkpoints!r} ({type(checkpoints).__name__}) holds no checkpoints. "
            "Give a file, states by their times, or pairs of a time and a state."
        )
    if at is None:
        return map(_pair, checkpoints)
    if isinstance(checkpoints, Sized) and len(checkpoints) != len(at):
        raise _unequal(len(checkpoints), len(at))
    return _with_times(checkpoints, at)


def _with_times(
    states: Iterable[object], at: Sequence[float]
) -> Iterator[tuple[float, object]]:
    """States with their times, each taken after the last one was read.

    Those that a training loop yields may all be the memory of one model.
    """
    count = 0
    for count, state in enumerate(states, 1):
        if count > len(at):
            raise _unequal(f"more than {len(at)}", len(at))
        yield at[count - 1], state
    if count < len(at):
        raise _unequal(count, len(at))


def _unequal(states: int | str, times: int) -> ValueError:
    return ValueError(
        f"There are {states} checkpoints and {times} times: give one time for each."
    )


def _pair(entry: Any) -> tuple[object, object]:
    if isinstance(entry, Mapping | str | Path) or len(entry) != 2:
        raise ValueError(
            f"A checkpoint is a {type(entry).__name__} that does not say when it is: "
            "give pairs (time, state), or the times as at=[0, 10, …]."
        )
    return tuple(entry)


def _split_times(
    arrays: State, at: Sequence[float] | None
) -> Iterator[tuple[float, State]]:
    """One state, or arrays over times, with a clock among them or beside them."""
    clock = next((arrays[name] for name in CLOCKS if name in arrays), None)
    times = clock if at is None else (at[0] if len(at) == 1 else at)
    if times is None:
        raise ValueError(
            "The checkpoints do not say when they are: give the times as at=[0, 10, …] "
            f"(--at), or as an entry 'time'. Found: {listing(arrays)}."
        )
    state = _read_state({n: v for n, v in arrays.items() if n not in CLOCKS})
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


def _read_state(state: object) -> State:
    """A state: read where it is a file, and out of what is saved around it."""
    if isinstance(state, str | Path):
        state = read_checkpoint(state)
    if not isinstance(state, Mapping):
        raise ValueError(
            f"A checkpoint is a {type(state).__name__}: give a mapping from names to "
            "arrays, such as model.state_dict(), or the path of a file of one."
        )
    # As in {"model": model.state_dict(), "optimiser": …, "step": 100}.
    for name in ("model", "state_dict", "model_state_dict", "weights"):
        if isinstance(state.get(name), Mapping):
            return state[name]
    inner = [value for value in state.values() if isinstance(value, Mapping)]
    return inner[0] if len(inner) == 1 else state


def _read_time(stamp: Any) -> float:
    try:
        time = float(stamp)
    except (TypeError, ValueError):
        time = np.nan
    if not 0 <= time < np.inf:
        raise ValueError(
            f"A checkpoint is said to be at {stamp!r}: its time (or step) must be a "
            "number that is finite and not negative."
        )
    return time


def as_array(value: Any) -> np.ndarray:
    """An array or a tensor of any kind in NumPy, as a copy in float64.

    A state dict shares its memory with the model, which goes on being trained.
    """
    if hasattr(value, "detach"):
        # NumPy knows no bfloat16.
        value = value.detach().cpu().double().numpy()
    return np.array(real("An entry of the checkpoint", value), float)


def listing(state: State) -> str:
    """Names with their shapes, the first 40 of them, for errors."""
    entries = [f"{name} {np.shape(value)}" for name, value in state.items()]
    more = f" and {len(entries) - 40} more" if len(entries) > 40 else ""
    return (", ".join(entries[:40]) or "nothing") + more


def pick(
    state: State, shapes: Shapes, names: Names | None, *, heads: int
) -> dict[str, np.ndarray]:
    """The arrays of a state whose `shapes` are listed, by our names."""
    names = names or {}
    for name in names:
        if name not in shapes:
            raise unknown("weight to be named", name, shapes)
    arrays = {}
    for name, shape in shapes.items():
        array = _array_from(state, names.get(name, name), name, shape)
        is_headless = heads == 1 and array.ndim == len(shape) - 1
        arrays[name] = array[None] if is_headless else array
    return arrays


def explained(error: ValueError, state: State, names: Names | None) -> ValueError:
    """An error about arrays by our names, with what the checkpoint has."""
    mapped = [
        f"{name} is {source if callable(source) else repr(source)}"
        for name, source in (names or {}).items()
        if not isinstance(source, np.ndarray)
    ]
    by_names = f" By the map of names, {', '.join(mapped)}." if mapped else ""
    return ValueError(f"{error}{by_names} The checkpoint has {listing(state)}.")


def _array_from(
    state: State, source: Source, name: str, shape: OpenShape
) -> np.ndarray:
    if isinstance(source, np.ndarray):
        return as_array(source)
    if isinstance(source, str):
        return _entry(state, source, name, shape)
    if callable(source):
        return as_array(source(state))
    parts = {entry: _entry(state, entry, name, shape) for entry in source}
    if len({part.shape for part in parts.values()}) > 1:
        raise ValueError(
            f"{name} is to be stacked from arrays of different shapes: "
            f"{listing(parts)}. Give arrays of one shape, or a function of the state."
        )
    return np.stack([parts[entry] for entry in source])


def _entry(state: State, source: str, name: str, shape: OpenShape) -> np.ndarray:
    if source in state:
        return as_array(state[source])
    meaning, advice = f", which is to be {name}", ""
    if source == name:
        meaning, advice = "", f" Where names differ, give a map: names={{{name!r}: …}}."
    raise ValueError(
        f"The checkpoint has no {source!r}{meaning} ({', '.join(map(str, shape))})."
        f"{_guess(state, source, name, shape)} It has {listing(state)}.{advice}"
    )


def _guess(state: State, source: str, name: str, shape: OpenShape) -> str:
    """A guess by the name, or by the shape where no name is near."""
    for entry in state:
        if source.lower() in entry.lower():
            return f" Did you mean {entry!r}?"
    if near := did_you_mean(source, [*state]) or did_you_mean(name, [*state]):
        return near
    alike = [repr(entry) for entry, v in state.items() if _fits(np.shape(v), shape)]
    return f" Of its shape: {', '.join(alike)}." if alike else ""


def _fits(sizes: tuple[int, ...], shape: OpenShape) -> bool:
    """Whether sizes fit a shape, perhaps without the axis of the head."""
    if shape[0] == 1 and len(sizes) == len(shape) - 1:
        shape = shape[1:]
    return len(sizes) == len(shape) and all(
        isinstance(axis, str) or axis == size
        for axis, size in zip(shape, sizes, strict=True)
    )


def read_checkpoint(path: str | Path) -> Mapping[Any, Any]:
    """The content of a file of checkpoints, by its names (or by its times)."""
    path, endings = Path(path), ", ".join(_READERS)
    if not path.is_file():
        raise ValueError(f"There is no file {path}: give one of {endings}.")
    if path.suffix not in _READERS:
        raise ValueError(
            f"{path} ends in {path.suffix or 'nothing'}: give one of {endings}."
        )
    return _READERS[path.suffix](path)


def _read_safetensors(path: Path) -> State:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return load_file(path)
    except (SafetensorError, OSError, KeyError, TypeError) as error:
        # Types that NumPy lacks (bfloat16) come as errors of a name or a type.
        raise ValueError(
            f"{path} could not be read as safetensors ({error!r}): save it by "
            "safetensors.torch.save_file, in float32 or float64."
        ) from error


def _read_torch(path: Path) -> Mapping[Any, Any]:
    try:
        import torch
    except ImportError as error:
        raise ValueError(
            f"{path} was saved by PyTorch, which is not installed: pip install "
            "'attnflow[torch]', or save it as .safetensors or .npz."
        ) from error
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, pickle.UnpicklingError, EOFError, OSError) as error:
        # PyTorch's own message advises to read it unsafely, and we do not.
        raise ValueError(
            f"{path} could not be read by PyTorch as weights alone "
            f"({type(error).__name__}): save a state dict (model.state_dict(), not the "
            "model), or a dictionary of them by step, by torch.save."
        ) from error
    if not isinstance(content, Mapping):
        raise ValueError(
            f"{path} holds a {type(content).__name__}: save a state dict "
            "(model.state_dict()), or a dictionary of them by step."
        )
    return content


_READERS: dict[str, Callable[[Path], Mapping[Any, Any]]] = {
    ".npz": read_npz,
    ".safetensors": _read_safetensors,
    ".pt": _read_torch,
    ".pth": _read_torch,
}
