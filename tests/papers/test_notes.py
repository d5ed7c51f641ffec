"""Notes in TOML: read when asked for, and errors that name file and entry."""

import pytest

from attnflow.papers.base import paper
from attnflow.papers.inventory import read_notes
from attnflow.schema.declarations import Note

ENTRY = """
[[note]]
id = "X-N1"
place = "Lemma 1"
printed = "+"
ours = "−"
shown_by = "text"
effect = "typo"
"""


@pytest.fixture
def file(tmp_path):
    return tmp_path / "notes.toml"


def test_a_note_is_read(file):
    file.write_text(ENTRY, "utf-8")
    (note,) = read_notes(file)
    assert note == Note("X-N1", "Lemma 1", "+", "−", "text", "typo")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ENTRY.replace("place", "palce"), r"notes.toml, note X-N1 .* 'palce'.*place"),
        (ENTRY.replace('ours = "−"\n', ""), "notes.toml, note X-N1 lacks ours"),
        (ENTRY.replace("typo", "slip"), "note X-N1 has effect = 'slip'.*statement"),
        (ENTRY.replace('id = "X-N1"', ""), "note 1 lacks id"),
        (ENTRY.replace("[[note]]", "[[notes]]"), r"\['notes'\]: each note begins"),
        (ENTRY + "id =", "notes.toml is not valid TOML"),
        (ENTRY + 'status = "disputed"', "the authors' word. .* replies.toml"),
    ],
)
def test_errors_name_the_file_and_the_entry(file, text, message):
    file.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=message):
        read_notes(file)


def test_papers_have_notes_in_toml():
    assert paper("vit").notes[0].id == "D-N1a"
