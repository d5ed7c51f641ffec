"""One self-contained static page per paper."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from attnflow._version import __version__
from attnflow.paper import Paper
from attnflow.report.claims import claim_views, tally
from attnflow.report.files import write_text
from attnflow.report.inventory import inventory_rows
from attnflow.report.markup import anchor, environment
from attnflow.report.result import ExhibitResult, earlier_result
from attnflow.report.runs import RunRecord, record_run
from attnflow.report.view import exhibit_view

if TYPE_CHECKING:
    from attnflow.claims.verify import Row


def write_page(
    paper: Paper,
    results: Sequence[ExhibitResult],
    claim_rows: "Sequence[Row]",
    directory: Path,
    *,
    runs: Iterable[xr.Dataset] | Mapping[str, xr.Dataset] | None = None,
    commands: Mapping[str, str] | None = None,
) -> Path:
    """Write `index.html`: the paper's figures, tables, claims and notes on one page.

    **Arguments:**

    - `results`: what `make_exhibit` returned; of other exhibits the page shows what an
      earlier call left in `directory`, and else that they were not made.
    - `claim_rows`: rows of the claims table.
    - `runs`: runs to list beside those of the exhibits, such as the claims'.
    - `commands`: exhibit id → the command that makes it, where it is not
      `attnflow reproduce PAPER/EXHIBIT`.

    The figures are inside the page, so that it can be sent as one file; the links to
    their files work where those lie beside it.
    """
    directory.mkdir(parents=True, exist_ok=True)
    shown = _with_earlier(paper, results, directory)
    records = _all_runs(list(shown.values()), runs)
    page = environment().get_template("page.html")
    text = page.render(
        version=__version__,
        paper=paper,
        exhibits=[
            exhibit_view(paper, exhibit, shown.get(exhibit.id), commands or {})
            for exhibit in paper.shown
        ],
        made=len(shown),
        agreeing=sum(result.agrees is True for result in shown.values()),
        claims=claim_views(paper, claim_rows),
        tally=tally(claim_rows),
        inventory=inventory_rows(paper),
        anchors=_anchors(paper, claim_rows),
        runs=records,
        platforms=_platforms(records),
    )
    return write_text(directory / "index.html", text)


def _with_earlier(
    paper: Paper, results: Sequence[ExhibitResult], directory: Path
) -> dict[str, ExhibitResult]:
    """The results by id, and for the other exhibits what is kept in the directory."""
    shown = {result.id: result for result in results}
    for exhibit in paper.shown:
        kept = earlier_result(paper.slug, exhibit.id, directory)
        if exhibit.id not in shown and kept is not None:
            shown[exhibit.id] = kept
    return shown


def _all_runs(
    results: Sequence[ExhibitResult],
    runs: Iterable[xr.Dataset] | Mapping[str, xr.Dataset] | None,
) -> list[RunRecord]:
    """Every run once, in the order in which the page comes to it."""
    found = {run.id: run for result in results for run in result.runs}
    more = runs.values() if isinstance(runs, Mapping) else runs or ()
    for run in more:
        record = record_run(str(run.attrs["experiment"]), run)
        found.setdefault(record.id, record)
    return list(found.values())


def _anchors(paper: Paper, claim_rows: "Sequence[Row]") -> set[str]:
    """The ids to which the page can link: claims that were not judged have none."""
    places = {anchor("exhibit", exhibit.id) for exhibit in paper.shown}
    places |= {anchor("claim", row.id) for row in claim_rows}
    return places | {anchor("note", note.id) for note in paper.notes}


def _platforms(runs: Sequence[RunRecord]) -> list[tuple[str, tuple[Any, ...]]]:
    """Each platform with the versions on it, once."""
    return list(dict.fromkeys((r.platform, tuple(r.versions.items())) for r in runs))
