import re

from attnflow.papers.mixture import PAPER

CLAIMS = {claim.id for claim in PAPER.claim_list}
NOTES = PAPER.notes


def test_every_item_of_our_reading_is_noted():
    """The spec sheet lists eight items, of which some hold several."""
    items = [re.fullmatch(r"B-N(\d+)[a-z]?", note.id) for note in NOTES]
    assert all(items)
    assert {int(item[1]) for item in items if item} >= set(range(1, 9))
    assert len({note.id for note in NOTES}) == len(NOTES)


def test_every_note_says_how_it_is_shown():
    for note in NOTES:
        assert note.shown_by == "text" or note.shown_by in CLAIMS, note.id


def test_notes_are_fair():
    for note in NOTES:
        assert note.status == "suspected" and note.source == "extracted text"
        assert note.place and note.printed and note.ours
    assert "under double-blind review" in PAPER.version_read
    assert "extracted" in PAPER.version_read


def test_nobody_is_named_as_an_author():
    assert "{Anonymous}" in PAPER.bibtex
    for field in ("journal", "booktitle", "year"):
        assert field not in PAPER.bibtex
