"""Every link of every page leads somewhere, anchors included."""

import re
import unicodedata

import pytest

from tests.docs.blocks import BLOCK, ROOT, pages

LINK = re.compile(r"\]\(((?!https?:|mailto:)[^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)


def anchor(heading):
    """The anchor of a heading, as both MkDocs and GitHub have it for plain headings."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[`*$\\]", "", text)
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())


def anchors(path):
    return {anchor(h) for h in HEADING.findall(BLOCK.sub("", path.read_text("utf-8")))}


@pytest.mark.parametrize("page", pages())
def test_links(page):
    text = BLOCK.sub("", (ROOT / page).read_text("utf-8"))
    for link in LINK.findall(text):
        target, _, place = link.partition("#")
        path = (
            (ROOT / page).parent.joinpath(target).resolve() if target else ROOT / page
        )
        assert path.exists(), link
        if place and path.suffix == ".md":
            assert place in anchors(path), link


def test_every_page_is_in_the_site():
    """What is written by hand is in the navigation, or is reached from an index."""
    nav = (ROOT / "mkdocs.yml").read_text("utf-8")
    for page in pages():
        if page.startswith("docs/") and "/decisions/" not in page:
            assert page.removeprefix("docs/") in nav, page


def test_pages_begin_with_a_heading_and_say_what_they_are():
    for page in pages():
        first, *rest = (ROOT / page).read_text("utf-8").splitlines()
        assert first.startswith("# ") or page == "README.md", page
        assert any(line.strip() for line in rest), page
