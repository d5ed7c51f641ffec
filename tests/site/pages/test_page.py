"""The page: whole, safe, without the network, and with every link going somewhere."""

import json
import re

import pytest

from attnflow.claims import Scope, Verdict
from attnflow.site.pages import keep_reason, make_exhibit, write_page
from attnflow.site.pages.claims import Tally, claim_views, columns
from attnflow.site.pages.graph import GRAPH
from tests.figures.runs import make_run
from tests.site.pages.html import Page
from tests.site.pages.papers import corrected, paper, row


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def page(directory):
    """A page with a figure and a table, and one figure that was not made."""
    whole = paper()
    results = [
        make_exhibit(whole, exhibit, {"run": make_run()}, directory)
        for exhibit in whole.exhibits[:2]
    ]
    rows = [
        row(chance=0.25),
        row("A-L2", Verdict.FAILS, Verdict.HOLDS, origin="ours", more=40),
        row("A-L3", Verdict.UNCHECKED, seeds=0, held=0, interval=None),
        row(
            "A-L4",
            Verdict.FAILS,
            Verdict.FAILS,
            corrected=corrected(),
            scope=Scope.BEYOND,
            slack=0.3,
            missed=("n (n ≥ L²) is missed by a factor of 3.3",),
        ),
    ]
    place = write_page(whole, results, rows, directory, runs=[make_run(id="f" * 16)])
    return Page(place.read_text(encoding="utf-8"))


def test_the_page_is_well_formed(page):
    assert page.faults == []
    ids = page.all("id")
    assert len(ids) == len(set(ids))


def test_nothing_is_loaded_from_elsewhere(page):
    for tag, attrs in page.elements:
        assert tag not in {"iframe", "object", "base"}
        for name in ("src", "href", "srcset", "action"):
            assert not re.match(r"\s*(https?:)?//", attrs.get(name) or "")


def test_every_link_goes_somewhere(page, directory):
    links = [attrs["href"] for tag, attrs in page.elements if tag == "a"]
    inner = {link[1:] for link in links if link.startswith("#")}
    assert inner <= set(page.all("id"))
    files = {link for link in links if not link.startswith("#")}
    assert {"figure1.svg", "table1.csv"} <= files
    loaded = [*page.all("src"), *page.all("srcset")]
    loaded += [a["href"] for tag, a in page.elements if tag == "link"]
    files |= {name for name in loaded if not name.startswith("data:")}
    assert "assets/katex/katex.min.js" in files
    assert [name for name in files if not (directory / name).is_file()] == []


def test_what_a_paper_says_is_escaped(page):
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert "<script>alert(1)</script> & wc ≥ e−4a" in page.text


def test_pictures_have_words_a_size_and_a_dark_twin(page):
    pictures = [attrs for tag, attrs in page.elements if tag == "img"]
    assert [p["src"] for p in pictures] == ["figure1.svg", "table1.svg"]
    assert all(p["alt"] and int(p["width"]) > int(p["height"]) > 0 for p in pictures)
    assert page.all("srcset") == ["figure1.dark.svg", "table1.dark.svg"]


def test_the_page_has_what_a_reader_asks_for(page):
    for words in (
        "draft of 2026",
        "attnflow reproduce fake/figure1",
        "The width is not stated: 128.",
        "The loss falls. Section 6",
        "It is a loss.",
        "Not drawn here",
        "fails as printed holds with another constant",
        "does not extend here",
        "recorded: holds",
        "slack 0.3",
        "is missed by a factor of 3.3",
        "holds under its conditions",
        "3 of 4",
        "0123456789abcdef",
        "f" * 16,
        "jax 0.10",
        "test machine",
        "@misc{fake2026,",
        "2 hold, 3 fail, 1 unchecked, 2 of 2 corrections hold",
        "6 in all, 4 judged here and 2 as recorded",
        "2 of these claims were not judged for this page",
        "1 judged whole, 1 in a special case, 1 by a consequence, 1 not at all",
        "not judged: it takes for ever",
        "width 128",
        "holds; rests on Lemma 2 (the proof: fails as printed; holds with another "
        "constant)",
        "witnesses/loss.py: not run here",
        "over 3 seeds",
        "What this assumes",
        "chance alone would have given 0.25 of these on average",
        "attnflow verify fake/A-L2 --explain",
        "At this rate, 40 seeds would decide.",
    ):
        assert words in page.text, words


