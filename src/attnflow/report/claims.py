"""The claims table as the page shows it: surprises first."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from attnflow.claims import Claim, Verdict
from attnflow.claims.table import as_expected
from attnflow.claims.verify import Row
from attnflow.paper import Paper

# What deserves a reader's eye comes first.
ORDER = (
    Verdict.FAILS,
    Verdict.HOLDS_CORRECTED,
    Verdict.INCONCLUSIVE,
    Verdict.HOLDS,
    Verdict.UNCHECKED,
)
WORDS = {Verdict.HOLDS_CORRECTED: "holds after correction"}


def words(verdict: Verdict) -> str:
    """A verdict as a reader reads it."""
    return WORDS.get(verdict, str(verdict))


def tally(rows: Sequence[Row]) -> str:
    """How many claims got each verdict: `1 fails, 6 hold, 1 unchecked`."""
    found = Counter(row.verdict for row in rows)
    return ", ".join(_count(found[v], words(v)) for v in ORDER if found[v])


def _count(number: int, text: str) -> str:
    verb, space, rest = text.partition(" ")
    several = {"fails": "fail", "holds": "hold"}
    return f"{number} {several.get(verb, verb) if number > 1 else verb}{space}{rest}"


def claim_views(paper: Paper, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows with their claims, surprises first, then by what needs attention."""
    claims = {claim.id: claim for claim in paper.claim_list}
    ordered = sorted(rows, key=lambda row: (as_expected(row), ORDER.index(row.verdict)))
    return [_view(row, claims) for row in ordered]


def _view(row: Row, claims: Mapping[str, Claim]) -> dict[str, Any]:
    checked = row.verdict is not Verdict.UNCHECKED
    return {
        "row": row,
        "words": words(row.verdict),
        "recorded": "" if as_expected(row) else words(row.expected),
        "share": row.held / row.seeds if checked and row.seeds else None,
        "margin": row.margin if checked else None,
        "details": _details(row, claims.get(row.id)),
    }


def _details(row: Row, claim: Claim | None) -> dict[str, str]:
    """How a claim was judged, label → text, without what is empty."""
    details = {"Check": claim.predicate if claim else row.what}
    if claim is not None:
        conditions = "" if claim.conditions == "none" else claim.conditions
        details |= {"System": claim.system, "Conditions": conditions}
        details |= {"Record": f"{words(claim.expected)} ({claim.source})"}
    details |= {"Found": row.note}
    return {label: text for label, text in details.items() if text}
