"""The pages of a site: what was made of each paper, and what is known of its claims."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from attnflow.claims import Row
from attnflow.paper import Paper
from attnflow.papers import papers
from attnflow.report import Place, write_index, write_page


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
    """Rows of those claims of a paper that were judged with the present code."""
    return []
