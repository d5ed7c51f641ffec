"""The statements of a paper: what judges their parts, and what they rest on.

And what the paper leaves unspecified, with the alternatives that were run.
"""

import typing
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Literal

from attnflow.claims import Scope, Verdict
from attnflow.papers.base import Paper
from attnflow.papers.inventory import HOW, Part, Statement
from attnflow.schema.declarations import Exhibit, Request
from attnflow.site.pages.claims import ClaimView
from attnflow.site.pages.files import anchor

NOT_JUDGED = "not judged"
UNSAID = "unsaid"
"""How a part is judged whose inventory does not say it."""


class Standing(StrEnum):
    """What is known of a statement, the worst first."""

    FAILS = "fails"
    CORRECTED = "corrected"
    INCONCLUSIVE = "inconclusive"
    HOLDS = "holds"
    OPEN = "open"

    @property
    def words(self) -> str:
        """As a reader says it."""
        return NOT_JUDGED if self is Standing.OPEN else str(self)


def standing_of(view: ClaimView) -> Standing:
    """What a claim's verdicts say of its statement."""
    corrected = view.row.corrected
    if view.verdict is Verdict.UNCHECKED:
        return Standing.OPEN
    if view.verdict is Verdict.HOLDS:
        return Standing.HOLDS
    if corrected is not None and corrected.verdict is Verdict.HOLDS:
        return Standing.CORRECTED
    return Standing(str(view.verdict))


def worst(standings: Iterable[Standing]) -> Standing:
    """The worst of several; `OPEN` where there is none."""
    return min(standings, key=list(Standing).index, default=Standing.OPEN)


@dataclass(frozen=True)
class PartView:
    """A part of a statement with the claims that judge it."""

    part: Part
    claims: tuple[ClaimView, ...]

    @property
    def how(self) -> str:
        """`whole`, `special case`, `consequence`, or `not judged`."""
        return (self.part.how or UNSAID) if self.claims else NOT_JUDGED

    @property
    def standing(self) -> Standing:
        """The worst that a claim says of it."""
        return worst(map(standing_of, self.claims))

    @property
    def is_beyond(self) -> bool:
        """Whether it was judged, and only beyond the conditions of its statement."""
        scopes = {view.row.scope for view in self.claims}
        return scopes == {Scope.BEYOND}

    @property
    def words(self) -> str:
        """The part, and the words of the claim that says the worst of it."""
        worst_claim = next(v for v in self.claims if standing_of(v) is self.standing)
        name = f"{self.part.part}: " if self.part.part else ""
        return f"{name}{worst_claim.row.words}"


@dataclass(frozen=True)
class StatementView:
    """A statement with its parts; `links` are its figures, tables and notes."""

    statement: Statement
    parts: tuple[PartView, ...]
    links: tuple[tuple[str, str], ...]

    @property
    def id(self) -> str:
        """Its name in the paper."""
        return self.statement.id

    @property
    def anchor(self) -> str:
        """Its id within the page."""
        return anchor("statement", self.id)

    @property
    def standing(self) -> Standing:
        """The worst that is known of one of its parts."""
        return worst(part.standing for part in self.parts)

    @property
    def is_beyond(self) -> bool:
        """Whether all that was judged was judged beyond its conditions."""
        judged = [part for part in self.parts if part.claims]
        return bool(judged) and all(part.is_beyond for part in judged)

    @property
    def weak_part(self) -> PartView | None:
        """The part that does not stand as printed, judged within its conditions."""
        weak = [
            part
            for part in self.parts
            if part.standing not in (Standing.HOLDS, Standing.OPEN)
            and not part.is_beyond
        ]
        order = list(Standing)
        return min(weak, key=lambda part: order.index(part.standing), default=None)


