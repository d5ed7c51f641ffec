"""The claims of a page or a site: verdicts, surprises first, and how many of each."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from attnflow.claims import Claim, Family, Row, Scope, Verdict
from attnflow.claims.chance import ASSUMED, family_of
from attnflow.claims.table import as_expected
from attnflow.papers.base import Paper

# What deserves a reader's eye comes first.
ORDER = (
    Verdict.FAILS,
    Verdict.HOLDS_CORRECTED,
    Verdict.INCONCLUSIVE,
    Verdict.HOLDS,
    Verdict.UNCHECKED,
)
WORDS = {Verdict.HOLDS_CORRECTED: "holds after correction"}


@dataclass(frozen=True)
class ClaimView:
    """One claim as the page shows it.

    `row` has the result where it was judged; without it the verdict is the `recorded`
    one. `details` says how it is judged, label → text.
    """

    id: str
    place: str
    statement: str
    origin: str
    scope: str
    verdict: Verdict
    recorded: Verdict
    correction: str
    details: Mapping[str, str]
    row: Row | None = None

    @property
    def is_surprise(self) -> bool:
        """Whether its verdict differs from the recorded one."""
        return self.row is not None and not as_expected(self.row)

    @property
    def measured(self) -> Row | None:
        """The row where it holds numbers: of what could be checked."""
        checked = self.row is not None and self.row.verdict is not Verdict.UNCHECKED
        return self.row if checked else None

    @property
    def share(self) -> float | None:
        """The share of seeds in which the property held."""
        row = self.measured
        return row.held / row.seeds if row is not None and row.seeds else None

    @property
    def numbers(self) -> Mapping[str, object]:
        """The numbers behind the verdict, name → number or list."""
        return self.row.numbers if self.row is not None else {}


def words(verdict: Verdict) -> str:
    """A verdict in words."""
    return WORDS.get(verdict, str(verdict))


def claim_views(paper: Paper, rows: Sequence[Row]) -> list[ClaimView]:
    """Every claim of the paper, with the results of those that were judged.

    Surprises stand first, then what needs attention.
    """
    rows_by_id = {row.id: row for row in rows}
    ids = {claim.id for claim in paper.claims}
    views = [_view(row, None, row) for row in rows if row.id not in ids]
    for claim in paper.claims:
        row = rows_by_id.get(claim.id)
        views.append(_view(row or claim, claim, row))
    return sorted(views, key=lambda v: (not v.is_surprise, ORDER.index(v.verdict)))


def _view(texts: Claim | Row, claim: Claim | None, row: Row | None) -> ClaimView:
    """The view of a claim from its declaration, its row, or both.

    `texts` is the one that has its statement; a row repeats the claim's.
    """
    if row is not None:
        correction, details = row.correction, {"Check": row.what}
    else:
        assert claim is not None
        corrected = claim.expected is Verdict.HOLDS_CORRECTED and claim.correction
        correction = corrected.statement if corrected else ""
        details = {"Check": claim.predicate}
    if claim is not None:
        conditions = "" if claim.conditions == "none" else claim.conditions
        details |= {"System": claim.system, "Conditions": conditions}
        details |= {"Recorded": f"{words(claim.expected)}: {claim.source}"}
    if row is not None:
        # What would decide a claim that is open.
        more = f" At this rate, {row.more} seeds would decide." if row.more else ""
        details |= {"Found": f"{row.note}{more}".strip()}
    return ClaimView(
        id=texts.id,
        place=texts.place,
        statement=texts.statement,
        origin=texts.origin,
        scope=str(texts.scope),
        verdict=texts.expected if row is None else row.verdict,
        recorded=texts.expected,
        correction=correction,
        details={label: text for label, text in details.items() if text},
        row=row,
    )


COLUMNS = (
    Verdict.HOLDS,
    Verdict.HOLDS_CORRECTED,
    Verdict.INCONCLUSIVE,
    Verdict.FAILS,
    Verdict.UNCHECKED,
)
"""The order of columns in a table of counts."""


@dataclass(frozen=True)
class Tally:
    """Counts of verdicts, in all and by scope, and what chance alone would give."""

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
        counts = {
            str(scope): _counts([view for view in self.views if view.scope == scope])
            for scope in Scope
        }
        return {scope: verdicts for scope, verdicts in counts.items() if verdicts}

    @property
    def family(self) -> Family:
        """The verdicts that chance alone would give to those that were judged."""
        return family_of(view.row for view in self.views if view.row is not None)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What that rests on."""
        return ASSUMED if self.family.others else ()


def columns(tallies: Iterable[Tally]) -> list[tuple[Verdict, str]]:
    """The verdicts that there are, with their words."""
    present = {verdict for tally in tallies for verdict in tally.counts}
    return [(v, words(v)) for v in COLUMNS if v in present]


def _counts(views: Sequence[ClaimView]) -> dict[Verdict, int]:
    counts = Counter(view.verdict for view in views)
    return {verdict: counts[verdict] for verdict in COLUMNS if counts[verdict]}


def _count(number: int, text: str) -> str:
    verb, space, rest = text.partition(" ")
    several = {"fails": "fail", "holds": "hold"}
    return f"{number} {several.get(verb, verb) if number > 1 else verb}{space}{rest}"
