"""One static page per paper."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from attnflow._version import __version__
from attnflow.papers.base import Paper
from attnflow.site.pages.claims import ClaimView, claim_views
from attnflow.site.pages.files import write_text
from attnflow.site.pages.inventory import inventory_rows
from attnflow.site.pages.markup import anchor, environment
from attnflow.site.pages.result import ExhibitResult, earlier_reason, earlier_result
from attnflow.site.pages.runs import RunRecord, record_run
from attnflow.site.pages.silent import silent_readings, tried_choices
from attnflow.site.pages.site import place_of
from attnflow.site.pages.tally import Tally, columns
from attnflow.site.pages.view import ExhibitView, exhibit_view

if TYPE_CHECKING:
    from attnflow.claims import Row


def write_page(
    paper: Paper,
    results: Sequence[ExhibitResult],
    claim_rows: "Sequence[Row]",
    directory: Path,
    *,
    runs: Iterable[xr.Dataset] = (),
    site: Path | None = None,
) -> Path:
    """Write `index.html`: the paper's figures, tables, claims and notes on one page.

    **Arguments:**

    - `results`: what `make_exhibit` returned; of other exhibits the page shows what an
      earlier call left in `directory`, and else that they were not made.
    - `claim_rows`: rows of the claims table; of other claims the page shows the
      recorded verdict, and says so.
    - `runs`: runs to list beside those of the exhibits, such as the claims'.
    - `site`: the folder with the index of all papers; `directory` without it.
    """
    place = place_of(directory, site)
    shown = with_earlier(paper, results, directory)
    records = _all_runs(list(shown.values()), runs)
    claims = Tally(claim_views(paper, claim_rows))
    text = (
        environment()
        .get_template("page.html")
        .render(
            version=__version__,
            place=place,
            paper=paper,
            exhibits=_views(paper, shown, directory),
            made=len(shown),
            agreeing=sum(result.agrees is True for result in shown.values()),
            quick=any(result.is_smaller for result in shown.values()),
            claims=claims,
            verdicts=columns([claims]),
            readings=silent_readings(paper),
            choices=tried_choices(paper),
            inventory=inventory_rows(paper),
            anchors=_anchors(paper, claims.views),
            runs=records,
            platforms=_platforms(records),
        )
    )
    return write_text(directory / "index.html", text)


def with_earlier(
    paper: Paper, results: Sequence[ExhibitResult], directory: Path
) -> dict[str, ExhibitResult]:
    """The results by id, and for the other exhibits what is kept in the directory."""
    shown = {result.id: result for result in results}
    for exhibit in paper.shown:
        kept = earlier_result(paper.slug, exhibit.id, directory)
        if exhibit.id not in shown and kept is not None:
            shown[exhibit.id] = kept
    return shown


def _views(
    paper: Paper, shown: Mapping[str, ExhibitResult], directory: Path
) -> list[ExhibitView]:
    """Every exhibit as the page shows it, or why it is not there."""
    return [
        exhibit_view(paper, e, shown.get(e.id), earlier_reason(e.id, directory))
        for e in paper.shown
    ]


def _all_runs(
    results: Sequence[ExhibitResult], runs: Iterable[xr.Dataset]
) -> list[RunRecord]:
    """Every run once, in the order in which the page comes to it."""
    found = {run.id: run for result in results for run in result.runs}
    for run in runs:
        record = record_run(str(run.attrs["experiment"]), run)
        found.setdefault(record.id, record)
    return list(found.values())


def _anchors(paper: Paper, claims: Sequence[ClaimView]) -> set[str]:
    """The ids to which the page can link."""
    places = {anchor("exhibit", exhibit.id) for exhibit in paper.shown}
    places |= {anchor("claim", view.id) for view in claims}
    return places | {anchor("note", note.id) for note in paper.notes}


def _platforms(runs: Sequence[RunRecord]) -> list[tuple[str, tuple[Any, ...]]]:
    """Each platform with the versions on it, once."""
    return list(dict.fromkeys((r.platform, _items(r.versions)) for r in runs))


def _items(versions: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(versions.items())
