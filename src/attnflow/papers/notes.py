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
from collections.abc import Mapping
from dataclasses import MISSING, fields
from importlib.resources.abc import Traversable
from typing import Any, get_args, get_type_hints

from attnflow.schema.declarations import Note
from attnflow.schema.settings import did_you_mean

_FIELDS = tuple(field.name for field in fields(Note))
_NEEDED = tuple(field.name for field in fields(Note) if field.default is MISSING)


def read_notes(file: Traversable) -> tuple[Note, ...]:
    """The notes in a `notes.toml`; errors name the file and the entry."""
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file} is no TOML: {error}.") from error
    strange = content.keys() - {"note"}
    if strange:
        raise ValueError(
            f"{file} has {sorted(strange)}: each note begins with [[note]]."
        )
    entries = content.get("note", [])
    return tuple(_note(entry, number, file) for number, entry in enumerate(entries, 1))


def _note(entry: Mapping[str, Any], number: int, file: Traversable) -> Note:
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
