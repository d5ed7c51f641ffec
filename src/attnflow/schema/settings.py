"""Settings: flat frozen dataclasses whose fields a user can set by `key=value`.

Names that users type are looked up here too; an error says which one was meant.
"""

import dataclasses
import difflib
import hashlib
import json
import math
import operator
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar, cast

from attnflow.schema.arrays import ArraySource, fingerprint
from attnflow.schema.fields import (
    LARGEST,
    LONGEST,
    PARTS,
    TRACED,
    TRAINING,
    WEIGHTS,
    Joined,
    Length,
    Optimised,
    Range,
)
from attnflow.schema.fields import Number as Number
from attnflow.schema.fields import RuleName as RuleName
from attnflow.schema.fields import ScheduleName as ScheduleName
from attnflow.schema.fields import Trains as Trains

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Scalar = bool | int | float | str | None
Value: TypeAlias = "Scalar | Sequence[Value]"
"""What a field of a setting may hold: a scalar, or a list of them."""
JsonObject = dict[str, Any]
"""An object as `json` reads it; its reader knows the types of its values."""
Hint: TypeAlias = Any
"""What `typing.get_type_hints` gives: types and unions, which have no common type."""
Limit: TypeAlias = Range | Length | Joined
"""What a field declares of its values."""
MOST_SEEDS = 10**6
"""Seeds of one run: more is a slip of the keyboard."""
T = TypeVar("T")
SettingT = TypeVar("SettingT", bound="DataclassInstance")


def part_of(name: str) -> str:
    """The part, `scores` or `values`, that has what is trained under this name."""
    return WEIGHTS[name][0] if name in WEIGHTS else name


def parts_of(trains: str) -> tuple[str, ...]:
    """The names in a text such as `keys+values`; `both` are scores and values."""
    return PARTS[:2] if trains == "both" else tuple(trains.split("+"))


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
    given = cast("object", seeds)
    if isinstance(given, str) or not isinstance(given, int | Iterable):
        raise ValueError(
            f"seeds={given!r} ({type(given).__name__}) is neither a number of seeds "
            "nor a list of them. Write for example seeds=3 or seeds=[0, 7]."
        )
    if isinstance(seeds, int) and seeds > MOST_SEEDS:
        raise ValueError(f"seeds={seeds} is more than {MOST_SEEDS}: give fewer.")
    try:
        each = range(seeds) if isinstance(seeds, int) else seeds
        numbers = tuple(operator.index(seed) for seed in each)
    except TypeError:
        raise ValueError(f"seeds={seeds!r} has one that is not an integer.") from None
    if not numbers or min(numbers) < 0:
        raise ValueError(f"seeds={seeds!r} gives no seeds. Write for example seeds=3.")
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"seeds={seeds!r} names a seed twice. Give each of them once.")
    return numbers


def seed_count(seeds: int) -> int:
    """A number of seeds, for what takes no list of them."""
    numbers = seed_numbers(seeds)
    if not isinstance(cast("object", seeds), int):
        raise ValueError(f"seeds={seeds!r} names seeds: give how many, as in seeds=5.")
    return len(numbers)


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
    return [f"{name}={typed_value(value)}" for name, value in values.items()]


def typed_setting(setting: Mapping[str, object]) -> list[str]:
    """A setting as a user types it, without what is left at `Optimised`'s defaults."""
    plain = {f.name: f.default for f in dataclasses.fields(Optimised)}
    quiet = [n for n in plain if n not in ("rule", "learning_rate")]
    return typed(
        {
            name: value
            for name, value in setting.items()
            if name not in quiet or value not in (plain[name], [])
        }
    )


def coerce(setting: "DataclassInstance", name: str, value: Value) -> Value:
    """A value, or the text of one, as the field `name` of the `setting` takes it."""
    options = _options(_hint(setting, name))
    for option in options:
        try:
            return _as(option, value)
        except (TypeError, ValueError):
            continue
    allowed = allowed_values(setting, name)
    example = typed_value(getattr(setting, name))
    advice = f": write for example {name}={example}" if example else ""
    raise ValueError(
        f"{name}={value!r} ({type(value).__name__}) is not allowed. "
        f"{name} must be {allowed}{advice}."
    )


def allowed_values(setting: "DataclassInstance", name: str) -> str:
    """What a field takes, in words: `an integer from 1 to 2^31 - 1 or 'none'`."""
    return " or ".join(map(_describe, _options(_hint(setting, name))))


def numbers(setting: "DataclassInstance") -> tuple[str, ...]:
    """Names of the fields that are numbers: another value of one compiles nothing.

    These are all floats, and the integers that are declared as `Number`. Every other
    field is a *shape*: a size of arrays, or a choice, which is compiled in.
    """
    hints = typing.get_type_hints(type(setting), include_extras=True)
    return tuple(name for name, hint in hints.items() if _is_number(hint))


def _is_number(hint: Hint) -> bool:
    if typing.get_origin(hint) is Annotated:
        plain, *notes = typing.get_args(hint)
        return TRACED in notes or _is_number(plain)
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return any(map(_is_number, typing.get_args(hint)))
    return hint is float


def takes_list(setting: "DataclassInstance", name: str) -> bool:
    """Whether a field's value is itself a list, so that commas belong to it."""
    hint = _hint(setting, name)
    return any(
        typing.get_origin(_bounds(option)[0]) is tuple for option in _options(hint)
    )


def _hint(setting: "DataclassInstance", name: str) -> Hint:
    known = [field.name for field in dataclasses.fields(setting)]
    if name not in known:
        # A computation says why no rule can be chosen for it.
        why = getattr(setting, "no_rule", "")
        if why and name in {field.name for field in dataclasses.fields(Optimised)}:
            raise UnknownName(f"{name!r} is no setting of this experiment. {why}")
        raise unknown("setting", name, known)
    return typing.get_type_hints(type(setting), include_extras=True)[name]


