"""Two claims tables side by side: what a change did, or a variant does."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from attnflow.claims.base import Verdict
from attnflow.claims.verify import Row

DEFINITE = (Verdict.HOLDS, Verdict.FAILS, Verdict.HOLDS_CORRECTED)
LEAST_MOVE = 0.01
"""Margins that move by less than a hundredth of a claim's scale are the same."""


class Kind(StrEnum):
    """How a claim differs between two tables, the gravest first."""

    OPPOSITE = "another verdict"
    UNDECIDED = "decided in one alone"
    GONE = "in the old one alone"
    NEW = "in the new one alone"
    SCOPE = "another scope"
    HELD = "in other seeds"
    MARGIN = "another margin"


@dataclass(frozen=True)
class Change:
    """A claim that differs, with its row in each table; `None` where it has none."""

    kind: Kind
    old: Row | None
    new: Row | None

    @property
    def row(self) -> Row:
        """The newer of its rows."""
        found = self.new or self.old
        assert found is not None
        return found

    def as_json(self) -> dict[str, Any]:
        """The claim, how it differs, and what differs."""
        return {
            "paper": self.row.paper,
            "id": self.row.id,
            "kind": str(self.kind),
            "old": _in_short(self.old),
            "new": _in_short(self.new),
        }


def read_table(path: str | Path) -> list[Row]:
    """The rows of a file that `attnflow verify --json` wrote."""
    try:
        content = json.loads(Path(path).read_text("utf-8"))
        rows = content["claims"]
    except FileNotFoundError:
        raise ValueError(
            f"There is no file {path}. `attnflow verify --json {path}` writes one."
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is no claims table ({error!r}). Give a file that `attnflow verify "
            "--json FILE` wrote."
        ) from error
    return [Row.from_json(row) for row in rows]


def compare(old: Iterable[Row], new: Iterable[Row]) -> list[Change]:
    """The claims that differ, the gravest differences first."""
    before = {(row.paper, row.id): row for row in old}
    after = {(row.paper, row.id): row for row in new}
    names = dict.fromkeys((*before, *after))
    pairs = [(before.get(name), after.get(name)) for name in names]
    found = [(kind_of(*pair), *pair) for pair in pairs]
    changes = [Change(kind, *pair) for kind, *pair in found if kind is not None]
    return sorted(changes, key=lambda change: list(Kind).index(change.kind))


def kind_of(old: Row | None, new: Row | None) -> Kind | None:
    """How a claim differs between two tables; `None` where it does not."""
    if old is None or new is None:
        return Kind.NEW if old is None else Kind.GONE
    if old.verdict is not new.verdict:
        both = old.verdict in DEFINITE and new.verdict in DEFINITE
        return Kind.OPPOSITE if both else Kind.UNDECIDED
    if old.scope is not new.scope:
        return Kind.SCOPE
    if (old.held, old.seeds) != (new.held, new.seeds):
        return Kind.HELD
    return Kind.MARGIN if abs(old.margin - new.margin) >= LEAST_MOVE else None


def _in_short(row: Row | None) -> dict[str, Any] | None:
    names = ("verdict", "scope", "held", "seeds", "margin", "note")
    found = None if row is None else row.as_json()
    return found and {name: found[name] for name in names}
