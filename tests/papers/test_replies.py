"""Authors' replies: read and checked, and shown wherever a verdict is."""

import pytest

from attnflow.papers.replies import Reply, Status, read_replies
from attnflow.schema.declarations import Note
from attnflow.site.pages import write_page
from attnflow.site.pages.claims import claim_views
from tests.toy import toy_paper

ENTRY = """
[[reply]]
about = ["T-N1", "T-Thm1"]
status = "acknowledged"
date = 2026-11-18
words = "The sign is a misprint."
source = "https://example.org/12"
"""
REPLY = Reply(
    ("T-N1", "T-Thm1"),
    Status.ACKNOWLEDGED,
    "2026-11-18",
    "The sign is a misprint.",
    "https://example.org/12",
)
NOTES = (
    Note("T-N1", "Section 1", "+", "−", "T-Thm1", "typo"),
    Note("T-N2", "Section 2", "+", "−", "text", "typo"),
)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "replies.toml"


@pytest.mark.parametrize("date", ["2026-11-18", '"2026-11-18"'])
def test_a_reply_is_read(file, date):
    file.write_text(ENTRY.replace("2026-11-18", date), "utf-8")
    assert read_replies(file) == (REPLY,)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("words", "word", "replies.toml, reply 1 has a key 'word'.*words"),
        ('source = "https://example.org/12"', "", "reply 1 lacks source"),
        ("acknowledged", "acknowleged", "Did you mean 'acknowledged'"),
        ("acknowledged", "suspected", "Write one of acknowledged, disputed, answered"),
        ("2026-11-18", '"yesterday"', "date = 'yesterday'. Write a day"),
        ('["T-N1", "T-Thm1"]', '"T-N1"', "is about 'T-N1'. Write a list"),
        ("[[reply]]", "[[replies]]", r"\['replies'\]: each reply begins"),
        ("about", "about about", "replies.toml is not valid TOML"),
    ],
)
def test_errors_name_the_file_and_the_entry(file, old, new, message):
    file.write_text(ENTRY.replace(old, new), "utf-8")
    with pytest.raises(ValueError, match=message):
        read_replies(file)


def test_a_reply_gives_a_status_to_what_it_is_about():
    paper = toy_paper(notes=NOTES, replies=(REPLY,))
    assert [paper.status_of(note) for note in NOTES] == ["acknowledged", "suspected"]
    assert paper.replies_to("T-Thm1") == (REPLY,)
    assert paper.replies_to("T-Thm2") == ()
    views = {view.id: view for view in claim_views(paper, ())}
    assert "the authors agree" in views["T-Thm1"].details["Authors' reply"]
    assert "Authors' reply" not in views["T-Thm2"].details


def test_a_page_shows_it_at_the_note_and_at_the_claim(tmp_path):
    paper = toy_paper(notes=NOTES, replies=(REPLY,))
    page = write_page(paper, (), (), tmp_path).read_text("utf-8")
    assert page.count("The sign is a misprint.") == 2
    assert "typo, acknowledged" in page and "typo, suspected" in page
