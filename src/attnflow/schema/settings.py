"""Settings: flat frozen dataclasses whose fields a user can set by `key=value`.

Names that users type are looked up here too; an error says which one was meant.
"""

import dataclasses
import difflib
import hashlib
import json
import math
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar, cast
from zipfile import BadZipFile
from zlib import error as BadStream

if TYPE_CHECKING:
    import numpy as np
    from _typeshed import DataclassInstance

# Apart from the rules themselves, which import JAX: settings are read without it.
RuleName = Literal["flow", "gd", "momentum", "normalised-gd", "muon", "adam", "signgd"]
ScheduleName = Literal["constant", "linear", "cosine", "inverse-root"]
Trains = Literal["both", "scores", "values"]
"""The parts that are trained: `values` leaves attention at its initial scores."""

TRACED = "an argument of the compiled program"
Number: TypeAlias = Annotated[int, TRACED]
"""A field that is a whole number and no shape: another value compiles nothing."""

Scalar = bool | int | float | str | None
Value: TypeAlias = "Scalar | Sequence[Value]"
"""What a field of a setting may hold: a scalar, or a list of them."""
JsonObject = dict[str, Any]
"""An object as `json` reads it; its reader knows the types of its values."""
Hint: TypeAlias = Any
"""What `typing.get_type_hints` gives: types and unions, which have no common type."""
T = TypeVar("T")
SettingT = TypeVar("SettingT", bound="DataclassInstance")


def canonical_json(value: Any) -> str:
    """The text of a value as JSON: sorted keys, no spaces, shortest exact floats."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(*texts: str) -> str:
    """A content address of 16 hexadecimal digits."""
    return hashlib.sha256("\x00".join(texts).encode()).hexdigest()[:16]


def as_record(value: Any) -> Any:
    """A nested dataclass as data for JSON; each record names its type."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        fields = {name: as_record(getattr(value, name)) for name in names}
        return {"type": type(value).__name__, **fields}
    if isinstance(value, dict):
        entries = cast("dict[object, object]", value)
        return {str(k): as_record(v) for k, v in entries.items()}
    if isinstance(value, tuple | list):
        return [as_record(v) for v in cast("Sequence[object]", value)]
    return value


def plain(value: object) -> Any:
    """The value in JSON's own types; a number that is not finite becomes null."""
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if isinstance(value, Mapping):
        parts = cast("Mapping[object, object]", value)
        return {str(name): plain(part) for name, part in parts.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(part) for part in cast("Iterable[object]", value)]
    # Labelled arrays have the first of these, arrays and numbers of NumPy the second.
    for method in ("to_numpy", "tolist"):
        if hasattr(value, method) and not isinstance(value, type):
            return plain(getattr(value, method)())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return (
        value if value is None or isinstance(value, str | int | float) else str(value)
    )


def seed_numbers(seeds: int | Sequence[int] | None) -> tuple[int, ...]:
    """The numbers of the seeds: n means 0, …, n−1, and `None` a single seed."""
    if seeds is None:
        return (0,)
    numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(map(int, seeds))
    if not numbers or min(numbers) < 0:
        raise ValueError(f"seeds={seeds!r} gives no seeds. Write for example seeds=3.")
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"seeds={seeds!r} names a seed twice. Give each of them once.")
    return numbers


def replace(setting: SettingT, overrides: Mapping[str, Value]) -> SettingT:
    """The `setting` with some fields replaced.

    Values may be of the field's type or texts as typed on a command line; a wrong
    name or a text that does not parse raises a `ValueError` that says what is
    allowed.
    """
    values = {name: coerce(setting, name, v) for name, v in overrides.items()}
    return dataclasses.replace(setting, **values)


def typed(values: Mapping[str, object]) -> list[str]:
    """Settings as a user types them: `width=64`, `record=loss,score`."""
    return [f"{name}={_typed(value)}" for name, value in values.items()]


def coerce(setting: "DataclassInstance", name: str, value: Value) -> Value:
    """A value, or the text of one, as the field `name` of the `setting` takes it."""
    options = _options(_hint(setting, name))
    for option in options:
        try:
            return _as(option, value)
        except (TypeError, ValueError):
            continue
    allowed = " or ".join(_describe(option) for option in options)
    raise ValueError(
        f"{name}={value!r} ({type(value).__name__}) is not allowed. "
        f"{name} must be {allowed}: write for example {name}={_example(options[0])}."
    )


def numbers(setting: "DataclassInstance") -> tuple[str, ...]:
    """Names of the fields that are numbers: another value of one compiles nothing.

    These are all floats, and the integers that are declared as `Number`. Every other
    field is a *shape*: a size of arrays, or a choice, which is compiled in.
    """
    hints = typing.get_type_hints(type(setting), include_extras=True)
    return tuple(name for name, hint in hints.items() if _is_number(hint))


def _is_number(hint: Hint) -> bool:
    if typing.get_origin(hint) is Annotated:
        return TRACED in typing.get_args(hint)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return any(map(_is_number, typing.get_args(hint)))
    return hint is float


def takes_list(setting: "DataclassInstance", name: str) -> bool:
    """Whether a field's value is itself a list, so that commas belong to it."""
    hint = _hint(setting, name)
    return any(typing.get_origin(option) is tuple for option in _options(hint))


