"""Differences between two claims tables: which claims have another verdict, and how."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from attnflow.claims.base import Verdict
from attnflow.claims.table import Row
from attnflow.schema.settings import JsonObject, plain

DEFINITE = (Verdict.HOLDS, Verdict.FAILS)
LEAST_MOVE = 0.01
"""Margins that move by less than a hundredth of a claim's scale are the same."""


def read_table(path: str | Path) -> list[Row]:
    """The rows of a file that `attnflow verify --json` wrote."""
    try:
        rows = [*json.loads(Path(path).read_text("utf-8"))["claims"]]
    except FileNotFoundError:
        raise ValueError(
            f"There is no file {path}. `attnflow verify --json {path}` writes one."
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is not a claims table. Give a file that `attnflow verify --json "
            "FILE` wrote."
        ) from error
    return [Row.from_json(row) for row in rows]


class Difference(StrEnum):
    """How a claim differs between two tables, the gravest first."""

    OPPOSITE = "another verdict"
    UNDECIDED = "decided in one alone"
    CORRECTED = "another verdict on the correction"
    GONE = "in the old one alone"
    NEW = "in the new one alone"
    SCOPE = "another scope"
    HELD = "in other seeds"
    MARGIN = "another margin"


@dataclass(frozen=True)
class Change:
    """A claim that differs, with its row in each table; `None` where it has none."""

    kind: Difference
    old: Row | None
    new: Row | None

    @property
    def row(self) -> Row:
        """The newer of its rows."""
        row = self.new or self.old
        assert row is not None
        return row

    def as_json(self) -> JsonObject:
        """The claim, how it differs, and the fields of either row that may differ."""
        names = ("verdict", "scope", "held", "seeds", "margin", "note")
        rows = {"old": self.old, "new": self.new}
        short = {
            age: row and {name: plain(getattr(row, name)) for name in names}
            for age, row in rows.items()
        }
        claim = {"paper": self.row.paper, "id": self.row.id}
        return {**claim, "kind": str(self.kind), **short}


def compare(old: Iterable[Row], new: Iterable[Row]) -> list[Change]:
    """The claims that differ between two tables, the gravest differences first."""
    before = {(row.paper, row.id): row for row in old}
    after = {(row.paper, row.id): row for row in new}
    changes = []
    for name in dict.fromkeys((*before, *after)):
        pair = before.get(name), after.get(name)
        kind = kind_of(*pair)
        if kind is not None:
            changes.append(Change(kind, *pair))
    return sorted(changes, key=lambda change: list(Difference).index(change.kind))


def kind_of(old: Row | None, new: Row | None) -> Difference | None:
    """How a claim differs between two tables; `None` where it does not."""
    if old is None or new is None:
        return Difference.NEW if old is None else Difference.GONE
    if old.verdict is not new.verdict:
        both = old.verdict in DEFINITE and new.verdict in DEFINITE
        return Difference.OPPOSITE if both else Difference.UNDECIDED
    corrections = [row.corrected and row.corrected.verdict for row in (old, new)]
    if corrections[0] is not corrections[1]:
        return Difference.CORRECTED
    if old.scope is not new.scope:
        return Difference.SCOPE
    if (old.held, old.seeds) != (new.held, new.seeds):
        return Difference.HELD
    moved = abs(old.margin - new.margin) >= LEAST_MOVE
    return Difference.MARGIN if moved else None
