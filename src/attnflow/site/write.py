"""The pages of a site: what was made of each paper, and what is known of its claims."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from attnflow.claims import Claim, Row
from attnflow.papers import papers
from attnflow.papers.base import Paper
from attnflow.runs.verify import Verdicts, verdict_key
from attnflow.site.pages import Place, write_index, write_page

_NONE: Mapping[str, Sequence[Row]] = MappingProxyType({})
SEEDS = range(50, 0, -1)
"""Numbers of seeds with which a claim that leaves it open may have been judged."""


def write_pages(papers_at: Sequence[tuple[Paper, Place]]) -> list[Path]:
    """Write the page of each paper from what lies in its place, and then the index.

    **Returns:** the pages; the index is the last where the papers have one.
    """
    rows = {paper.slug: known_rows(paper) for paper, _ in papers_at}
    pages = [
        write_page(paper, (), rows[paper.slug], place.directory, site=place.site)
        for paper, place in papers_at
    ]
    sites = dict.fromkeys(place.site for _, place in papers_at if place.index)
    return [*pages, *(write_site_index(site, rows) for site in sites)]


def write_site_index(site: Path, rows: Mapping[str, Sequence[Row]] = _NONE) -> Path:
    """Write the index of a site, over all papers that have a page in it.

    **Arguments:**

    - `rows`: slug → rows of the claims table, where they were read already.
    """
    every = {
        slug: paper
        for slug, paper in papers().items()
        if (site / slug / "index.html").is_file()
    }
    known = {slug: rows.get(slug) or known_rows(p) for slug, p in every.items()}
    return write_index(site, list(every.values()), known)


def known_rows(paper: Paper) -> list[Row]:
    """Rows of those claims of a paper that were judged with the present code.

    Of several the one with the most seeds, of the numbers in `SEEDS`.
    """
    verdicts = Verdicts()
    if not verdicts.root.is_dir():
        return []
    rows = [_best(verdicts, paper, claim) for claim in paper.claims]
    return [row for row in rows if row is not None]


def _best(verdicts: Verdicts, paper: Paper, claim: Claim) -> Row | None:
    is_open = any(request.seeds is None for request in claim.needs.values())
    keys = (verdict_key(paper, claim, n) for n in (SEEDS if is_open else SEEDS[:1]))
    return next(filter(None, map(verdicts.read, keys)), None)