def _hint(setting: "DataclassInstance", name: str) -> Hint:
    known = [field.name for field in dataclasses.fields(setting)]
    if name not in known:
        raise unknown("setting", name, known)
    return typing.get_type_hints(type(setting))[name]


def _options(hint: Hint) -> list[Hint]:
    """The alternatives of a union, the strictest first."""
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    options = list(typing.get_args(hint)) if is_union else [hint]
    rank = {type(None): 0, bool: 1, int: 2, float: 3}
    return sorted(options, key=lambda o: 9 if o is str else rank.get(o, 4))


def _as(option: Hint, value: Value) -> Value:
    """The value as this type; a `ValueError` without a message where it is not one."""
    if typing.get_origin(option) is Literal and value in typing.get_args(option):
        return value
    if typing.get_origin(option) is tuple and isinstance(value, Iterable):
        inner = typing.get_args(option)[0]
        parts = value.split(",") if isinstance(value, str) else value
        return tuple(_as(inner, part) for part in parts if part != "")
    if option is type(None) and value in (None, "none"):
        return None
    if option in (bool, int, float):
        return {bool: _as_bool, int: _as_int, float: _as_float}[option](value)
    if option is str and isinstance(value, str):
        return value
    raise ValueError


def _as_bool(value: Value) -> bool:
    texts = {"true": True, "yes": True, "false": False, "no": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in texts:
        return texts[value.lower()]
    raise ValueError


def _as_int(value: Value) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lstrip("+-").isdecimal():
        return int(value)
    # 1e6 is an integer too, but beyond 2^53 a float names no single one.
    number = _as_float(value)
    if number != int(number) or abs(number) > 2**53:
        raise ValueError
    return int(number)


def _as_float(value: Value) -> float:
    if isinstance(value, bool) or not isinstance(value, str | typing.SupportsFloat):
        raise ValueError
    if not math.isfinite(number := float(value)):
        raise ValueError
    return number


def _describe(option: Hint) -> str:
    if typing.get_origin(option) is Literal:
        return " or ".join(repr(v) for v in typing.get_args(option))
    if typing.get_origin(option) is tuple:
        return f"a list of {_describe(typing.get_args(option)[0])}s, with commas"
    names = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}
    return names.get(option, "'none'" if option is type(None) else str(option))


def _example(option: Hint) -> str:
    if typing.get_origin(option) is Literal:
        return str(typing.get_args(option)[0])
    examples = {int: "3", float: "0.1", bool: "true", type(None): "none"}
    return examples.get(option, "…")


def _typed(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_typed, cast("Sequence[object]", value)))
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)


class UnknownName(ValueError):
    """A name that is not known; the message says which are, and the likely one."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'loss'?`, or the empty string where nothing is near."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    if not near:
        return ""
    return " Did you mean " + " or ".join(repr(n) for n in near) + "?"


def unknown(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error for a `name` that is not among the `known` ones of its `kind`."""
    known = list(known)
    return UnknownName(
        f"There is no {kind} {name!r}.{did_you_mean(name, known)} "
        f"Known: {', '.join(known) or 'none'}."
    )


def look_up(kind: str, name: str, table: Mapping[str, T]) -> T:
    """`table[name]`, or an error with the nearest names."""
    if name not in table:
        raise unknown(kind, name, table)
    return table[name]


ArraySource = Mapping[str, Any] | str | Path
"""Arrays by name, or the path of an npz file of them."""
# A type error says that the file has one array, without a name.
UNREADABLE = (ValueError, OSError, EOFError, TypeError, BadZipFile, BadStream)


def address(
    content: JsonObject,
    *,
    seeds: Sequence[int],
    data: ArraySource | None = None,
    weights: ArraySource | None = None,
    check: bool = False,
    lift: bool = False,
    code: str = "",
) -> str:
    """The content address of a run.

    A run that is checked at a finer tolerance, or that keeps its final weights, is
    another one.

    **Arguments:**

    - `content`: what is run, as plain data: the record of an experiment, or for an
      experiment of a paper the function that builds it and the setting.
    - `data`, `weights`: arrays in the place of those that the experiment draws.
    - `code`: a digest of the code that the run depends on.
    """
    parts = {
        "experiment": content,
        "seeds": [int(seed) for seed in seeds],
        "data": fingerprint(data),
        "weights": fingerprint(weights),
        "check": check,
        "lift": lift,
        "code": code,
    }
    return digest(canonical_json(parts))


def load(source: ArraySource | None) -> "dict[str, np.ndarray] | None":
    """The arrays of a mapping, or of an npz file by its path."""
    if source is None:
        return None
    # Settings are read for `--help` too, which needs no arrays.
    import numpy as np

    if isinstance(source, Mapping):
        return {str(name): np.asarray(value) for name, value in source.items()}
    path = Path(source)
    if not path.is_file():
        raise ValueError(f"There is no file {path}: give an npz file of arrays.")
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except UNREADABLE as problem:
        raise ValueError(
            f"{path} is not a readable npz file ({problem}): write it by numpy.savez."
        ) from problem


def fingerprint(source: ArraySource | None) -> str | None:
    """A digest of arrays, their names, types and shapes."""
    arrays = load(source)
    if arrays is None:
        return None
    total = hashlib.sha256()
    for name in sorted(arrays):
        total.update(f"{name} {arrays[name].dtype} {arrays[name].shape} ".encode())
        total.update(arrays[name].copy(order="C").data)
    return total.hexdigest()[:16]
