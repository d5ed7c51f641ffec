"""A small site in a real browser: quiet, whole, sortable, typeset, for every screen."""

import pytest

from attnflow.claims import Verdict
from attnflow.site.pages import make_exhibit, write_index, write_page
from tests.chromium import Watched
from tests.figures.runs import make_run
from tests.site.browser.page_checks import WIDTHS, check_page
from tests.site.pages.papers import paper, row


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site of one paper, with a figure, a table and claims of every verdict."""
    root = tmp_path_factory.mktemp("site")
    whole = paper()
    for exhibit in whole.exhibits[:2]:
        make_exhibit(whole, exhibit, {"run": make_run()}, root / "fake")
    rows = [
        row(margin=0.25),
        row("A-L2", Verdict.FAILS, Verdict.HOLDS, margin=-3.0),
        row("A-L3", Verdict.UNCHECKED, seeds=0, held=0, interval=None),
    ]
    write_page(whole, [], rows, root / "fake", site=root)
    write_index(root, [whole], {"fake": rows})
    return root


@pytest.fixture
def watched(context):
    return Watched(context)


@pytest.mark.parametrize("name", ["index.html", "fake/index.html"])
def test_every_page_is_as_it_must_be(watched, site, name):
    check_page(watched, site / name, site)


def test_claims_sort_by_margin_with_the_unchecked_last(watched, site):
    page = watched.open(site / "fake" / "index.html")
    head = page.get_by_role("columnheader", name="margin")
    ids = "[...document.querySelectorAll('.claims tbody tr')].map(row => row.id)"
    head.get_by_role("button").click()
    upwards = page.evaluate(ids)
    head.get_by_role("button").click()
    downwards = page.evaluate(ids)
    assert upwards[:2] == ["claim-A-L2", "claim-A-Thm1"]
    assert downwards[:2] == ["claim-A-Thm1", "claim-A-L2"]
    assert upwards[2:] == downwards[2:]


def test_a_link_to_a_claim_opens_how_it_was_judged(watched, site):
    page = watched.open(site / "fake" / "index.html", "#claim-A-Thm1")
    claim = page.locator("tr[id='claim-A-Thm1']")
    assert claim.locator("details").get_attribute("open") is not None
    assert claim.bounding_box()["y"] < WIDTHS["desktop"][1]


def test_dark_pages_have_dark_pictures_and_printed_ones_light(browser, site):
    with browser.new_context(color_scheme="dark") as context:
        page = Watched(context).open(site / "fake" / "index.html")
        pictures = "[...document.images].map(image => image.currentSrc)"
        assert all(name.endswith(".dark.svg") for name in page.evaluate(pictures))
        ink = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(ink)
        page.emulate_media(media="print")
        assert page.evaluate(ink) == "rgb(255, 255, 255)" != dark
        page.wait_for_function(f"() => {pictures}.every(n => !n.endsWith('.dark.svg'))")


def test_printing_shows_how_claims_were_judged(watched, site):
    page = watched.open(site / "fake" / "index.html")
    folded = page.locator(".claims details:not([open])")
    assert folded.count() > 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert folded.count() == 0
    assert page.locator(".claims .tex:not([data-set=katex])").count() == 0


def test_what_katex_refuses_stays_readable(watched, site):
    page = watched.open(site / "index.html")
    page.evaluate(
        """() => {
          document.body.insertAdjacentHTML(
            "beforeend", '<span class="tex" data-tex="{" id="bad">plain</span>');
          typeset(document);
        }"""
    )
    assert page.locator("#bad").inner_text() == "plain"
