"""The table of settings: what each field takes, from its declaration alone."""

import dataclasses
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attnflow.schema.fields import Unit
from attnflow.schema.settings import Hint, allowed_values, numbers, typed_value

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True)
class FieldRow:
    """A field of one setting, or of several that are of one type.

    - `takes`: its type and range, in words.
    - `unit`: what it counts or measures in; empty for pure numbers and texts.
    - `kind`: `number`, of which another value compiles nothing, or `shape`.
    - `defaults`: its own values, each with the names of the settings that have it.
    """

    name: str
    takes: str
    unit: str
    kind: str
    defaults: Mapping[str, tuple[str, ...]]

    @property
    def default(self) -> str:
        """The value; where there are several, each with the settings that have it."""
        if len(self.defaults) == 1:
            return next(iter(self.defaults))
        parts = (f"{value} ({', '.join(n)})" for value, n in self.defaults.items())
        return "; ".join(parts)

    def as_json(self) -> dict[str, str]:
        """The row as plain data."""
        names = ("name", "takes", "unit", "kind", "default")
        return {name: getattr(self, name) for name in names}


def field_table(settings: "Mapping[str, DataclassInstance]") -> list[FieldRow]:
    """The fields of settings of one type, by the names of these settings."""
    first = next(iter(settings.values()))
    hints = typing.get_type_hints(type(first), include_extras=True)
    traced = numbers(first)
    return [
        FieldRow(
            field.name,
            allowed_values(first, field.name),
            _unit(hints[field.name]),
            "number" if field.name in traced else "shape",
            _defaults(settings, field.name),
        )
        for field in dataclasses.fields(first)
    ]


def _defaults(
    settings: "Mapping[str, DataclassInstance]", field: str
) -> dict[str, tuple[str, ...]]:
    defaults: dict[str, tuple[str, ...]] = {}
    for name, setting in settings.items():
        value = typed_value(getattr(setting, field))
        defaults[value] = (*defaults.get(value, ()), name)
    return defaults


def _unit(hint: Hint) -> str:
    """The unit that a type, or a part of it, declares."""
    notes: tuple[object, ...] = getattr(hint, "__metadata__", ())
    units = [note.name for note in notes if isinstance(note, Unit)]
    units += filter(None, (_unit(part) for part in typing.get_args(hint)))
    return units[0] if units else ""
