import pytest

from attnflow.papers.mixture import PAPER
from attnflow.report.inventory import inventory_rows

LABELS = (
    *(f"Figure {n}" for n in ("1a", "1b", "1c", "2", "3", "4", "5", "6", "7")),
    *("Definition 2.1", "Algorithm 1", "Condition 1", "Theorem 4.1", "Definition 5.1"),
    *(f"Lemma 5.{n}" for n in (2, 3, 4, 5)),
    *("Observation 1", "Lemma 6.1"),
    *("Lemma C.1", "Lemma C.2", "Corollary C.3", "Lemma C.4", "Corollary C.5"),
    *("Lemma D.1", "Lemma D.2", "Corollary D.3", "Lemma D.4", "Lemma D.5"),
    *("Corollary D.6", "Corollary D.7", "Theorem D.8"),
    *(f"Lemma E.{n}" for n in (1, 2, 3, 4, 5, 6)),
    *("Theorem E.7", "Lemma F.1", "Lemma F.2", "Theorem F.3"),
    *("Lemma G.1", "Lemma H.1", "Lemma H.2"),
)
"""Every numbered figure and statement of the paper, in its order."""

ENTRIES = [
    (kind, entry) for kind, entries in PAPER.inventory.items() for entry in entries
]
CLAIMS = {claim.id for claim in PAPER.claim_list}
EXHIBITS = {exhibit.id for exhibit in PAPER.exhibits}


def ids(entry, plural, singular):
    return [*entry.get(plural, []), *([entry[singular]] if singular in entry else [])]


def test_every_label_of_the_paper_is_there_once():
    names = [entry["id"] for _, entry in ENTRIES]
    assert len(set(names)) == len(names)
    assert set(LABELS) <= set(names)


@pytest.mark.parametrize("kind, entry", ENTRIES, ids=lambda x: x if x is str else None)
def test_an_entry_is_covered_or_says_why_not(kind, entry):
    claims = ids(entry, "claims", "claim")
    exhibits = ids(entry, "exhibits", "exhibit")
    assert claims or exhibits or entry.get("reason") or entry.get("about")
    assert set(exhibits) <= EXHIBITS
    assert set(claims) <= CLAIMS
    if entry["id"] in LABELS:
        assert entry["id"].lower().startswith(kind)


def test_every_exhibit_covers_something():
    covered = {i for _, entry in ENTRIES for i in ids(entry, "exhibits", "exhibit")}
    assert covered == EXHIBITS


def test_claims_of_the_paper_cover_something():
    """Claims of ours may go beyond what the paper says."""
    covered = {i for _, entry in ENTRIES for i in ids(entry, "claims", "claim")}
    stated = {claim.id for claim in PAPER.claim_list if claim.origin == "paper"}
    shown = {note.shown_by for note in PAPER.notes}
    assert stated <= covered | shown


def test_the_page_can_show_it():
    rows = inventory_rows(PAPER)
    assert len(rows) == len(ENTRIES)
    lemma = next(row for row in rows if row.name == "Lemma 6.1")
    assert lemma.kind == "lemma" and lemma.links[0][0] == "B-L6.1"