def statement_views(
    paper: Paper, claims: Sequence[ClaimView]
) -> dict[str, StatementView]:
    """The statements of a paper by their ids, with what judges each part."""
    views = {view.id: view for view in claims}
    anchors = {e.id: anchor("exhibit", e.id) for e in paper.shown}
    anchors |= {n.id: anchor("note", n.id) for n in paper.notes}
    return {
        statement.id: StatementView(
            statement,
            tuple(
                PartView(part, tuple(views[id] for id in part.claims if id in views))
                for part in statement.parts
            ),
            tuple(
                (id, anchors[id])
                for id in (*statement.exhibits, *statement.covered_by)
                if id in anchors
            ),
        )
        for statement in paper.statements
    }


def part_counts(views: Iterable[StatementView]) -> dict[str, int]:
    """How many parts are judged whole, in a special case …, or not at all."""
    counts = Counter(part.how for view in views for part in view.parts)
    return {how: counts[how] for how in (*HOW, UNSAID, NOT_JUDGED) if counts[how]}


def foundations(id: str, views: Mapping[str, StatementView]) -> list[StatementView]:
    """All that the proof of a statement rests on, the nearest first."""
    found: dict[str, None] = {}
    waiting = list(views[id].statement.uses)
    while waiting:
        used = waiting.pop(0)
        if used in views and used not in found and used != id:
            found[used] = None
            waiting += views[used].statement.uses
    return [views[used] for used in found]


def rests_on(id: str, views: Mapping[str, StatementView]) -> str:
    """A statement's standing and its weakest link, in words.

    `holds; rests on Lemma 6.1 (proof: fails as printed; holds with another constant)`
    """
    own, below = views[id].standing.words, foundations(id, views)
    weak = [view for view in below if view.weak_part is not None]
    if weak:
        standing = worst(v.weak_part.standing for v in weak if v.weak_part)
        link = next(v for v in weak if v.weak_part and v.weak_part.standing is standing)
        assert link.weak_part is not None
        return f"{own}; rests on {link.id} ({link.weak_part.words})"
    if not below:
        return own
    judged = sum(view.standing is not Standing.OPEN for view in below)
    number = f"{len(below)} statement{'s' if len(below) > 1 else ''}"
    return f"{own}; rests on {number}, of which {judged} judged and none failing"


@dataclass
class Choice:
    """A value of a setting, and the exhibits and claims that use it."""

    setting: str
    value: str
    exhibits: dict[str, Exhibit] = field(default_factory=dict)
    claims: set[str] = field(default_factory=set)


def silent_readings(paper: Paper) -> dict[str, list[Exhibit]]:
    """What the paper leaves unspecified: each reading, and the exhibits that use it."""
    readings: dict[str, list[Exhibit]] = {}
    for exhibit in paper.shown:
        for text in exhibit.silent:
            readings.setdefault(text, []).append(exhibit)
    return readings


def tried_choices(paper: Paper) -> list[list[Choice]]:
    """Settings that name alternatives, of which two or more were run.

    They are read off the runs that exhibits and claims request, so that nothing is
    listed that was not tried.
    """
    choices: dict[str, dict[str, Choice]] = {}
    for owner in (*paper.exhibits, *paper.claims):
        for name, value in _alternatives(paper, owner.needs.values()):
            values = choices.setdefault(name, {})
            choice = values.setdefault(value, Choice(name, value))
            if isinstance(owner, Exhibit):
                choice.exhibits[owner.id] = owner
            else:
                choice.claims.add(owner.id)
    return [list(values.values()) for values in choices.values() if len(values) > 1]


def _alternatives(
    paper: Paper, requests: Iterable[Request]
) -> Iterator[tuple[str, str]]:
    """The fields of settings whose values are named alternatives, and these values."""
    for request in requests:
        setting = paper.recipe(request.experiment).with_overrides(request.overrides)
        hints = typing.get_type_hints(type(setting))
        for name in (f.name for f in fields(setting)):
            if typing.get_origin(hints[name]) is Literal:
                yield name, str(getattr(setting, name))
