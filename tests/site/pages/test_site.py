"""The site: an index over papers, shared files, and what papers leave silent."""

from dataclasses import dataclass, replace
from typing import Literal

import pytest

from attnflow.claims import Verdict
from attnflow.schema.declarations import Recipe, Request
from attnflow.site.pages import make_exhibit, record_run, write_index, write_page
from attnflow.site.pages.files import Place, write_assets
from attnflow.site.pages.inventory import silent_readings, tried_choices
from attnflow.site.pages.runs import settings_by_experiment
from tests.figures.runs import make_run
from tests.site.pages.html import Page
from tests.site.pages.papers import claim, exhibit, paper, row


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site of two papers, of which one has its headline and a judged claim."""
    root = tmp_path_factory.mktemp("site")
    fake, bare = paper(), paper(slug="bare", title="Another", notes=())
    make_exhibit(fake, fake.exhibits[0], {"run": make_run()}, root / "fake")
    write_page(fake, [], [row()], root / "fake", site=root)
    write_page(bare, [], [], root / "bare", site=root)
    write_index(root, [fake, bare, paper(slug="absent")], {"fake": [row()]})
    return root


def read(place):
    return Page(place.read_text(encoding="utf-8"))


def test_the_index_links_papers_that_have_a_page(site):
    index = read(site / "index.html")
    assert index.faults == []
    links = {name.partition("#")[0] for name in index.all("href")} - {"", "data:,"}
    assert "absent/index.html" not in links
    assert {"fake/index.html", "bare/index.html"} <= links
    assert all((site / name).is_file() for name in links | set(index.all("src")))
    assert "1 of 3 figures and tables drawn: 1 agree with the paper" in index.text
    assert "0 of 3 figures and tables drawn" in index.text


def test_anchors_from_the_index_exist(site):
    for name in read(site / "index.html").all("href"):
        page, _, anchor = name.partition("#")
        if page.endswith(".html") and anchor:
            assert anchor in read(site / page).all("id"), name


def test_pages_of_a_site_share_its_files(site):
    page = read(site / "fake" / "index.html")
    assert "../assets/style.css" in page.all("href")
    assert "../index.html" in page.all("href")
    assert not (site / "fake" / "assets").exists()


def test_a_page_alone_has_no_way_up(tmp_path):
    assert Place(tmp_path, tmp_path).index == ""
    assert Place(tmp_path / "a", tmp_path).index == "../index.html"


def test_shared_files_are_whole_and_have_their_licence(tmp_path):
    assets = write_assets(tmp_path)
    assert "MIT" in (assets / "katex" / "LICENSE").read_text()
    style = (assets / "katex" / "katex.min.css").read_text()
    fonts = {part.partition(")")[0] for part in style.split("url(")[1:]}
    assert len(fonts) == 20
    assert all((assets / "katex" / font).is_file() for font in fonts)
    before = (assets / "style.css").stat().st_mtime_ns
    write_assets(tmp_path)
    assert (assets / "style.css").stat().st_mtime_ns == before


@dataclass(frozen=True)
class Choosing:
    rule: Literal["gd", "flow"] = "gd"
    start: Literal["zero", "drawn"] = "zero"
    width: int = 4


def test_alternatives_are_those_that_were_run():
    recipes = (Recipe("figure1", "Figure 1", Choosing(), "nowhere:build"),)
    flow = replace(claim(), needs={"run": Request("figure1", {"rule": "flow"})})
    chosen = paper(recipes=recipes, claims=(flow,), exhibits=(exhibit(),))
    ((gd, other),) = tried_choices(chosen)
    assert (gd.setting, gd.value, list(gd.exhibits)) == ("rule", "gd", ["figure1"])
    assert (other.value, other.claims) == ("flow", {"A-Thm1"})


def test_settings_are_told_by_experiment_and_once():
    record = record_run("a", make_run())
    wide = replace(record, name="b", setting={**record.setting, "width": 256})
    other = replace(record, name="c", experiment="other", changed=("width",))
    one, two = settings_by_experiment([record, wide, other])
    assert (one.columns, [values for _, values in one.rows]) == (
        ("width",),
        [(128,), (256,)],
    )
    assert one.shared["seeds"] == len(record.seeds)
    assert (two.columns, two.changed, one.changed) == ((), {"width"}, frozenset())


def test_a_reading_is_said_once_with_all_that_rests_on_it():
    (exhibits,) = silent_readings(paper()).values()
    assert [e.id for e in exhibits] == ["figure1", "table1", "figure2"]


def test_the_index_counts_verdicts(site):
    fails = row(verdict=Verdict.FAILS)
    write_index(site, [paper()], {"fake": [fails]})
    text = read(site / "index.html").text
    # One claim was judged; in parentheses the two that were not, as recorded.
    assert "fake (1)1 (1)31" in text
    assert "all (1)1 (1)31" in text
