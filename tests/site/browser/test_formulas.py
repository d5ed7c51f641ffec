"""Every formula that the papers' texts hold, before KaTeX itself."""

import pytest

from attnflow.figures.formulas import pieces, to_tex
from attnflow.papers import papers
from attnflow.site.pages.files import write_assets

_REFUSED = """(formulas) => formulas.filter((tex) => {
  try {
    katex.renderToString(tex, { strict: "ignore" });
    return false;
  } catch {
    return true;
  }
})"""


def texts(paper):
    """What a page shows of a paper beside numbers."""
    yield paper.summary
    for exhibit in paper.shown:
        yield from (exhibit.title, exhibit.caption, *exhibit.silent)
    for claim in paper.claims:
        yield from (claim.place, claim.statement, claim.check, claim.settings)
        yield from (claim.system, claim.source)
        yield claim.correction.statement if claim.correction else ""
    for note in paper.notes:
        yield from (note.place, note.printed, note.ours)
    for entries in paper.inventory.values():
        for entry in entries:
            yield from (entry["id"], entry.get("about", ""), entry.get("reason", ""))


@pytest.fixture
def katex(context, tmp_path):
    """A page that has KaTeX and nothing else."""
    page = context.new_page()
    page.goto("about:blank")
    page.add_script_tag(path=write_assets(tmp_path) / "katex" / "katex.min.js")
    return page


def test_every_formula_of_every_paper_can_be_typeset(katex):
    formulas = {
        to_tex(piece.text)
        for paper in papers().values()
        for text in texts(paper)
        for piece in pieces(text)
        if piece.kind == "formula"
    }
    assert len(formulas) > 500
    assert katex.evaluate(_REFUSED, sorted(formulas)) == []


def test_what_is_no_formula_is_refused(katex):
    assert katex.evaluate(_REFUSED, ["a_{1}", "n^^{*}"]) == ["n^^{*}"]