def test_surprises_stand_first(page):
    ids = [id for id in page.all("id") if id.startswith("claim-")]
    expected = ("A-L2", "A-L4", "A-L2.2", "A-Thm1", "A-L2.1", "A-L3")
    assert ids == [f"claim-{id}" for id in expected]


def test_a_page_with_nothing_made(tmp_path):
    place = write_page(paper(notes=(), inventory={}), [], [], tmp_path / "new")
    page = Page(place.read_text(encoding="utf-8"))
    assert page.faults == []
    inner = {link[1:] for link in page.all("href") if link.startswith("#")}
    assert inner <= set(page.all("id"))
    assert "3 as recorded, none judged here: 2 hold, 1 fails" in page.text
    assert not (tmp_path / "new" / GRAPH).exists()
    assert "attnflow verify fake" in page.text


def test_a_page_shows_what_an_earlier_call_made(tmp_path, evidence):
    whole = paper()
    make_exhibit(whole, whole.exhibits[0], evidence, tmp_path)
    later = make_exhibit(whole, whole.exhibits[2], evidence, tmp_path)
    page = Page(write_page(whole, [later], [], tmp_path).read_text(encoding="utf-8"))
    assert [tag for tag, _ in page.elements].count("img") == 2


@pytest.mark.parametrize(("steps", "is_smaller"), [(20, True), (2000, False)])
def test_smaller_runs_are_marked(tmp_path, steps, is_smaller):
    whole, setting = paper(), json.dumps({"width": 128, "steps": steps})
    evidence = {"run": make_run().assign_attrs(setting=setting)}
    result = make_exhibit(whole, whole.exhibits[0], evidence, tmp_path, quick=True)
    page = Page(write_page(whole, [result], [], tmp_path).read_text(encoding="utf-8"))
    assert "attnflow reproduce fake/figure1 --quick" in page.text
    assert ("smaller runs than the paper’s" in page.text) == is_smaller


def test_verdicts_are_counted_by_scope():
    tally = Tally(claim_views(paper(), [row("A-L2", Verdict.FAILS)]))
    assert tally.by_scope == {"theorem": {Verdict.FAILS: 2, Verdict.HOLDS: 2}}
    assert columns([tally]) == [Verdict.HOLDS, Verdict.FAILS]


def test_statements_of_ours_are_counted_apart():
    rows = [row("A-Thm1", origin="ours"), row("A-L2", Verdict.FAILS)]
    tally = Tally(claim_views(paper(), rows))
    assert list(tally.by_scope) == ["theorem", "theorem, ours"]
    assert tally.by_scope["theorem, ours"] == {Verdict.HOLDS: 1}


def test_recorded_verdicts_are_told_from_those_judged_here():
    tally = Tally(claim_views(paper(), [row("A-Thm1", Verdict.FAILS)]))
    assert tally.judged_counts == {Verdict.FAILS: 1}
    assert tally.recorded_counts == {Verdict.HOLDS: 1, Verdict.FAILS: 1}


def test_the_page_says_why_an_exhibit_is_left_out(tmp_path, evidence):
    whole = paper()
    keep_reason("figure1", "images.gz of mnist is not here.", tmp_path)
    page = Page(write_page(whole, [], [], tmp_path).read_text(encoding="utf-8"))
    assert "Left out. images.gz of mnist is not here. Then:" in page.text
    make_exhibit(whole, whole.exhibits[0], evidence, tmp_path)
    page = Page(write_page(whole, [], [], tmp_path).read_text(encoding="utf-8"))
    assert "Left out." not in page.text
