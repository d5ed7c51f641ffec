"""The claims of a paper, judged one after the other."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import xarray as xr

from attnflow.claims import Claim
from attnflow.claims.verify import ClaimsTable, Row, verify
from attnflow.paper import Paper, Request
from attnflow.runner import Progress, Runner

if TYPE_CHECKING:
    from attnflow.store import Store

Gather = Callable[[Paper, Mapping[str, Request]], dict[str, Any]]


class ClaimsView:
    """A paper's claims: iterate over them, look one up by its id, verify them."""

    def __init__(self, paper: Paper):
        self.paper = paper

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.paper.claim_list)

    def __len__(self) -> int:
        return len(self.paper.claim_list)

    def __getitem__(self, id: str) -> Claim:
        return self.paper.claim(id)

    def __repr__(self) -> str:
        lines = [f"{c.id}  {c.expected}  {c.statement}" for c in self]
        return "\n".join([f"{len(self)} claims of {self.paper.slug}", *lines])

    def verify(
        self,
        *ids: str,
        seeds: int = 5,
        store: "Store | None" = None,
        progress: Progress | None = None,
    ) -> ClaimsTable:
        """Judge the claims with these ids, or all, and return the claims table."""
        claims = [self[id] for id in ids] if ids else list(self)
        runner = Runner(store, seeds=seeds, progress=progress)
        return ClaimsTable(tuple(judge(self.paper, claims, runner.gather, seeds=seeds)))


def judge(
    paper: Paper,
    claims: Sequence[Claim],
    gather: Gather,
    *,
    seeds: int,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Row]:
    """Judge the `claims`; `tell` is told which one is next."""
    for k, claim in enumerate(claims):
        if tell:
            tell(f"{claim.id} ({k + 1} of {len(claims)})")
        yield verify(claim, paper, gather, seeds)


def claims_about(run: xr.Dataset, paper: Paper, claims: Iterable[Claim]) -> list[Claim]:
    """Those of the `claims` that need one run, of the experiment that `run` is of."""
    about = (run.attrs.get("paper", paper.slug), run.attrs.get("experiment"))
    return [
        claim
        for claim in claims
        if len(claim.needs) == 1
        and about[0] == paper.slug
        and about[1] in (None, *(need.experiment for need in claim.needs.values()))
    ]


def gather_only(run: xr.Dataset) -> Gather:
    """A gatherer that has this one `run` to give, whatever is asked for."""
    return lambda paper, needs: dict.fromkeys(needs, run)
