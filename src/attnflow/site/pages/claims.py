"""The claims table as the page shows it: surprises first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attnflow.claims import Claim, Row, Verdict, as_expected
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

    `row` is what came out when it was judged, or `None`: then the verdict is the
    `recorded` one. `details` says how it is judged, label → text.
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
    def words(self) -> str:
        """The verdict as a reader reads it."""
        return words(self.verdict)

    @property
    def recorded_words(self) -> str:
        """The recorded verdict as a reader reads it."""
        return words(self.recorded)

    @property
    def is_surprise(self) -> bool:
        """Whether it came out otherwise than recorded."""
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
    def numbers(self) -> Mapping[str, Any]:
        """What was measured, name → number or list."""
        return self.row.numbers if self.row is not None else {}


def words(verdict: Verdict) -> str:
    """A verdict as a reader reads it."""
    return WORDS.get(verdict, str(verdict))


def claim_views(paper: Paper, rows: Sequence[Row]) -> list[ClaimView]:
    """Every claim of the paper, with what came out of those that were judged.

    Surprises stand first, then what needs attention.
    """
    judged = {row.id: row for row in rows}
    views = [_judged(row, None) for row in rows if row.id not in _ids(paper)]
    for claim in paper.claims:
        row = judged.get(claim.id)
        views.append(_recorded(claim) if row is None else _judged(row, claim))
    return sorted(views, key=lambda v: (not v.is_surprise, ORDER.index(v.verdict)))


def _ids(paper: Paper) -> set[str]:
    return {claim.id for claim in paper.claims}


def _recorded(claim: Claim) -> ClaimView:
    corrected = claim.expected is Verdict.HOLDS_CORRECTED and claim.correction
    return _view(
        claim,
        verdict=claim.expected,
        recorded=claim.expected,
        correction=corrected.statement if corrected else "",
        details=_details(claim.predicate, "", claim),
    )


def _judged(row: Row, claim: Claim | None) -> ClaimView:
    return _view(
        row,
        verdict=row.verdict,
        recorded=row.expected,
        correction=row.correction,
        details=_details(row.what, _found(row), claim),
        row=row,
    )


def _view(said: Claim | Row, **found: Any) -> ClaimView:
    """A view of what a claim says, which its row says again, and of what came out."""
    return ClaimView(
        id=said.id,
        place=said.place,
        statement=said.statement,
        origin=said.origin,
        scope=str(said.scope),
        **found,
    )


def _details(predicate: str, found: str, claim: Claim | None) -> dict[str, str]:
    """How a claim is judged, label → text, without what is empty."""
    details = {"Check": predicate}
    if claim is not None:
        conditions = "" if claim.conditions == "none" else claim.conditions
        details |= {"System": claim.system, "Conditions": conditions}
        details |= {"Recorded": f"{words(claim.expected)}: {claim.source}"}
    details |= {"Found": found}
    return {label: text for label, text in details.items() if text}


def _found(row: Row) -> str:
    """The numbers behind a verdict, and what would decide one that is open."""
    more = f" At this rate, {row.more} seeds would decide." if row.more else ""
    return f"{row.note}{more}".strip()
