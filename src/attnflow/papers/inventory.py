"""A reader's texts on a paper: the inventory of its statements, and notes.

`inventory.toml` has a table for each statement, under its kind:

```toml
[[lemma]]
id = "Lemma 5.2"
uses = ["Lemma 5.1"]            # the statements that its proof rests on
[[lemma.parts]]
part = "the winner's value at T1"
claims = ["D-Lem5.2"]
how = "special case"            # or whole, or consequence
which = "N = 8"
```

`notes.toml` has the reader's notes:

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
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from importlib.resources.abc import Traversable
from typing import Any, get_args, get_type_hints

from attnflow.schema.declarations import Note
from attnflow.schema.settings import did_you_mean

HOW = ("whole", "special case", "consequence")
"""How a claim may judge a part of a statement."""
_PART = ("part", "claims", "how", "which", "why")
_ENTRY = (
    *("id", "uses", "parts", "about", "reason"),
    *("covered_by", "exhibits", "claims"),
)


@dataclass(frozen=True)
class Part:
    """A part of a statement, such as an item, a bullet or a displayed conclusion.

    **Arguments:**

    - `part`: in our words; empty for a statement that has no parts.
    - `claims`: ids of the claims that judge this part.
    - `how`: one of `HOW`, empty where nothing judges it; `which` special case, or
      which consequence.
    - `why`: the reason why nothing judges it.
    """

    part: str
    claims: tuple[str, ...] = ()
    how: str = ""
    which: str = ""
    why: str = ""


@dataclass(frozen=True)
class Statement:
    """A numbered statement of a paper: a theorem, lemma, definition, figure or table.

    **Arguments:**

    - `kind`: as the inventory groups them, such as `lemma`.
    - `uses`: ids of the statements that its proof rests on.
    - `about`: what it is and, where nothing judges it, the reason.
    - `covered_by`: ids of notes; `exhibits`: ids of figures and tables of ours.
    """

    kind: str
    id: str
    uses: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    about: str = ""
    covered_by: tuple[str, ...] = ()
    exhibits: tuple[str, ...] = ()

    @property
    def claims(self) -> tuple[str, ...]:
        """Ids of the claims that judge one of its parts."""
        return tuple(dict.fromkeys(id for part in self.parts for id in part.claims))


def read_statements(inventory: Mapping[str, Any]) -> tuple[Statement, ...]:
    """The statements of an inventory as it is read from `inventory.toml`."""
    return tuple(
        _statement(kind, entry)
        for kind, entries in inventory.items()
        for entry in entries
    )


def statements_with(
    statements: Iterable[Statement], claim: str
) -> tuple[Statement, ...]:
    """The statements a part of which the claim with this id judges."""
    return tuple(s for s in statements if claim in s.claims)


def uses_of(statements: Iterable[Statement], claim: str) -> tuple[str, ...]:
    """Ids of the statements on which the proofs of a claim's own statements rest."""
    judged = statements_with(statements, claim)
    return tuple(dict.fromkeys(id for statement in judged for id in statement.uses))


def users_of(statements: Iterable[Statement], claim: str) -> tuple[str, ...]:
    """Ids of the statements whose proofs rest on a claim's own statements."""
    statements = tuple(statements)
    judged = {statement.id for statement in statements_with(statements, claim)}
    return tuple(s.id for s in statements if judged & set(s.uses))


def _statement(kind: str, entry: Mapping[str, Any]) -> Statement:
    id = entry["id"]
    _check_keys(id, entry, _ENTRY)
    parts = tuple(_part(id, part) for part in entry.get("parts", ()))
    if not parts and entry.get("claims"):
        parts = (Part("", tuple(entry["claims"])),)
    return Statement(
        kind,
        id,
        tuple(entry.get("uses", ())),
        parts,
        " ".join(entry[word] for word in ("about", "reason") if word in entry),
        tuple(entry.get("covered_by", ())),
        tuple(entry.get("exhibits", ())),
    )


def _part(id: str, entry: Mapping[str, Any]) -> Part:
    _check_keys(id, entry, _PART)
    how = entry.get("how", "")
    if how and how not in HOW:
        raise ValueError(
            f"A part of {id} is judged {how!r}. Write one of {', '.join(HOW)}."
        )
    return Part(**{**entry, "claims": tuple(entry.get("claims", ()))})


def _check_keys(id: str, entry: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in entry:
        if key not in known:
            raise ValueError(
                f"The inventory's entry {id} has a key {key!r}."
                f"{did_you_mean(key, known)} Allowed are {', '.join(known)}."
            )


_FIELDS = tuple(field.name for field in fields(Note))
_NEEDED = tuple(field.name for field in fields(Note) if field.default is MISSING)


def read_notes(file: Traversable) -> tuple[Note, ...]:
    """The notes in a `notes.toml`; errors name the file and the entry."""
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file} is not valid TOML: {error}.") from error
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
    if entry.get("status") in ("acknowledged", "disputed"):
        raise ValueError(
            f"{where} has status = {entry['status']!r}, which is the authors' word. "
            "Write their reply into replies.toml, with its date and source."
        )
    return Note(**entry)
