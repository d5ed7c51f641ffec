"""Files for people: they agree with the code, and point at what is there."""

import re
from pathlib import Path

import pytest

from attnflow import __version__
from attnflow.papers.citation import citation

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md", "docs/your-own-paper.md")


def test_one_version_and_one_title():
    told = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {__version__}\n" in told
    title = re.search(r'title: "(.*)"', told)
    assert title is not None and f"{{{title[1]}}}" in citation()
    assert f"\n## {__version__} " in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_is_there(page):
    text = (ROOT / page).read_text("utf-8")
    targets = re.findall(r"\]\(((?!https?:)[^)#]+)\)", text)
    assert targets
    for target in targets:
        assert (ROOT / page).parent.joinpath(target).exists(), target


def test_the_architecture_names_every_folder():
    """A folder that no row names is one that nobody can place."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = set(re.findall(r"`(\w+)`", text))
    folders = {p.parent.name for p in (ROOT / "src/attnflow").glob("*/__init__.py")}
    assert folders <= named, folders - named
