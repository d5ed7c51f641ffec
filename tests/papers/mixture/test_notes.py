import re

from attnflow.papers.mixture import PAPER


def test_notes_are_numbered_without_gaps():
    """Eight items and more, some of which have several notes: 1a, 1b, …"""
    items = [re.findall(r"B-N(\d+)", note.id) for note in PAPER.notes]
    assert {int(number) for (number,) in items} >= set(range(1, 9))


def test_nobody_is_named_as_an_author():
    assert "under double-blind review" in PAPER.version_read
    assert "{Anonymous}" in PAPER.bibtex
    for field in ("journal", "booktitle", "year"):
        assert field not in PAPER.bibtex
