"""One static page per paper, and the index of all papers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attnflow._version import __version__
from attnflow.claims import Row
from attnflow.papers.base import Paper
from attnflow.schema.declarations import Exhibit, nothing
from attnflow.schema.files import write_text
from attnflow.schema.installation import xr
from attnflow.site.pages.claims import ClaimView, Tally, claim_views, columns
from attnflow.site.pages.exhibit import ExhibitResult, earlier_reason, earlier_result
from attnflow.site.pages.files import DARK, EXPLORER, anchor, place_of, render
from attnflow.site.pages.graph import GRAPH, draw_graph, drawn_statements
from attnflow.site.pages.inventory import (
    StatementView,
    part_counts,
    rests_on,
    silent_readings,
    statement_views,
    tried_choices,
)
from attnflow.site.pages.runs import (
    RunRecord,
    Settings,
    declared_settings,
    record_run,
    settings_by_experiment,
)
from attnflow.site.pages.values import Table, tabulate

PIXELS_PER_POINT = 96 / 72
USUAL_SIZE = (800, 500)
Sentence = tuple[str, bool, str, str]
"""A sentence about a picture, whether it is true, its place, and why it is not."""
_SIZE = re.compile(r'<svg[^>]*\swidth="([\d.]+)pt"\s+height="([\d.]+)pt"')


@dataclass(frozen=True)
class ExhibitView:
    """An exhibit as the page shows it.

    Without a result, how to get one, and the `reason` why it could not be drawn here.
    """

    slug: str
    exhibit: Exhibit
    result: ExhibitResult | None
    reason: str = ""

    @property
    def command(self) -> str:
        """The command that draws it."""
        quick = " --quick" if self.result is not None and self.result.quick else ""
        return f"attnflow reproduce {self.slug}/{self.exhibit.id}{quick}"

    @property
    def anchor(self) -> str:
        """Its id within the page."""
        return anchor("exhibit", self.exhibit.id)

    @property
    def picture(self) -> str:
        """The name of the picture."""
        return next(name for name in self._names() if name.endswith(".svg"))

    @property
    def dark_picture(self) -> str:
        """The name of the picture for a dark page; empty where there is none."""
        return next((name for name in self._names() if name.endswith(DARK)), "")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels, so that the page keeps still."""
        assert self.result is not None
        with Path(self.result.files[0]).open(encoding="utf-8") as file:
            match = _SIZE.search(file.read(2000))
        if match is None:
            return USUAL_SIZE
        width, height = (float(side) * PIXELS_PER_POINT for side in match.groups())
        return round(width), round(height)

    @property
    def files(self) -> list[tuple[str, str]]:
        """The files to download: kind and name of each."""
        names = [name for name in self._names() if not name.endswith(DARK)]
        return [(Path(name).suffix.removeprefix("."), name) for name in names]

    @property
    def table(self) -> Table:
        """The values in the picture."""
        return tabulate(self.result.values if self.result else {})

    @property
    def in_deviations(self) -> bool:
        """Whether printed numbers are compared in standard deviations over seeds."""
        return self.exhibit.deviations is not nothing

    @property
    def stated(self) -> list[Sentence]:
        """What the paper says of the picture."""
        rows = self.result.stated if self.result else ()
        return [(row.sentence, row.is_true, row.place, row.differs) for row in rows]

    @property
    def checks(self) -> list[Sentence]:
        """What we say of it."""
        rows = self.result.checks if self.result else {}
        return [(text, answer, "", "") for text, answer in rows.items()]

    @property
    def settings(self) -> list[Settings]:
        """The settings of its runs, by experiment."""
        return settings_by_experiment(self.result.runs if self.result else ())

    def _names(self) -> list[str]:
        assert self.result is not None
        return [Path(name).name for name in self.result.files]


