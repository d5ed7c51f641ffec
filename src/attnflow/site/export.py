"""A site to give away: pages written anew, with the files that they show."""

from pathlib import Path

from attnflow.papers import papers
from attnflow.site.pages import (
    Place,
    copy_file,
    earlier_reason,
    earlier_result,
    keep_reason,
)
from attnflow.site.write import write_pages

MARK = "index.html"


def export_site(source: Path, target: Path) -> list[Path]:
    """Put the site that lies in `source` into `target`, ready for any web server.

    Pages are written anew, so that they have the verdicts that are known by now.

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
