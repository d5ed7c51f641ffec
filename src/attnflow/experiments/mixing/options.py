"""Named parts with options: what a choice takes, and what plays no part in it."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attnflow.schema.names import look_up


@dataclass(frozen=True)
class Choice:
    """A part that can be chosen: what makes it, and its arguments by setting."""

    make: Any
    arguments: Mapping[str, str]

    @property
    def needed(self) -> list[str]:
        """Settings without which it cannot be made."""
        plain = {
            field.name
            for field in dataclasses.fields(self.make)
            if field.default is not dataclasses.MISSING
            or field.default_factory is not dataclasses.MISSING
        }
        return [key for key, name in self.arguments.items() if name not in plain]


@dataclass(frozen=True)
class Slot:
    """One place in a model, such as its loss, and what can stand there.

    `name` is the setting that chooses; settings that are `None` are not given, and
    take what the chosen part has as its own.
    """

    name: str
    choices: Mapping[str, Choice]

    def made(self, setting: Any) -> Any:
        """The chosen part; what is missing, or plays no part, is said."""
        wanted = getattr(setting, self.name)
        choice = look_up(self.name, wanted, self.choices)
        for key in self._options():
            if getattr(setting, key) is not None and key not in choice.arguments:
                raise ValueError(self._idle(key, wanted, getattr(setting, key)))
        missing = [key for key in choice.needed if getattr(setting, key) is None]
        if missing:
            raise ValueError(
                f"{self.name}={wanted} needs {' and '.join(missing)}: give "
                f"{missing[0]}=…."
            )
        given = {
            name: getattr(setting, key)
            for key, name in choice.arguments.items()
            if getattr(setting, key) is not None
        }
        return choice.make(**given)

    def _options(self) -> list[str]:
        every = (key for choice in self.choices.values() for key in choice.arguments)
        return list(dict.fromkeys(every))

    def _idle(self, key: str, wanted: str, value: Any) -> str:
        takes = [name for name, c in self.choices.items() if key in c.arguments]
        own = ", ".join(self.choices[wanted].arguments) or "nothing"
        return (
            f"{key}={value} plays no part with {self.name}={wanted}, which takes "
            f"{own}. Leave it out, or use {self.name}={' or '.join(takes)}."
        )


def own_fields(make: Any, *left_out: str) -> Choice:
    """A choice whose arguments are settings of the same names."""
    names = [field.name for field in dataclasses.fields(make)]
    return Choice(make, {name: name for name in names if name not in left_out})
