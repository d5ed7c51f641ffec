"""The pages of a site: what was made of each paper, and what is known of its claims."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from attnflow.claims import Claim, Row
from attnflow.paper import Paper
from attnflow.papers import papers
from attnflow.report import Place, write_index, write_page
from attnflow.verifying import Verdicts, verdict_key

SEEDS = (20, 10, 5, 3, 2, 1)
"""Numbers of seeds that somebody may have judged claims with."""


def write_pages(made: Sequence[tuple[Paper, Place]]) -> list[Path]:
    """Write the page of each paper from what lies in its place, and then the index.

    **Returns:** the pages; the index is the last where the papers have one.
    """
    pages = [
        write_page(paper, (), known_rows(paper), place.directory, site=place.site)
        for paper, place in made
    ]
    sites = dict.fromkeys(place.site for _, place in made if place.index)
    return [*pages, *(write_site_index(site) for site in sites)]


def write_site_index(site: Path) -> Path:
    """Write the index of a site, over all papers that have a page in it."""
    every = papers()
    rows: Mapping[str, Sequence[Row]] = {
        slug: known_rows(paper) for slug, paper in every.items()
    }
    return write_index(site, list(every.values()), rows)


def known_rows(paper: Paper) -> list[Row]:
    """Rows of those claims of a paper that were judged with the present code.

    Of several the one with the most seeds, of the numbers in `SEEDS`.
    """
    verdicts = Verdicts()
    if not verdicts.root.is_dir():
        return []
    found = [_best(verdicts, paper, claim) for claim in paper.claim_list]
    return [row for row in found if row is not None]


def _best(verdicts: Verdicts, paper: Paper, claim: Claim) -> Row | None:
    keys = (verdict_key(paper, claim, seeds) for seeds in SEEDS)
    return next(filter(None, map(verdicts.read, keys)), None)
