"""What a paper holds, and what covers it here."""

from dataclasses import dataclass

from attnflow.papers.base import Paper
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
            said = " ".join(entry[word] for word in SAYING if word in entry)
            links = tuple((id, anchors.get(id, "")) for id in ids)
            rows.append(Covered(kind, entry["id"], said, links))
    return rows
