"""`attnflow explore` and `af.explore`: pages, where they go, and what is refused."""

import pytest

import attnflow as af
from attnflow.site import explore as explorers
from tests.cli.conftest import Program

SMALL = ("steps=60", "records=7")


@pytest.fixture(autouse=True)
def fewer(monkeypatch):
    """Two variants are as good as thirty where pages are all that matters."""
    from attnflow.browser.explorer import document as documents

    plain = documents.document

    def few(paper, ids=None, overrides=None):
        return plain(paper, ids, overrides, most=2)

    monkeypatch.setattr(documents, "document", few)


def test_one_file_that_needs_nothing(tmp_path):
    page = tmp_path / "mixture.html"
    content = Program().json("explore", "mixture/figure1", *SMALL, "--out", page)
    assert content["pages"] == [str(page)]
    text = page.read_text("utf-8")
    assert len(text) < 1_000_000
    assert "Content-Security-Policy" in text and "default-src" in text
    assert "http-equiv" in text and "<script src" not in text


def test_settings_are_what_the_page_begins_with():
    explorer = af.explore("mixture/figure1", omega=0.05, steps=60, records=7)
    (experiment,) = explorer.document["experiments"]
    (knob,) = [k for k in experiment["knobs"] if k["name"] == "omega"]
    assert knob["default"] == 0.05
    assert explorer._repr_html_().startswith("<iframe srcdoc=")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("mixture/figur1",), "figure1"),
        (("mixtur",), "mixture"),
        (("mixture/figure1", "omega=big"), "omega must be"),
        (("mixture/figure1", "omga=1"), "omega"),
        (("mixture", "omega=1"), "one experiment"),
        (("mixture/construction",), "trains nothing"),
        (("--out", "a.html"), "several papers"),
        (("mixture/figure1", "--out", "no/such/a.html"), "no directory"),
    ],
)
def test_what_is_wrong_is_said(args, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in Program().refused("explore", *args)
    assert not list(tmp_path.glob("**/*.html"))


def test_a_page_is_left_where_nothing_has_changed(tmp_path, monkeypatch):
    class Place:
        directory = tmp_path

    monkeypatch.setattr(explorers, "explorer_document", lambda *_: {})
    monkeypatch.setattr(explorers.Explorer, "html", "<p>page</p>")
    written = []
    for _ in range(2):
        explorers.write_explorers([(af.paper("mixture"), Place())], written.append)
    assert written == ["mixture"]
