"""What a paper holds, and what covers it here."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from attnflow.paper import Paper
from attnflow.report.markup import anchor

_COVERED = ("covered_by", "covers", "by", "claims", "exhibits", "exhibit", "claim")
_NAMES = ("id", "name", "place", "title", "item")
_REASONS = ("reason", "why", "note", "about", "statement")


@dataclass(frozen=True)
class Covered:
    """One figure, table, theorem or lemma: what covers it, or why nothing does.

    `links` are pairs of an id and its anchor on the page (empty where it has none).
    """

    kind: str
    name: str
    about: str
    links: tuple[tuple[str, str], ...]


def inventory_rows(paper: Paper) -> list[Covered]:
    """The inventory as rows, with links to the exhibits and claims of the page.

    An inventory maps a kind (`figure`, `theorem`, …) to a list of tables, to a table
    name → table, or to name → id(s) of what covers it.
    """
    anchors = {e.id: anchor("exhibit", e.id) for e in paper.shown}
    anchors |= {c.id: anchor("claim", c.id) for c in paper.claim_list}
    anchors |= {n.id: anchor("note", n.id) for n in paper.notes}
    return [
        Covered(kind, name, about, tuple((id, anchors.get(id, "")) for id in ids))
        for kind, name, about, ids in _entries(paper.inventory)
    ]


def _entries(
    inventory: Mapping[str, Any],
) -> Iterator[tuple[str, str, str, list[str]]]:
    for kind, group in inventory.items():
        if isinstance(group, list):
            for entry in group:
                own_kind = str(entry.get("kind", kind))
                yield own_kind, str(_first(entry, _NAMES, "")), *_content(entry)
        elif isinstance(group, Mapping):
            for name, entry in group.items():
                yield str(kind), str(name), *_content(entry)


def _content(entry: Any) -> tuple[str, list[str]]:
    if not isinstance(entry, Mapping):
        return "", _ids(entry)
    named = str(_first(entry, _REASONS, ""))
    return named, [id for field in _COVERED for id in _ids(entry.get(field))]


def _ids(value: Any) -> list[str]:
    if value is None or value == "":
        return []
    return [value] if isinstance(value, str) else [str(id) for id in value]


def _first(entry: Mapping[str, Any], fields: tuple[str, ...], otherwise: Any) -> Any:
    return next((entry[field] for field in fields if field in entry), otherwise)
