"""The claims of a page or a site: verdicts, surprises first, and how many of each."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from attnflow.claims import (
    Claim,
    Decision,
    Family,
    Judgement,
    Row,
    Scope,
    Verdict,
    circumstances,
    make_row,
)
from attnflow.claims.chance import ASSUMED, family_of
from attnflow.claims.scope import declared_runs
from attnflow.claims.table import as_expected
from attnflow.papers.base import Paper

# Rows that need attention come first.
ORDER = (Verdict.FAILS, Verdict.INCONCLUSIVE, Verdict.HOLDS, Verdict.UNCHECKED)
COLUMNS = (Verdict.HOLDS, Verdict.INCONCLUSIVE, Verdict.FAILS, Verdict.UNCHECKED)
"""The order of columns in a table of counts."""


@dataclass(frozen=True)
class ClaimView:
    """One claim as the page shows it.

    **Arguments:**

    - `row`: its result; of a claim that was not judged, the recorded verdicts, and the
      scope of the runs that it declares.
    - `is_judged`: which of the two.
    - `details`: how it is judged, label → text.
    """

    row: Row
    is_judged: bool
    details: Mapping[str, str]

    @property
    def id(self) -> str:
        """The id of the claim."""
        return self.row.id

    @property
    def verdict(self) -> Verdict:
        """The verdict on the printed statement."""
        return self.row.verdict

    @property
    def is_surprise(self) -> bool:
        """Whether a verdict differs from the recorded one."""
        return self.is_judged and not as_expected(self.row)

    @property
    def recorded(self) -> str:
        """The recorded verdicts in words."""
        return self.row.recorded

    @property
    def measured(self) -> Row | None:
        """The row where it holds numbers: of what could be checked."""
        checked = self.is_judged and self.verdict is not Verdict.UNCHECKED
        return self.row if checked else None

    @property
    def share(self) -> float | None:
        """The share of seeds in which the property held."""
        row = self.measured
        return row.held / row.seeds if row is not None and row.seeds else None


def claim_views(paper: Paper, rows: Sequence[Row]) -> list[ClaimView]:
    """Every claim of the paper, with the results of those that were judged.

    Surprises stand first, then what needs attention.
    """
    rows_by_id = {row.id: row for row in rows}
    ids = {claim.id for claim in paper.claims}
    views = [_view(row, None, is_judged=True) for row in rows if row.id not in ids]
    for claim in paper.claims:
        row = rows_by_id.get(claim.id)
        judged = row is not None
        view = _view(row or recorded_row(claim, paper), claim, is_judged=judged)
        replies = " ".join(map(str, paper.replies_to(claim.id)))
        told = {"Authors' reply": replies} if replies else {}
        views.append(replace(view, details={**told, **view.details}))
    return sorted(views, key=lambda v: (not v.is_surprise, ORDER.index(v.verdict)))


def recorded_row(claim: Claim, paper: Paper) -> Row:
    """The row of a claim that was not judged: recorded verdicts, no numbers."""
    around = circumstances(claim, declared_runs(claim, paper), paper)
    decision = Decision(claim.expected, 0, 0, None, 0.0, "")
    correction = claim.correction and replace(
        decision, verdict=claim.correction.expected
    )
    judgement = Judgement(decision, {}, correction)
    return make_row(claim, paper.slug, judgement, around, seconds=0.0)


def _view(row: Row, claim: Claim | None, *, is_judged: bool) -> ClaimView:
    """The view of a claim from its row, and its declaration where there is one."""
    details = {"Check": row.what, **_conditions(row)}
    if claim is not None:
        details |= {"System": claim.system, "Runs": claim.settings}
        details |= {"Recorded": f"{row.recorded}: {claim.source}"}
    # What would decide a claim that is open.
    more = f" At this rate, {row.more} seeds would decide." if row.more else ""
    details |= {"Numbers": f"{row.note}{more}".strip()}
    details |= {"Witness": _witness(row, claim)}
    if row.corrected is not None:
        details |= {"Correction": row.corrected.note}
    shown = {label: text for label, text in details.items() if text}
    return ClaimView(row, is_judged, shown)


def _conditions(row: Row) -> dict[str, str]:
    """What the scope was computed from, in words."""
    return {
        "Missed": "; ".join(row.missed),
        "Not decided by a number": ", ".join(row.unread),
    }


def _witness(row: Row, claim: Claim | None) -> str:
    if row.witness is None:
        reason = claim.no_witness if claim is not None else ""
        return f"none: {reason}" if reason else ""
    said = {None: "not run here", True: "agrees", False: "does not agree"}
    return f"{row.witness.script}: {said[row.witness.agrees]} {row.witness.note}"


@dataclass(frozen=True)
class Tally:
    """Counts of verdicts, in all and by scope, and what chance alone would give."""

    views: Sequence[ClaimView]

    def __len__(self) -> int:
        return len(self.views)

    @property
    def judged(self) -> int:
        """How many were judged; the others have the recorded verdict."""
        return sum(view.is_judged for view in self.views)

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many claims have each verdict, in the order of `COLUMNS`."""
        return _counts(self.views)

    @property
    def judged_counts(self) -> dict[Verdict, int]:
        """The same of those claims that were judged."""
        return _counts([view for view in self.views if view.is_judged])

    @property
    def recorded_counts(self) -> dict[Verdict, int]:
        """The same of those that were not, by their recorded verdicts."""
        return _counts([view for view in self.views if not view.is_judged])

    @property
    def words(self) -> str:
        """The counts in words: `6 hold, 1 fails, 1 unchecked`."""
        parts = [_count(number, str(v)) for v, number in self.counts.items()]
        corrections = [v.row.corrected for v in self.views if v.row.corrected]
        if corrections:
            held = sum(c.verdict is Verdict.HOLDS for c in corrections)
            parts.append(f"{held} of {len(corrections)} corrections hold")
        return ", ".join(parts)

    @property
    def by_scope(self) -> dict[str, dict[Verdict, int]]:
        """The counts for each scope that there is, statements of ours apart.

        The paper's own conditions come first.
        """
        groups = {f"{scope}{ours}": [] for scope in Scope for ours in ("", ", ours")}
        for view in self.views:
            groups[view.row.scope_and_origin].append(view)
        return {scope: _counts(views) for scope, views in groups.items() if views}

    @property
    def family(self) -> Family:
        """The verdicts that chance alone would give to those that were judged."""
        return family_of(view.row for view in self.views if view.is_judged)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What that rests on."""
        return ASSUMED if self.family.others else ()


def columns(tallies: Iterable[Tally]) -> list[Verdict]:
    """The verdicts that there are."""
    present = {verdict for tally in tallies for verdict in tally.counts}
    return [verdict for verdict in COLUMNS if verdict in present]


def _counts(views: Sequence[ClaimView]) -> dict[Verdict, int]:
    counts = Counter(view.verdict for view in views)
    return {verdict: counts[verdict] for verdict in COLUMNS if counts[verdict]}


def _count(number: int, verdict: str) -> str:
    several = {"fails": "fail", "holds": "hold"}
    return f"{number} {several.get(verdict, verdict) if number > 1 else verdict}"
