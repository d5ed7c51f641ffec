"""The reader's notes of a paper, from its `notes.toml`.

```toml
[[note]]
id = "B-N1"
place = "Lemma 6.1"
printed = "what the paper prints"
ours = "what we think it must be"
shown_by = "B-L6.1"             # the claim that shows it, or text
effect = "typo"                 # or constant, or statement
```
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from importlib.resources.abc import Traversable
from typing import Any, get_args, get_type_hints, overload

from attnflow.schema.declarations import Note
from attnflow.schema.settings import did_you_mean

FILE = "notes.toml"
_FIELDS = tuple(field.name for field in fields(Note))
_NEEDED = tuple(field.name for field in fields(Note) if field.default is MISSING)


@dataclass(frozen=True, eq=False)
class Notes(Sequence[Note]):
    """The notes of the paper in a folder, read when they are first asked for."""

    folder: Traversable

    @cached_property
    def _notes(self) -> tuple[Note, ...]:
        text = (self.folder / FILE).read_text("utf-8")
        return read_notes(text, str(self.folder / FILE))

    @overload
    def __getitem__(self, index: int) -> Note: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Note]: ...
    def __getitem__(self, index: int | slice) -> Note | Sequence[Note]:
        return self._notes[index]

    def __iter__(self) -> Iterator[Note]:
        return iter(self._notes)

    def __len__(self) -> int:
        return len(self._notes)


def read_notes(text: str, file: str) -> tuple[Note, ...]:
    """The notes in the text of a `notes.toml`; `file` is its name for errors."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file} is no TOML: {error}.") from error
    strange = content.keys() - {"note"}
    if strange:
        raise ValueError(
            f"{file} has {sorted(strange)}: each note begins with [[note]]."
        )
    entries = content.get("note", [])
    return tuple(_note(entry, number, file) for number, entry in enumerate(entries, 1))


def _note(entry: Mapping[str, Any], number: int, file: str) -> Note:
    where = f"{file}, note {entry.get('id', number)}"
    for key in entry:
        if key not in _FIELDS:
            raise ValueError(
                f"{where} has a key {key!r}.{did_you_mean(key, _FIELDS)} Allowed are "
                f"{', '.join(_FIELDS)}."
            )
    missing = [key for key in _NEEDED if key not in entry]
    if missing:
        raise ValueError(f"{where} lacks {', '.join(missing)}.")
    for key, kind in get_type_hints(Note).items():
        words = get_args(kind)
        if words and entry.get(key, words[0]) not in words:
            raise ValueError(
                f"{where} has {key} = {entry[key]!r}. Write one of {', '.join(words)}."
            )
    return Note(**entry)
