"""The index: every paper of a site at a glance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnflow._version import __version__
from attnflow.claims import Row
from attnflow.papers.base import Paper
from attnflow.site.pages.claims import claim_views
from attnflow.site.pages.files import write_text
from attnflow.site.pages.markup import environment
from attnflow.site.pages.page import with_earlier
from attnflow.site.pages.site import place_of
from attnflow.site.pages.tally import Tally, columns
from attnflow.site.pages.view import ExhibitView, exhibit_view


@dataclass(frozen=True)
class Card:
    """A paper in a few numbers, and its headline picture where that was made."""

    paper: Paper
    page: str
    headline: ExhibitView
    made: int
    absent: int
    agreeing: int
    quick: bool
    claims: Tally


def write_index(
    site: Path, papers: Sequence[Paper], rows: Mapping[str, Sequence[Row]]
) -> Path:
    """Write the site's `index.html` over those papers that have a page in it.

    **Arguments:**

    - `rows`: slug → rows of the claims table.
    """
    place = place_of(site)
    cards = [
        _card(paper, site / paper.slug, rows.get(paper.slug, ()))
        for paper in papers
        if (site / paper.slug / "index.html").is_file()
    ]
    text = (
        environment()
        .get_template("index.html")
        .render(
            version=__version__,
            place=place,
            cards=cards,
            quick=any(card.quick for card in cards),
            claims=Tally([view for card in cards for view in card.claims.views]),
            verdicts=columns(card.claims for card in cards),
        )
    )
    return write_text(site / "index.html", text)


def _card(paper: Paper, directory: Path, rows: Sequence[Row]) -> Card:
    shown = with_earlier(paper, (), directory)
    headline = paper.exhibit(paper.headline)
    return Card(
        paper=paper,
        page=f"{paper.slug}/index.html",
        headline=exhibit_view(paper, headline, shown.get(headline.id)),
        made=len(shown),
        absent=len(paper.shown) - len(shown),
        agreeing=sum(result.agrees is True for result in shown.values()),
        quick=any(result.is_smaller for result in shown.values()),
        claims=Tally(claim_views(paper, rows)),
    )
