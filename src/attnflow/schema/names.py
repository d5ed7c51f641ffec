"""Names typed by humans: find them, or say what was meant."""

import difflib
from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")


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
