"""Inventory and reader's notes: complete, and pointing at what exists."""

from attnflow.papers.cooccurrence import PAPER
from attnflow.testing import TextProtocol
from attnflow.testing.protocols import named

NUMBERED = {"C": (1, 4), "D": (1, 8), "E": (1, 28), "F": (1, 20), "H": (1, 2)}
"""Statements of the appendices are numbered through, whatever they are called."""


class TestTexts(TextProtocol):
    labels = ("Theorem 3.1", "Theorem 3.2", "Theorem 3.3")


def test_no_number_of_an_appendix_is_left_out():
    numbers = {statement.id.rpartition(" ")[2] for statement in PAPER.statements}
    for letter, (first, last) in NUMBERED.items():
        assert {f"{letter}.{n}" for n in range(first, last + 1)} <= numbers


def test_every_exhibit_covers_something():
    assert named(PAPER, "exhibits") == {exhibit.id for exhibit in PAPER.exhibits}
