"""Inventory and reader's notes: complete, and pointing at what exists."""

import re
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

import pytest

from attnflow.papers.base import Paper
from attnflow.site.pages.inventory import COVERING, SAYING, inventory_rows


def entries(paper: Paper) -> list[tuple[str, Mapping[str, Any]]]:
    """The kind and the table of every entry of a paper's inventory."""
    return [(kind, entry) for kind, rows in paper.inventory.items() for entry in rows]


def named(paper: Paper, what: str) -> set[str]:
    """The ids that the inventory of a paper gives, of `claims` or `exhibits`."""
    return {id for _, entry in entries(paper) for id in entry.get(what, ())}


class TextProtocol:
    """The texts of the module's `PAPER`; subclass with a name that begins with `Test`.

    `labels` are the paper's numbered figures, tables and statements, none of which the
    inventory may leave out.
    """

    labels: ClassVar[Collection[str]] = ()

    @classmethod
    def parameters(cls, paper: Paper) -> list[Any]:
        """The entries of the inventory, as parameters of a test."""
        return [pytest.param(entry, id=entry["id"]) for _, entry in entries(paper)]

    def test_nothing_numbered_is_left_out(self, request: pytest.FixtureRequest) -> None:
        """And nothing is there twice, or under another kind."""
        found = entries(request.module.PAPER)
        names = [entry["id"] for _, entry in found]
        assert len(set(names)) == len(names)
        assert set(self.labels) <= set(names), set(self.labels) - set(names)
        for kind, entry in found:
            if entry["id"] in self.labels:
                assert entry["id"].lower().startswith(kind)

    def test_an_entry_is_covered_or_says_why_not(
        self, entry: Mapping[str, Any]
    ) -> None:
        """By a claim, a figure or table, a note, or words."""
        covered = any(entry.get(what) for what in COVERING)
        assert covered or any(entry.get(word) for word in SAYING)

    def test_entries_point_at_what_exists(self, request: pytest.FixtureRequest) -> None:
        """Claims, exhibits and notes."""
        paper = request.module.PAPER
        assert named(paper, "claims") <= {claim.id for claim in paper.claims}
        assert named(paper, "exhibits") <= {exhibit.id for exhibit in paper.exhibits}
        assert named(paper, "covered_by") <= {note.id for note in paper.notes}

    def test_claims_of_the_paper_cover_something(
        self, request: pytest.FixtureRequest
    ) -> None:
        """Claims of ours may go beyond what the paper says."""
        paper = request.module.PAPER
        stated = {claim.id for claim in paper.claims if claim.origin == "paper"}
        shown = {note.shown_by for note in paper.notes}
        assert stated <= named(paper, "claims") | shown

    def test_the_page_can_show_the_inventory(
        self, request: pytest.FixtureRequest
    ) -> None:
        """A row for each entry."""
        paper = request.module.PAPER
        assert len(inventory_rows(paper)) == len(entries(paper))

    def test_notes_say_what_is_printed_and_what_shows_it(
        self, request: pytest.FixtureRequest
    ) -> None:
        """Each under an id of its own, shown by reading or by a claim that exists."""
        paper = request.module.PAPER
        claims = {claim.id for claim in paper.claims}
        assert len({note.id for note in paper.notes}) == len(paper.notes)
        for note in paper.notes:
            assert re.fullmatch(rf"{paper.letter}-N\d+[a-z]?", note.id), note.id
            assert note.shown_by == "text" or note.shown_by in claims, note.id
            assert note.place and note.printed and note.ours, note.id

    def test_the_paper_is_told(self, request: pytest.FixtureRequest) -> None:
        """Title, version, what it is about, and how to cite it."""
        paper = request.module.PAPER
        assert paper.title and paper.version_read and paper.summary.endswith(".")
        assert re.match(r"\s*@\w+\{\S+,", paper.bibtex)
