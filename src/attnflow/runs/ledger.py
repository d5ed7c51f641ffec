"""Papers to work with in Python: `af.paper`, and claims that can be verified."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from attnflow.claims import Claim, ClaimsTable, recorded_words
from attnflow.papers import paper as find_paper
from attnflow.papers.base import Paper
from attnflow.runs.progress import Progress, shown
from attnflow.runs.runner import Runner
from attnflow.runs.store import Store
from attnflow.runs.user_run import judge_user_run
from attnflow.runs.verify import verify_claims
from attnflow.schema.facts import AbstractPresentable, Facts
from attnflow.schema.installation import xr


def paper(slug: str) -> PaperView:
    """The paper with this short name, ours or another package's.

    It prints as what there is of it. Its parts are `recipes` (experiments), `exhibits`
    (figures and tables), `claims`, `notes` and `inventory`; `recipe(id)`, `exhibit(id)`
    and `claim(id)` find one of them.

    !!! example

        >>> import attnflow as af
        >>> paper = af.paper("mixture")
        >>> paper.recipe("figure1").setting.width
        128
        >>> paper.claim("B-L6.1").place
        'Lemma 6.1'
        >>> af.paper("mixtures")
        Traceback (most recent call last):
        ...
        attnflow.schema.settings.UnknownName: There is no paper 'mixtures'. Did you ...
    """
    return PaperView(find_paper(slug))


class PaperView(AbstractPresentable):
    """A paper to work with: its declarations, and claims that can be verified.

    `declared` is the `Paper` itself, whose attributes are also those of the view.
    """

    def __init__(self, declared: Paper):
        self.declared = declared

    @property
    def claims(self) -> ClaimsView:
        """The claims, to read or to check: `paper.claims.verify(seeds=5)`."""
        return ClaimsView(self.declared)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.declared, name)

    def facts(self) -> Facts:
        """What there is of this paper, by name."""
        return self.declared.facts()


class ClaimsView(AbstractPresentable):
    """A paper's claims: iterate over them, look one up by its id, verify them.

    !!! example

        >>> import attnflow as af
        >>> claims = af.paper("mixture").claims
        >>> claims["B-L6.1"].system
        'exact: every sample of the population, by enumeration'

    `claims.verify("B-L6.1")` judges one of them, `claims.verify(seeds=5)` all, with
    five seeds where that is left open; both give a `ClaimsTable`.
    """

    def __init__(self, paper: Paper):
        self.paper = paper

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.paper.claims)

    def __len__(self) -> int:
        return len(self.paper.claims)

    def __getitem__(self, id: str) -> Claim:
        return self.paper.claim(id)

    def facts(self) -> Facts:
        """All claims, with the verdicts that are recorded of them."""
        rows = [
            (c.id, c.place, str(c.kind), recorded_words(c), c.statement) for c in self
        ]
        return Facts(
            f"{len(self)} claims of {self.paper.slug}",
            (),
            (("claim", "place", "kind", "recorded", "statement"), rows),
            f'af.paper("{self.paper.slug}").claims.verify(seeds=5)',
        )

    def verify(
        self,
        *ids: str,
        seeds: int = 5,
        store: Store | Literal[False] | None = None,
        workers: int | None = None,
        progress: Progress | None = None,
        run: xr.Dataset | None = None,
    ) -> ClaimsTable:
        """Judge the claims with these ids, or all of them, in parallel.

        Runs and verdicts are kept: what was judged before with the same code is read.

        **Arguments:**

        - `seeds`: how many, for claims that leave it open.
        - `store`: where runs are kept; `None` is your own store, `False` a temporary
          one.
        - `workers`: how many processes, one for each core without it; 0 for this one
          alone.
        - `progress`: called with a fraction and a message; without it, a notebook
          shows a bar.
        - `run`: a run of your own, in the place of ours of its experiment; then those
          claims alone that look at it are judged.
        """
        claims = [self[id] for id in ids] if ids else list(self)
        with shown(progress) as bar:
            if run is not None:
                runner = Runner(store, progress=bar)
                rows = judge_user_run(self.paper, claims, run, runner, seeds=seeds)
                return ClaimsTable(tuple(rows))
            rows = verify_claims(
                [(self.paper, claims)],
                seeds=seeds,
                store=store,
                workers=workers,
                progress=bar,
            )
        return ClaimsTable(tuple(rows))
