"""The pages that are generated: complete, and staged with links that stay inside."""

import re
import subprocess
import sys
import tomllib

import pytest
from tools.documentation import stage as staging
from tools.documentation.papers import paper_pages
from tools.documentation.reference import PACKAGES, homes, reference_pages

import attnflow as af
from tests.docs.blocks import ROOT, pages

NAVIGATION = (ROOT / "mkdocs.yml").read_text("utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return staging.stage(tmp_path_factory.mktemp("site") / "docs", figures=False)


def test_every_page_of_the_navigation_is_staged(site):
    listed = re.findall(r"[\w./-]+\.md", NAVIGATION.partition("\nnav:\n")[2])
    assert listed
    for page in listed:
        assert (site / page).is_file(), page
    generated = {*paper_pages(), *reference_pages()}
    assert generated <= {*listed}, generated - {*listed}


def test_links_of_staged_pages_stay_inside(site):
    for page in site.rglob("*.md"):
        text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
        for link in re.findall(r"\]\(((?!https?:|#)[^)\s#]+)", text):
            target = (page.parent / link).resolve()
            assert target.is_relative_to(site) and target.exists(), (page.name, link)


def test_every_claim_and_exhibit_has_its_place(site):
    for slug in ("mixture", "signgd"):
        text = (site / f"papers/{slug}.md").read_text("utf-8")
        record = af.paper(slug)
        assert all(f"<span id='{claim.id}'>" in text for claim in record.claims)
        for exhibit in record.shown:
            assert f"\nattnflow reproduce {slug}/{exhibit.id}\n" in text


def test_every_public_name_is_in_the_reference(site):
    assert set(homes()) == set(af.__all__) - {"__version__"}
    api = "".join(p.read_text("utf-8") for p in (site / "reference/api").glob("*.md"))
    for home in homes().values():
        assert f"::: {home}\n" in api
    for package in PACKAGES:
        name = package.removeprefix("attnflow.")
        assert (site / f"reference/packages/{name}.md").is_file()


def test_a_page_that_links_to_nothing_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"examples/absent\.py"):
        staging._inside("docs/a.md", "[a](../examples/absent.py)", "a.md", {}, tmp_path)


def test_there_is_one_copy_of_katex(site):
    assert (site / "assets/katex/katex.min.js").is_file()
    assert not list((ROOT / "docs").rglob("katex*"))
    assert pages()


def test_nothing_is_loaded_from_elsewhere():
    sources = [ROOT / "mkdocs.yml", *(ROOT / "docs/assets").iterdir()]
    for path in sources:
        assert "http" not in path.read_text("utf-8"), path


@pytest.mark.slow
def test_the_reference_needs_no_package_outside_the_docs_extra():
    """`make docs` installs attnflow and its extra `docs`, and nothing for tests."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {
        name: {
            re.split(r"[^\w-]", package)[0].replace("-", "_") for package in packages
        }
        for name, packages in project["optional-dependencies"].items()
    }
    others = set().union(*extras.values()) - extras["docs"] - {"attnflow"}
    assert {"hypothesis", "beartype", "torch"} <= others
    program = f"""
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in {sorted(others)}:
            return self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Without, sys.meta_path)
from tools.documentation.reference import reference_pages
assert reference_pages()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
