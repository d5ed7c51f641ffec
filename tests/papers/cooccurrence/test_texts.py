"""Inventory and reader's notes: complete, and pointing at what exists."""

import re

import pytest

from attnflow.papers.cooccurrence import PAPER
from attnflow.report.inventory import inventory_rows

ENTRIES = [
    (kind, entry) for kind, entries in PAPER.inventory.items() for entry in entries
]
CLAIMS = {claim.id for claim in PAPER.claim_list}
EXHIBITS = {exhibit.id for exhibit in PAPER.exhibits}
NUMBERED = {"C": (1, 4), "D": (1, 8), "E": (1, 28), "F": (1, 20), "H": (1, 2)}
"""Statements of the appendices are numbered through, whatever they are called."""


def ids(entry, plural, singular):
    return [*entry.get(plural, []), *([entry[singular]] if singular in entry else [])]


def test_no_number_of_an_appendix_is_left_out():
    names = [entry["id"] for _, entry in ENTRIES]
    assert len(set(names)) == len(names)
    found = {match[0] for n in names if (match := re.search(r"[A-H]\.\d+$", n))}
    wanted = {
        f"{letter}.{n}"
        for letter, (first, last) in NUMBERED.items()
        for n in range(first, last + 1)
    }
    assert wanted <= found
    assert {"Theorem 3.1", "Theorem 3.2", "Theorem 3.3"} <= set(names)


@pytest.mark.parametrize("kind, entry", ENTRIES, ids=lambda x: x if x is str else None)
def test_an_entry_is_covered_or_says_why_not(kind, entry):
    claims = ids(entry, "claims", "claim")
    exhibits = ids(entry, "exhibits", "exhibit")
    assert claims or exhibits or entry.get("reason") or entry.get("about")
    assert set(exhibits) <= EXHIBITS
    assert set(claims) <= CLAIMS


def test_everything_covers_something():
    covered = {i for _, entry in ENTRIES for i in ids(entry, "exhibits", "exhibit")}
    assert covered == EXHIBITS
    claimed = {i for _, entry in ENTRIES for i in ids(entry, "claims", "claim")}
    stated = {claim.id for claim in PAPER.claim_list if claim.origin == "paper"}
    assert stated <= claimed | {note.shown_by for note in PAPER.notes}


def test_the_page_can_show_it():
    assert len(inventory_rows(PAPER)) == len(ENTRIES)


def test_notes_are_fair_and_shown():
    assert len({note.id for note in PAPER.notes}) == len(PAPER.notes)
    for note in PAPER.notes:
        assert re.fullmatch(r"A-N\d+[a-z]?", note.id)
        assert note.shown_by == "text" or note.shown_by in CLAIMS, note.id
        assert note.status == "suspected" and note.source == "extracted text"
        assert note.place and note.printed and note.ours
    assert "extracted" in PAPER.version_read