def _options(hint: Hint) -> list[Hint]:
    """The alternatives of a union, the strictest first."""
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    options = list(typing.get_args(hint)) if is_union else [hint]
    rank = {type(None): 0, bool: 1, int: 2, float: 3, str: 9}
    return sorted(options, key=lambda o: rank.get(_bounds(o)[0], 4))


def _as(option: Hint, value: Value) -> Value:
    """The value as this type; a `ValueError` without a message where it is not one."""
    kind, limits = _bounds(option)
    result = _as_plain(kind, value)
    if not all(_admits(limit, result) for limit in limits):
        raise ValueError
    return result


def _bounds(hint: Hint) -> tuple[Hint, tuple[Limit, ...]]:
    """A type without what is declared of its values, and that declaration."""
    if typing.get_origin(hint) is not Annotated:
        return hint, (Range(-LARGEST - 1, LARGEST),) if hint is int else ()
    kind, *notes = typing.get_args(hint)
    declared = tuple(note for note in notes if isinstance(note, Limit))
    return kind, declared or _bounds(kind)[1]


def _admits(limit: Limit, value: Any) -> bool:
    if isinstance(limit, Joined):
        return limit.admits(value)
    if isinstance(limit, Length):
        return len(value) >= limit.least
    ends = [limit.low] * limit.above + [limit.high] * limit.below
    return limit.low <= value <= limit.high and value not in ends


def _limit(limit: Limit) -> str:
    """A limit in words: `from 1 to 2^31 - 1`, `above 0, up to 1`."""
    if isinstance(limit, Joined):
        return f"{limit.word!r}, or of {', '.join(limit.known)} some joined by +"
    if isinstance(limit, Length):
        return f"at least {limit.least} of them"
    low, high = _power(limit.low), _power(limit.high)
    if limit.below:
        return f"from {low}, below {high}"
    return f"above {low}, up to {high}" if limit.above else f"from {low} to {high}"


def _power(value: float) -> str:
    """A bound as one would write it: 2^63 - 1, 1e-15, 12."""
    powers: dict[float, str] = {LARGEST: "2^63 - 1", LONGEST: "2^31 - 1"}
    return powers.get(value) or ("-2^63" if value == -LARGEST - 1 else f"{value:g}")


def _as_plain(option: Hint, value: Value) -> Any:
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
    """What a field takes, in words: `an integer from 1 to 2^31 - 1`."""
    kind, limits = _bounds(option)
    words = _describe_plain(kind)
    for limit in limits:
        words += f"{',' if isinstance(limit, Length | Joined) else ''} {_limit(limit)}"
    return words


def _describe_plain(kind: Hint) -> str:
    if typing.get_origin(kind) is Literal:
        return " or ".join(repr(v) for v in typing.get_args(kind))
    if typing.get_origin(kind) is tuple:
        inner, limits = _bounds(typing.get_args(kind)[0])
        entries = {int: "integers", float: "numbers", str: "texts"}
        words = " ".join([entries.get(inner, str(inner)), *map(_limit, limits)])
        return f"a list of {words}, with commas"
    names = {int: "an integer", float: "a number", bool: "true or false", str: "a text"}
    return names.get(kind, "'none'" if kind is type(None) else str(kind))


def typed_value(value: object) -> str:
    """A value as a user types it: `none`, `true`, `loss,score`."""
    if isinstance(value, list | tuple):
        return ",".join(map(typed_value, cast("Sequence[object]", value)))
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)


class UnknownName(ValueError):
    """A name that is not known; the message says which are, and the likely one."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'loss'?`, or the empty string where nothing is near."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if len(name) >= 3:
        near += [other for other in known if other.startswith(name)][:3]
    near = list(dict.fromkeys(near))[:3]
    if not near:
        return ""
    return " Did you mean " + " or ".join(repr(n) for n in near) + "?"


def unknown(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error for a `name` that is not among the `known` ones of its `kind`."""
    known = list(known)
    given = cast("object", name)
    if not isinstance(given, str):
        return UnknownName(
            f"{given!r} ({type(given).__name__}) is not the name of a {kind}, which is "
            f"a text. Known: {', '.join(known) or 'none'}."
        )
    if not name:
        return UnknownName(
            f"The name of the {kind} is empty. Known: {', '.join(known) or 'none'}."
        )
    return UnknownName(
        f"There is no {kind} {name!r}.{did_you_mean(name, known)} "
        f"Known: {', '.join(known) or 'none'}."
    )


def look_up(kind: str, name: str, table: Mapping[str, T]) -> T:
    """`table[name]`, or an error with the nearest names."""
    if not isinstance(cast("object", name), str) or name not in table:
        raise unknown(kind, name, table)
    return table[name]


def steps_per_time(setting: Mapping[str, Any]) -> float | None:
    """Steps of a setting per unit of gradient-flow time.

    `None` where training does not follow the flow: another rule, a schedule, batches,
    weight decay, clipping, or rates of single parts.
    """
    unlike = ("batch", *(name for name in TRAINING if name not in ("rule", "schedule")))
    if setting.get("schedule", "constant") != "constant" or any(
        setting.get(name) for name in unlike
    ):
        return None
    return {"flow": 1.0, "gd": 1 / setting["learning_rate"]}.get(setting["rule"])


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
        "data": None if data is None else fingerprint(data),
        "weights": None if weights is None else fingerprint(weights),
        "check": check,
        "lift": lift,
        "code": code,
    }
    return digest(canonical_json(parts))
