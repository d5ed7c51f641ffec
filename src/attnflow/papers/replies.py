"""Replies of a paper's authors to notes and verdicts, and the status that they give.

`replies.toml` lies beside a paper's `notes.toml`:

```toml
[[reply]]
about = ["B-N1a", "B-L6.1-proof"]   # notes and claims
status = "acknowledged"             # or disputed, or answered
date = 2026-11-18
by = "the authors"
words = "The construction is misprinted; the next version has the corrected one."
source = "https://example.org/issues/12"
```

A note or claim without a reply has no such status: nobody has answered.
"""

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from enum import StrEnum
from importlib.resources.abc import Traversable
from typing import Any

from attnflow.schema.settings import JsonObject, did_you_mean


class Status(StrEnum):
    """What became of a note or a verdict that the authors were told of."""

    ACKNOWLEDGED = "acknowledged"
    DISPUTED = "disputed"
    ANSWERED = "answered"


MEANING = {
    Status.ACKNOWLEDGED: "the authors agree",
    Status.DISPUTED: "the authors disagree, and the question is open",
    Status.ANSWERED: "the authors' reply settled it, and the note or claim was changed",
}


@dataclass(frozen=True)
class Reply:
    """A reply of a paper's authors.

    **Arguments:**

    - `about`: ids of notes and claims; `status`: what the reply gives them.
    - `date`: `2026-11-18`; `by`: who replied.
    - `words`: the reply in short; `source`: where it can be read.
    """

    about: tuple[str, ...]
    status: Status
    date: str
    words: str
    source: str
    by: str = "the authors"

    def __str__(self) -> str:
        meaning = MEANING[self.status]
        where = f"{self.by}, {self.date}, {self.source}"
        return f"{self.status} ({meaning}): {self.words} ({where})"

    def as_json(self) -> JsonObject:
        """The reply in plain Python."""
        return {**asdict(self), "about": list(self.about), "status": str(self.status)}


_STATUSES = tuple(map(str, Status))
_FIELDS = tuple(field.name for field in fields(Reply))
_NEEDED = tuple(field.name for field in fields(Reply) if field.default is MISSING)


def read_replies(file: Traversable) -> tuple[Reply, ...]:
    """The replies in a `replies.toml`; errors name the file and the entry."""
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file} is not valid TOML: {error}.") from error
    strange = content.keys() - {"reply"}
    if strange:
        raise ValueError(
            f"{file} has {sorted(strange)}: each reply begins with [[reply]]."
        )
    entries = content.get("reply", [])
    return tuple(
        _reply(entry, f"{file}, reply {number}")
        for number, entry in enumerate(entries, 1)
    )


def _reply(entry: Mapping[str, Any], where: str) -> Reply:
    for key in entry:
        if key not in _FIELDS:
            raise ValueError(
                f"{where} has a key {key!r}.{did_you_mean(key, _FIELDS)} Allowed are "
                f"{', '.join(_FIELDS)}."
            )
    missing = [key for key in _NEEDED if not entry.get(key)]
    if missing:
        raise ValueError(f"{where} lacks {', '.join(missing)}.")
    about, status = entry["about"], entry["status"]
    if not isinstance(about, list) or not all(isinstance(id, str) for id in about):
        raise ValueError(
            f"{where} is about {about!r}. Write a list of ids of notes and claims."
        )
    if status not in _STATUSES:
        raise ValueError(
            f"{where} has status = {status!r}.{did_you_mean(status, _STATUSES)} "
            f"Write one of {', '.join(_STATUSES)}."
        )
    return Reply(
        **{
            **entry,
            "about": tuple(about),
            "status": Status(status),
            "date": _date(entry["date"], where),
        }
    )


def _date(value: object, where: str) -> str:
    try:
        return datetime.date.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise ValueError(
            f"{where} has date = {value!r}. Write a day, such as 2026-11-18."
        ) from None
