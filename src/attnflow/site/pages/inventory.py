"""The statements of a paper and what covers them, and what it leaves unspecified."""

import typing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from typing import Literal

from attnflow.papers.base import Paper
from attnflow.schema.declarations import Exhibit, Request
from attnflow.site.pages.markup import anchor

COVERING = ("exhibits", "claims", "covered_by")
SAYING = ("about", "reason")


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
    """The inventory as rows, with links to the exhibits, claims and notes of the page.

    An inventory maps a kind (`figure`, `theorem`, …) to a list of tables, each with an
    `id`, the ids in `COVERING` and the words in `SAYING`.
    """
    anchors = {e.id: anchor("exhibit", e.id) for e in paper.shown}
    anchors |= {c.id: anchor("claim", c.id) for c in paper.claims}
    anchors |= {n.id: anchor("note", n.id) for n in paper.notes}
    rows = []
    for kind, entries in paper.inventory.items():
        for entry in entries:
            ids = [id for what in COVERING for id in entry.get(what, ())]
            about = " ".join(entry[word] for word in SAYING if word in entry)
            links = tuple((id, anchors.get(id, "")) for id in ids)
            rows.append(Covered(kind, entry["id"], about, links))
    return rows


@dataclass
class Choice:
    """A value of a setting, and the exhibits and claims that use it."""

    setting: str
    value: str
    exhibits: dict[str, Exhibit] = field(default_factory=dict)
    claims: set[str] = field(default_factory=set)


def silent_readings(paper: Paper) -> dict[str, list[Exhibit]]:
    """What the paper leaves unspecified: each reading, and the exhibits that use it."""
    readings: dict[str, list[Exhibit]] = {}
    for exhibit in paper.shown:
        for text in exhibit.silent:
            readings.setdefault(text, []).append(exhibit)
    return readings


def tried_choices(paper: Paper) -> list[list[Choice]]:
    """Settings that name alternatives, of which two or more were run.

    They are read off the runs that exhibits and claims request, so that nothing is
    listed that was not tried.
    """
    choices: dict[str, dict[str, Choice]] = {}
    for owner in (*paper.exhibits, *paper.claims):
        for name, value in _alternatives(paper, owner.needs.values()):
            values = choices.setdefault(name, {})
            choice = values.setdefault(value, Choice(name, value))
            if isinstance(owner, Exhibit):
                choice.exhibits[owner.id] = owner
            else:
                choice.claims.add(owner.id)
    return [list(values.values()) for values in choices.values() if len(values) > 1]


def _alternatives(
    paper: Paper, requests: Iterable[Request]
) -> Iterator[tuple[str, str]]:
    """The fields of settings whose values are named alternatives, and these values."""
    for request in requests:
        setting = paper.recipe(request.experiment).with_overrides(request.overrides)
        hints = typing.get_type_hints(type(setting))
        for name in (f.name for f in fields(setting)):
            if typing.get_origin(hints[name]) is Literal:
                yield name, str(getattr(setting, name))
