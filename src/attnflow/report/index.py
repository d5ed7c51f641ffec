"""The index: every paper of a site at a glance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from attnflow._version import __version__
from attnflow.claims import Verdict
from attnflow.claims.verify import Row
from attnflow.paper import Paper
from attnflow.report.claims import ORDER, claim_views, counts, words
from attnflow.report.files import write_text
from attnflow.report.markup import environment
from attnflow.report.page import with_earlier
from attnflow.report.site import place_of
from attnflow.report.view import ExhibitView, exhibit_view


@dataclass(frozen=True)
class Card:
    """A paper in a few numbers, and its headline picture where that was made."""

    paper: Paper
    page: str
    headline: ExhibitView
    made: int
    agreeing: int
    quick: bool
    judged: int
    verdicts: Mapping[Verdict, int]

    @property
    def claims(self) -> int:
        """How many claims the paper has here."""
        return sum(self.verdicts.values())


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
            verdicts=[(verdict, words(verdict)) for verdict in ORDER],
        )
    )
    return write_text(site / "index.html", text)


def _card(paper: Paper, directory: Path, rows: Sequence[Row]) -> Card:
    shown = with_earlier(paper, (), directory)
    claims = claim_views(paper, rows)
    headline = paper.exhibit(paper.headline)
    return Card(
        paper=paper,
        page=f"{paper.slug}/index.html",
        headline=exhibit_view(paper, headline, shown.get(headline.id)),
        made=len(shown),
        agreeing=sum(result.agrees is True for result in shown.values()),
        quick=any(result.is_smaller for result in shown.values()),
        judged=sum(view.row is not None for view in claims),
        verdicts=counts(claims),
    )