def write_page(
    paper: Paper,
    results: Sequence[ExhibitResult],
    claim_rows: Sequence[Row],
    directory: Path,
    *,
    runs: Iterable[xr.Dataset] = (),
    site: Path | None = None,
) -> Path:
    """Write `index.html`: the paper's figures, tables, claims and notes on one page.

    **Arguments:**

    - `results`: what `make_exhibit` returned; of other exhibits the page shows the
      results of earlier calls in `directory`, or that there are none.
    - `claim_rows`: rows of the claims table; of other claims the page shows the
      recorded verdict, and says so.
    - `runs`: runs to list beside those of the exhibits, such as the claims'.
    - `site`: the folder with the index of all papers; `directory` without it.
    """
    place = place_of(directory, site)
    shown = with_earlier(paper, results, directory)
    records = _all_runs(list(shown.values()), runs)
    claims = Tally(claim_views(paper, claim_rows))
    statements = statement_views(paper, claims.views)
    graph = draw_graph(statements, f"What the proofs of {paper.title} rest on")
    if graph:
        write_text(directory / GRAPH, graph)
    text = render(
        "page.html",
        version=__version__,
        place=place,
        explorer=EXPLORER if (directory / EXPLORER).is_file() else "",
        paper=paper,
        exhibits=[
            ExhibitView(paper.slug, e, shown.get(e.id), earlier_reason(e.id, directory))
            for e in paper.shown
        ],
        **_counts(shown),
        claims=claims,
        verdicts=columns([claims]),
        settings=declared_settings(paper),
        readings=silent_readings(paper),
        choices=tried_choices(paper),
        statements=statements,
        parts=part_counts(statements.values()),
        graph=graph,
        graph_file=GRAPH,
        links=weakest_links(statements),
        anchors=_anchors(paper, claims.views),
        runs=records,
        # Each platform with the versions on it, once.
        platforms=list(
            dict.fromkeys((r.platform, tuple(r.versions.items())) for r in records)
        ),
    )
    return write_text(directory / "index.html", text)


@dataclass(frozen=True)
class Agreement:
    """How many exhibits agree with the paper, differ from it, or cannot do either."""

    agreeing: int
    differing: int
    neither: int

    @classmethod
    def of(cls, results: Iterable[ExhibitResult]) -> Agreement:
        """The counts of some results."""
        answers = [result.agrees for result in results]
        return cls(*(answers.count(answer) for answer in (True, False, None)))

    @property
    def words(self) -> str:
        """The counts in words, without what is zero."""
        counts = {
            "agree with the paper": self.agreeing,
            "differ from it": self.differing,
            "are ours, or the paper describes them in no word or number": self.neither,
        }
        return "; ".join(f"{n} {words}" for words, n in counts.items() if n)


def weakest_links(
    views: Mapping[str, StatementView],
) -> list[tuple[StatementView, str]]:
    """Theorems, and all else that no other proof rests on, with their weakest links."""
    linked, _ = drawn_statements(views)
    used = {id for ids in linked.values() for id in ids}
    return [
        (views[id], rests_on(id, views))
        for id, ids in linked.items()
        if ids and (views[id].statement.kind == "theorem" or id not in used)
    ]


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


def _counts(results: Mapping[str, ExhibitResult]) -> dict[str, Any]:
    """How many exhibits are drawn and agree, and whether any is of smaller runs."""
    return {
        "drawn": len(results),
        "agreement": Agreement.of(results.values()),
        "quick": any(result.is_smaller for result in results.values()),
    }


def _all_runs(
    results: Sequence[ExhibitResult], runs: Iterable[xr.Dataset]
) -> list[RunRecord]:
    """Every run once, in the order in which the page comes to it."""
    records = {run.id: run for result in results for run in result.runs}
    for run in runs:
        record = record_run(str(run.attrs["experiment"]), run)
        records.setdefault(record.id, record)
    return list(records.values())


def _anchors(paper: Paper, claims: Sequence[ClaimView]) -> set[str]:
    """The ids to which the page can link."""
    anchors = {anchor("exhibit", exhibit.id) for exhibit in paper.shown}
    anchors |= {anchor("claim", view.id) for view in claims}
    return anchors | {anchor("note", note.id) for note in paper.notes}


@dataclass(frozen=True)
class Card:
    """A paper in a few numbers, and its headline picture where there is one."""

    paper: Paper
    page: str
    headline: ExhibitView
    drawn: int
    absent: int
    agreement: Agreement
    quick: bool
    claims: Tally


def write_index(
    site: Path, papers: Sequence[Paper], rows: Mapping[str, Sequence[Row]]
) -> Path:
    """Write the site's `index.html` over those papers that have a page in it.

    **Arguments:**

    - `rows`: slug → rows of the claims table.
    """
    cards = [
        _card(paper, site / paper.slug, rows.get(paper.slug, ()))
        for paper in papers
        if (site / paper.slug / "index.html").is_file()
    ]
    text = render(
        "index.html",
        version=__version__,
        place=place_of(site),
        cards=cards,
        quick=any(card.quick for card in cards),
        claims=Tally([view for card in cards for view in card.claims.views]),
        verdicts=columns(card.claims for card in cards),
    )
    return write_text(site / "index.html", text)


def _card(paper: Paper, directory: Path, rows: Sequence[Row]) -> Card:
    shown = with_earlier(paper, (), directory)
    headline = paper.exhibit(paper.headline)
    return Card(
        paper=paper,
        page=f"{paper.slug}/index.html",
        headline=ExhibitView(paper.slug, headline, shown.get(headline.id)),
        absent=len(paper.shown) - len(shown),
        **_counts(shown),
        claims=Tally(claim_views(paper, rows)),
    )
