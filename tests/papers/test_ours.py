"""What holds for the papers of this package, and need not for those of others."""

import re
from collections import Counter
from pathlib import Path

import pytest

from attnflow import papers
from attnflow.papers import SLUGS, paper

LETTERS = {
    "cooccurrence": "A",
    "mixture": "B",
    "signgd": "C",
    "vit": "D",
    "scansnap": "E",
}


@pytest.mark.parametrize("slug", SLUGS)
def test_notes_are_fair(slug):
    """We read extracted texts, and nobody has answered yet."""
    for note in paper(slug).notes:
        assert note.status == "suspected" and note.source == "extracted text"
    assert "extracted" in paper(slug).version_read


@pytest.mark.parametrize("slug", SLUGS)
def test_runs_cite_what_the_paper_prints(slug):
    """The letters are those of the design, and so is the key of runs."""
    found = paper(slug)
    assert found.letter == LETTERS[slug]
    recipe = found.recipes[0]
    assert f"{{{recipe.experiment(recipe.setting).citation}," in found.bibtex


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("B-L6.1", "Its paper comes first: mixture/B-L6.1."),
        ("figure9", "Its paper comes first: scansnap/figure9."),
        ("needle", "Known: mixture, cooccurrence, signgd, vit, scansnap."),
    ],
)
def test_a_claim_or_experiment_without_its_paper_is_sent_there(name, hint):
    with pytest.raises(ValueError, match=f"{re.escape(hint)}$"):
        paper(name)


@pytest.mark.parametrize("slug", SLUGS)
def test_readmes_count_claims_and_notes(slug):
    """The page that introduces a paper says how many there are, and how they stand."""
    record = paper(slug)
    text = (Path(papers.__file__).parent / slug / "README.md").read_text("utf-8")
    claims = re.findall(r"judges (\d+) claims", text)
    assert {int(count) for count in claims} <= {len(record.claims)}
    notes = re.findall(r"has (\d+) notes", text)
    assert {int(count) for count in notes} <= {len(record.notes)}
    assert claims or notes
    standing = Counter(str(claim.expected) for claim in record.claims)
    for holds, fails, open_ones in re.findall(
        r"As printed, (\d+) hold, (\d+) fail and (\d+) (?:is|are) inconclusive", text
    ):
        assert int(holds) == standing["holds"]
        assert int(fails) == standing["fails"]
        assert int(open_ones) == standing["inconclusive"]
