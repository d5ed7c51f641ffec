"""The claims of a page, or of a site, as a whole: how many came out how."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from attnflow.claims import Family, Scope, Verdict
from attnflow.claims.chance import ASSUMED, family_of
from attnflow.site.pages.claims import ClaimView, words

COLUMNS = (
    Verdict.HOLDS,
    Verdict.HOLDS_CORRECTED,
    Verdict.INCONCLUSIVE,
    Verdict.FAILS,
    Verdict.UNCHECKED,
)
"""From what stands to what was not looked at."""


@dataclass(frozen=True)
class Tally:
    """How the claims came out: counted, by scope, and against chance."""

    views: Sequence[ClaimView]

    def __len__(self) -> int:
        return len(self.views)

    @property
    def judged(self) -> int:
        """How many were judged; the others have the recorded verdict."""
        return sum(view.row is not None for view in self.views)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many claims have each verdict, in the order of `COLUMNS`."""
        return _counts(self.views)

    @property
    def words(self) -> str:
        """The same in words: `6 hold, 1 fails, 1 unchecked`."""
        return ", ".join(_count(n, words(v)) for v, n in self.counts.items())

    @property
    def by_scope(self) -> dict[str, dict[Verdict, int]]:
        """The counts for each scope that there is, the paper's own conditions first."""
        found = {
            str(scope): [view for view in self.views if view.scope == scope]
            for scope in Scope
        }
        return {scope: _counts(views) for scope, views in found.items() if views}

    @property
    def family(self) -> Family:
        """What chance alone would have made of those that were judged."""
        return family_of(view.row for view in self.views if view.row is not None)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What that rests on."""
        return ASSUMED if self.family.others else ()


def columns(tallies: Iterable[Tally]) -> list[tuple[Verdict, str]]:
    """The verdicts that there are, with their words."""
    there = {verdict for tally in tallies for verdict in tally.counts}
    return [(v, words(v)) for v in COLUMNS if v in there]


def _counts(views: Sequence[ClaimView]) -> dict[Verdict, int]:
    found = Counter(view.verdict for view in views)
    return {verdict: found[verdict] for verdict in COLUMNS if found[verdict]}


def _count(number: int, text: str) -> str:
    verb, space, rest = text.partition(" ")
    several = {"fails": "fail", "holds": "hold"}
    return f"{number} {several.get(verb, verb) if number > 1 else verb}{space}{rest}"
