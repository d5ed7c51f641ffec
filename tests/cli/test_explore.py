"""`attnflow explore` and `af.explore`: pages, where they go, and what is refused."""

import json

import numpy as np
import pytest

import attnflow as af
from attnflow.runs.pool import Here
from attnflow.site import explore as explorers
from attnflow.site.pages import Place
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


def experiment(id):
    """As much of an experiment's document as a page of links reads."""
    names = dict.fromkeys(("knobs", "claims", "maps"), ())
    return {"id": id, "title": f"{id} α", "name": f"mixture/{id}", **names}


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


def test_a_stored_sweep_is_a_map_of_the_page(tmp_path):
    """Its cells are those of the sweep, and a claim that was swept has its map."""
    axes = {"omega": [0.05, 0.2, 0.8], "bias": [0.3, 0.6]}
    measures = ["loss", "B-Sec3-order"]
    small = {"steps": 60.0, "records": 7, "width": 16}
    options = {"measure": measures, "seeds": 2, "executor": "here"}
    sweep = af.sweep("mixture/figure1", {**axes, **small}, **options)
    explorer = af.explore("mixture/figure1", small)
    (experiment,) = explorer.document["experiments"]
    (map_,) = experiment["maps"]
    assert (map_["x"], map_["y"]) == ("omega", "bias")
    assert (map_["xs"], map_["ys"]) == (axes["omega"], axes["bias"])
    expected = sweep["loss"].mean("seed").transpose("bias", "omega").values
    assert np.array_equal(map_["values"], expected)
    claims = {claim["id"]: claim for claim in experiment["claims"]}
    assert claims["B-Sec3-order"]["map"]["xs"] == axes["omega"]
    assert claims["B-Sec3-range"]["map"] is None


@pytest.fixture
def parts(monkeypatch):
    """Documents of two files in the place of those that take long."""
    from attnflow.browser.explorer import document as documents
    from attnflow.browser.explorer import page

    made = [{"experiments": [experiment(id)]} for id in ("flow", "k3")]

    def documents_of(paper, report):
        report(0.0, "flow")
        return made

    monkeypatch.setattr(documents, "documents", documents_of)
    monkeypatch.setattr("attnflow.site.agreements.is_measured", lambda: False)
    text = '<script id="contents">{}</script>'
    monkeypatch.setattr(page, "render", lambda d: text.format(json.dumps(d["book"])))


def test_a_page_is_left_where_nothing_has_changed(tmp_path, parts):
    written = []

    def report(share, name):
        written.append((share, name))

    for _ in range(2):
        place = Place(tmp_path, tmp_path)
        pages = explorers.write_explorers([(af.paper("mixture"), place)], report)
        assert [page.name for page in pages] == ["explore.html", "explore-2.html"]
    assert written == [(0.0, "explorer: compiling mixture/flow")]


def test_a_pool_writes_the_pages_of_several_papers(tmp_path, parts):
    """The same pages as one after the other, and each of them once."""
    told = {}
    for name, pool in (("alone", None), ("pool", Here())):
        places = [
            (af.paper(slug), Place(tmp_path / name / slug, tmp_path / name))
            for slug in ("mixture", "vit")
        ]
        for _, place in places:
            place.directory.mkdir(parents=True)
        for attempt in ("written", "left"):
            told[name, attempt] = []

            def report(share, words, heard=told[name, attempt]):
                heard.append(words)

            explorers.write_explorers(places, report, pool=pool)
    for page in (tmp_path / "alone").rglob("*.html"):
        other = tmp_path / "pool" / page.relative_to(tmp_path / "alone")
        assert other.read_bytes() == page.read_bytes()
    assert len(list((tmp_path / "pool").rglob("*.html"))) == 4
    assert told["pool", "written"][-1] == "2 of 2 explorers"
    assert told["pool", "left"] == told["alone", "left"] == []


def test_pages_of_all_papers_are_listed_in_one(tmp_path, parts):
    places = [
        (af.paper(slug), Place(tmp_path / slug, tmp_path))
        for slug in ("mixture", "vit")
    ]
    for _, place in places:
        place.directory.mkdir()
    explorers.write_explorers(places)
    text = explorers.write_shelf(places, tmp_path).read_text("utf-8")
    assert 'href="mixture/explore.html#flow"' in text
    assert 'href="vit/explore-2.html#k3"' in text
    assert "script-src" not in text and "default-src" in text
