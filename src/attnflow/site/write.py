"""The pages of a site, with verdicts that are known by now; and a copy to give away."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from attnflow.claims import Claim, Row
from attnflow.papers import papers
from attnflow.papers.base import Paper
from attnflow.runs.store import Store
from attnflow.runs.verify import Verdicts, pool_of, verdict_keys
from attnflow.site.explore import explorer_pages, write_explorers
from attnflow.site.pages import (
    Place,
    copy_file,
    earlier_reason,
    earlier_result,
    keep_reason,
    write_index,
    write_page,
)

MARK = "index.html"


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


def write_site_index(
    site: Path, rows: Mapping[str, Sequence[Row]] | None = None
) -> Path:
    """Write the index of a site, over all papers that have a page in it.

    **Arguments:**

    - `rows`: slug → rows of the claims table, where they were read already.
    """
    every = {
        slug: paper
        for slug, paper in papers().items()
        if (site / slug / MARK).is_file()
    }
    known = {
        slug: (rows or {}).get(slug) or known_rows(paper)
        for slug, paper in every.items()
    }
    return write_index(site, list(every.values()), known)


def known_rows(paper: Paper) -> list[Row]:
    """Rows of those claims of a paper that were judged with the present code.

    Of several the one with the most seeds.
    """
    if not Store().verdicts.is_dir():
        return []
    verdicts = Verdicts()
    rows = [_best(verdicts, paper, claim) for claim in paper.claims]
    return [row for row in rows if row is not None]


def _best(verdicts: Verdicts, paper: Paper, claim: Claim) -> Row | None:
    keys = (key for key, _ in verdict_keys(paper, claim))
    return next(filter(None, map(verdicts.read, keys)), None)


def export_site(source: Path, target: Path, *, quick: bool = False) -> list[Path]:
    """Put the site that lies in `source` into `target`, ready for any web server.

    Pages are written anew, so that they have the verdicts that are known by now.
    `quick` says that it is a site of smaller runs.

    **Returns:** the pages, the index last.
    """
    pages_at = [
        (paper, Place(target / slug, target))
        for slug, paper in papers().items()
        if (source / slug / MARK).is_file()
    ]
    if not pages_at:
        raise ValueError(
            f"There is no site in {source}: it has no paper's page. Make one with "
            "`attnflow reproduce`, or name its folder with --from."
        )
    _check_target(target)
    for paper, place in pages_at:
        for exhibit in paper.shown:
            _hand_over(paper.slug, exhibit.id, source / paper.slug, place.directory)
        for page in explorer_pages(source / paper.slug):
            copy_file(page, place.directory / page.name)
    with pool_of(None) as pool:
        write_explorers(pages_at, measured=not quick, pool=pool)
    return write_pages(pages_at)


def _check_target(target: Path) -> None:
    """Refuse a folder that holds something else than an earlier site."""
    if target.is_dir() and any(target.iterdir()) and not (target / MARK).is_file():
        raise ValueError(
            f"{target} is not empty, and holds no earlier site. Give a new folder."
        )


def _hand_over(slug: str, id: str, source: Path, target: Path) -> None:
    """Copy the files of an exhibit, or why there are none."""
    kept = earlier_result(slug, id, source)
    for name in kept.files if kept is not None else ():
        copy_file(Path(name), target / Path(name).name)
    reason = earlier_reason(id, source)
    if reason:
        keep_reason(id, reason, target)
