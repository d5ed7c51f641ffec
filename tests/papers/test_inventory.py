"""Inventories as records: parts, what judges them, and what proofs rest on."""

import tomllib

import pytest

from attnflow.papers import papers
from attnflow.papers.inventory import (
    Part,
    read_statements,
    statements_with,
    users_of,
    uses_of,
)

TEXT = """
[[lemma]]
id = "Lemma 1"
about = "A bound."
[[lemma.parts]]
part = "the upper bound"
claims = ["T-1", "T-2"]
how = "special case"
which = "n = 2"
[[lemma.parts]]
part = "the lower bound"
why = "not judged: it is not used."

[[theorem]]
id = "Theorem 1"
uses = ["Lemma 1"]
claims = ["T-3"]
reason = "The main one."
"""


def test_entries_become_statements_with_parts():
    lemma, theorem = read_statements(tomllib.loads(TEXT))
    assert (lemma.kind, lemma.id, lemma.about) == ("lemma", "Lemma 1", "A bound.")
    assert lemma.claims == ("T-1", "T-2")
    assert lemma.parts[1] == Part("the lower bound", why="not judged: it is not used.")
    assert theorem.parts == (Part("", ("T-3",)),)
    assert theorem.about == "The main one."


def test_a_claim_knows_what_its_statement_rests_on_and_what_rests_on_it():
    statements = read_statements(tomllib.loads(TEXT))
    assert [s.id for s in statements_with(statements, "T-2")] == ["Lemma 1"]
    assert uses_of(statements, "T-3") == ("Lemma 1",)
    assert uses_of(statements, "T-1") == ()
    assert users_of(statements, "T-1") == ("Theorem 1",)
    assert users_of(statements, "T-3") == ()


@pytest.mark.parametrize(
    "entry, words",
    [
        ({"id": "Lemma 1", "use": []}, "'use'"),
        ({"id": "Lemma 1", "parts": [{"part": "a", "how": "hole"}]}, "'hole'"),
        ({"id": "Lemma 1", "parts": [{"part": "a", "wich": "n"}]}, "'wich'"),
    ],
)
def test_a_misspelt_key_is_refused(entry, words):
    with pytest.raises(ValueError, match=words):
        read_statements({"lemma": [entry]})


def test_the_inventories_of_all_papers_are_read():
    for paper in papers().values():
        entries = [e for rows in paper.inventory.values() for e in rows]
        assert [s.id for s in paper.statements] == [e["id"] for e in entries]
