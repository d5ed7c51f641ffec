"""The neighbourhood of a claim: what its statement rests on, and what rests on it."""

from collections.abc import Iterable
from dataclasses import dataclass

from attnflow.claims import recorded_words
from attnflow.papers.base import Paper
from attnflow.papers.inventory import statements_with, users_of


@dataclass(frozen=True)
class Neighbour:
    """A statement of the paper, and the recorded verdicts of its claims by their ids.

    `claims` is empty where nothing judges it.
    """

    id: str
    claims: dict[str, str]


@dataclass(frozen=True)
class Neighbourhood:
    """The statements that a claim judges, those they rest on, and those that use them.

    The first are ids: the claim itself is one of those that judge them.
    """

    judges: tuple[str, ...]
    uses: tuple[Neighbour, ...]
    used_by: tuple[Neighbour, ...]


def neighbourhood(paper: Paper, claim: str) -> Neighbourhood:
    """The statements around a claim, from the paper's inventory."""
    statements = paper.statements
    return Neighbourhood(
        tuple(statement.id for statement in statements_with(statements, claim)),
        _neighbours(paper, paper.uses_of(claim)),
        _neighbours(paper, users_of(statements, claim)),
    )


def _neighbours(paper: Paper, ids: Iterable[str]) -> tuple[Neighbour, ...]:
    claims = {statement.id: statement.claims for statement in paper.statements}
    recorded = {claim.id: recorded_words(claim) for claim in paper.claims}
    return tuple(
        Neighbour(id, {c: recorded[c] for c in claims.get(id, ()) if c in recorded})
        for id in ids
    )
