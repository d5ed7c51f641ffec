"""Claims as measures of a sweep: where in its parameters a theorem holds."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from attnflow.claims import Claim, Scope, verify
from attnflow.papers import paper as find_paper
from attnflow.papers.base import Paper
from attnflow.runs.runner import Runner
from attnflow.runs.verifying import judging_code
from attnflow.schema.declarations import Request
from attnflow.schema.settings import canonical_json
from attnflow.sweeps import Cell, Column


@dataclass(frozen=True)
class ClaimMeasure:
    """The verdict on a claim where its runs have the settings of a cell.

    Each run that the claim needs gets those settings of the cell that its experiment
    has, in the place of the claim's own. Verdicts elsewhere than in the claim's own
    setting have the scope `beyond`, where a failure refutes nothing.

    - `X_verdict` is the verdict, `X_margin` its margin in units of the claim's scale,
      `X_held` the share of seeds that have the property, for the claim X.
    """

    slug: str
    id: str

    @property
    def text(self) -> str:
        """The claim's id."""
        return self.id

    @property
    def identity(self) -> str:
        """The claim, and a digest of the code that judges it."""
        return f"{self.slug}/{self.id} {judging_code(self.slug)}"

    @property
    def columns(self) -> Mapping[str, Column]:
        """The verdict and its margin, over all seeds."""
        return {
            f"{self.id}_verdict": Column(by_seed=False, text=True),
            f"{self.id}_margin": Column(by_seed=False),
            f"{self.id}_held": Column(by_seed=False),
        }

    @property
    def reads(self) -> tuple[str, ...]:
        """Nothing of the cell's run: a claim names its own runs."""
        return ()

    @property
    def has_series(self) -> bool:
        """A claim names its own records."""
        return False

    def of(self, run: Any, cell: Cell) -> Mapping[str, Any]:
        """The verdict, margin and share of seeds in a cell."""
        paper = find_paper(self.slug)
        claim = paper.claim(self.id)
        moved = replace(claim, needs=_moved(paper, claim, cell.changes))
        same = _settings(paper, moved) == _settings(paper, claim)
        gather = partial(Runner(False, seeds=cell.seeds).gather, paper)
        scope = None if same else Scope.BEYOND
        row = verify(moved, paper.slug, gather, cell.seeds, scope=scope)
        values = (str(row.verdict), row.margin, row.held / max(row.seeds, 1))
        return dict(zip(self.columns, values, strict=True))


def claim_measure(paper: Paper, text: str) -> ClaimMeasure | None:
    """The measure of a claim of the paper; `None` where the text names none."""
    known = {claim.id for claim in paper.claims}
    return ClaimMeasure(paper.slug, text) if text in known else None


def check_swept(paper: Paper, measure: ClaimMeasure, keys: Mapping[str, Any]) -> None:
    """Refuse keys that no run of the claim has, or over which it goes by itself."""
    claim = paper.claim(measure.id)
    settings = _settings(paper, claim)
    for key in keys:
        own = {canonical_json(s[key]) for s in settings if key in s}
        if not own:
            raise ValueError(
                f"{claim.id} cannot be swept over {key}: none of the experiments that "
                f"it looks at has such a setting. They have {_shared(settings)}."
            )
        if len(own) > 1:
            raise ValueError(
                f"{claim.id} compares runs with {len(own)} values of {key} itself, so "
                f"that it has no map over {key}. Sweep another of {_shared(settings)}."
            )


def _moved(
    paper: Paper, claim: Claim, changes: Mapping[str, Any]
) -> dict[str, Request]:
    moved = {}
    for name, request in claim.needs.items():
        fields = asdict(paper.recipe(request.experiment).setting)
        mine = {key: value for key, value in changes.items() if key in fields}
        moved[name] = replace(request, overrides={**request.overrides, **mine})
    return moved


def _settings(paper: Paper, claim: Claim) -> list[dict[str, Any]]:
    return [
        asdict(paper.recipe(request.experiment).with_overrides(request.overrides))
        for request in claim.needs.values()
    ]


def _shared(settings: list[dict[str, Any]]) -> str:
    """The keys that all runs of a claim have with one value, in words."""
    keys = [
        key
        for key in settings[0]
        if all(key in s and s[key] == settings[0][key] for s in settings)
    ]
    return ", ".join(keys) or "none in common"
