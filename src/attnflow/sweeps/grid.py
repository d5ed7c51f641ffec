"""What is swept: texts such as `width=16,64` and `omega=0.01..1:9:log` as axes.

    key=a..b:n        n values from a to b, evenly spaced
    key=a..b:n:log    n values from a to b, evenly spaced logarithms
    key=x,y,z         these values
    key=x             one value: a setting that is the same in every cell

Axes multiply. Keys that are zipped go along one axis together. A setting whose value
is itself a list keeps its commas, and so is the same in every cell.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from attnflow.schema import settings
from attnflow.schema.settings import Value, did_you_mean, unknown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Values: TypeAlias = "Value | np.ndarray"
"""A value, a text as above, or several values of a setting."""

MOST_CELLS = 10**6

_RANGE = re.compile(r"(?P<low>[^:,]+?)\.\.(?P<high>[^:,]+?)(?::(?P<rest>[^,]*))?")
_HOW = "Write it as a..b:n or a..b:n:log, for example 0.01..1:9:log."


@dataclass(frozen=True)
class Axis:
    """One dim of a sweep: keys, and one row of their values for each point.

    The dim has the name of the first key; keys that are zipped with it are further
    coordinates along it.
    """

    keys: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def name(self) -> str:
        """The name of the dim."""
        return self.keys[0]

    @property
    def is_continuous(self) -> bool:
        """Whether its values are all numbers with a point, which change no shape."""
        return all(isinstance(value, float) for row in self.rows for value in row)


def parse_settings(texts: Iterable[str]) -> dict[str, str]:
    """Texts by key, from `key=…` as typed on a command line."""
    values: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals and value):
            raise ValueError(
                f"{text!r} is neither a setting nor a range. Write for example "
                "width=64, width=16,64 or omega=0.01..1:9:log."
            )
        if key in values:
            raise ValueError(f"{key} is given twice. Give it once, with all values.")
        values[key] = value
    return values


def make_axes(
    setting: "DataclassInstance",
    overrides: Mapping[str, Values],
    zipped: Iterable[Sequence[str]] = (),
) -> tuple[dict[str, Value], tuple[Axis, ...]]:
    """Settings that are the same in every cell, and the axes of the others.

    **Arguments:**

    - `setting`: the setting of the experiment, whose fields are the keys.
    - `overrides`: by key a text as above, a list or an array of values, or one value.
    - `zipped`: groups of keys that go along one axis together.
    """
    columns, fixed = {}, {}
    for key, value in overrides.items():
        values = _values(setting, key, value)
        if values is None:
            plain = value.tolist() if isinstance(value, np.ndarray) else value
            fixed[key] = settings.coerce(setting, key, plain)
        else:
            columns[key] = values
    axes = [_axis(keys, columns) for keys in _groups(columns, zipped)]
    return fixed, tuple(axes)


def check_axes(axes: Sequence[Axis]) -> None:
    """Refuse a sweep over nothing, and one with more cells than anybody waits for."""
    if not axes:
        raise ValueError(
            "Nothing is swept: every setting has one value. Give one of them several, "
            "for example omega=0.01..1:9:log, or compute this one by `attnflow run`."
        )
    cells = math.prod(map(len, axes))
    if cells > MOST_CELLS:
        raise ValueError(
            f"The sweep has {cells} cells, more than {MOST_CELLS}: give fewer values."
        )


def _values(
    setting: "DataclassInstance", key: str, value: Values
) -> list[Value] | None:
    """The values of a key that is swept; `None` for one that is not."""
    if settings.takes_list(setting, key):
        # A list of lists, from Python, sweeps over lists.
        if isinstance(value, list) and any(isinstance(v, list | tuple) for v in value):
            return [settings.coerce(setting, key, v) for v in value]
        return None
    if isinstance(value, str):
        if match := _RANGE.fullmatch(value):
            return _whole_range(setting, key, value, _range(key, value, match))
        if "," not in value:
            return None
        value = [part.strip() for part in value.split(",")]
        if "" in value:
            raise ValueError(f"{key} has an empty value in its list. Remove a comma.")
    elif not isinstance(value, Sequence | np.ndarray):
        return None
    plain = value.tolist() if isinstance(value, np.ndarray) else list(value)
    if not plain:
        raise ValueError(f"{key} has no values. Give at least one.")
    return [settings.coerce(setting, key, v) for v in plain]


def _range(key: str, text: str, match: re.Match[str]) -> list[float]:
    count, colon, spacing = (match["rest"] or "").partition(":")
    try:
        low, high = float(match["low"]), float(match["high"])
    except ValueError:
        raise ValueError(
            f"{key}={text} has an end that is not a number. {_HOW}"
        ) from None
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"{key}={text} has an end that is not finite. {_HOW}")
    if not count.isdecimal() or not 2 <= int(count) <= MOST_CELLS:
        raise ValueError(
            f"{key}={text} has {count or 'no number'} where the number of values "
            f"belongs, from 2 to {MOST_CELLS}. {_HOW}"
        )
    if colon and spacing not in ("log", "linear"):
        raise ValueError(
            f"{key}={text} has the spacing {spacing!r}, and there are 'log' and "
            f"'linear'.{did_you_mean(spacing, ('log', 'linear'))} {_HOW}"
        )
    if low == high:
        raise ValueError(f"{key}={text} ends where it begins. Write {key}={low:g}.")
    if spacing == "log" and min(low, high) <= 0:
        raise ValueError(
            f"{key}={text} is logarithmic, and its end {min(low, high):g} is not "
            "positive. Give positive ends, or leave out :log."
        )
    make = np.geomspace if spacing == "log" else np.linspace
    # 15 digits undo what rounding adds: 0.30000000000000004 is meant as 0.3.
    return [float(f"{value:.15g}") for value in make(low, high, int(count))]


def _whole_range(
    setting: "DataclassInstance", key: str, text: str, values: list[float]
) -> list[Value]:
    """The values of a range as the key takes them; integers may be off by rounding."""
    near = [round(v) if math.isclose(v, round(v), rel_tol=1e-12) else v for v in values]
    try:
        return [settings.coerce(setting, key, value) for value in near]
    except ValueError as error:
        nearest = ",".join(str(n) for n in dict.fromkeys(round(v) for v in values))
        raise ValueError(
            f"{key}={text} does not give values that {key} can have. {error} "
            f"The nearest integers are {key}={nearest}."
        ) from None


def _groups(
    columns: Mapping[str, list[Value]], zipped: Iterable[Sequence[str]]
) -> list[tuple[str, ...]]:
    """The keys of each axis, in the order of the settings."""
    partners: dict[str, tuple[str, ...]] = {}
    for group in zipped:
        keys = tuple(group)
        if len(set(keys)) < max(2, len(keys)):
            raise ValueError(
                f"{','.join(keys)!r} cannot be zipped. Name two or more different keys."
            )
        for key in keys:
            if key not in columns:
                raise unknown("swept key", key, columns)
            if key in partners:
                raise ValueError(f"{key} is zipped twice. Put it into one group.")
            partners[key] = keys
        lengths = {key: len(columns[key]) for key in keys}
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{key} has {n}" for key, n in lengths.items())
            raise ValueError(
                f"Zipped keys need equally many values, and {counts}. Make them equal."
            )
    return list(dict.fromkeys(partners.get(key, (key,)) for key in columns))


def _axis(keys: tuple[str, ...], columns: Mapping[str, list[Value]]) -> Axis:
    rows = tuple(zip(*(columns[key] for key in keys), strict=True))
    for row, count in Counter(rows).items():
        if count > 1:
            point = ", ".join(f"{k}={v}" for k, v in zip(keys, row, strict=True))
            raise ValueError(f"{point} is there twice. Give each value once.")
    return Axis(keys, rows)
