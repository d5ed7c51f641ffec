"""Claims as statistics of a sweep: where in its parameters a theorem holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial

from attnflow.claims import Claim, verify
from attnflow.papers import paper as find_paper
from attnflow.papers.base import Paper
from attnflow.runs.runner import Runner
from attnflow.runs.verify import judging_code
from attnflow.schema.declarations import Request
from attnflow.schema.installation import xr
from attnflow.schema.settings import canonical_json
from attnflow.sweeps.grid import Value
from attnflow.sweeps.statistic import Cell, Column, Outline


@dataclass(frozen=True)
class ClaimStatistic:
    """The verdict on a claim where its runs have the settings of a cell.

    Each run that the claim needs gets those settings of the cell that its experiment
    has, in the place of the claim's own. The scope is computed from these: beyond the
    conditions of the statement a failure counts against nobody.

    - `X_verdict` is the verdict on the printed statement of the claim X, `X_scope` its
      scope, `X_margin` its margin in units of the claim's scale, `X_held` the share of
      seeds that have the property. `X_corrected` is the verdict on its correction,
      where it has one.
    """

    slug: str
    id: str

    @property
    def outline(self) -> Outline:
        """Verdict, scope, margin and share of seeds, of runs that the claim names."""
        paper = find_paper(self.slug)
        claim = paper.claim(self.id)
        code = judging_code(paper, claim)
        texts = ("verdict", "scope", *(["corrected"] if claim.correction else []))
        return Outline(
            self.id,
            # The claim, and a digest of the code that judges it.
            identity=f"{self.slug}/{self.id} {code}",
            columns={
                **{f"{self.id}_{t}": Column(by_seed=False, text=True) for t in texts},
                f"{self.id}_margin": Column(by_seed=False),
                f"{self.id}_held": Column(by_seed=False),
            },
        )

    def of(self, run: xr.Dataset | None, cell: Cell) -> Mapping[str, str | float]:
        """The verdict, scope, margin and share of seeds in a cell."""
        paper = find_paper(self.slug)
        claim = paper.claim(self.id)
        moved = replace(claim, needs=_moved(paper, claim, cell.changes))
        gather = partial(Runner(False, seeds=cell.seeds).gather, paper)
        row = verify(moved, paper, gather, cell.seeds)
        corrected = row.corrected and {f"{self.id}_corrected": row.corrected.verdict}
        return {
            f"{self.id}_verdict": str(row.verdict),
            f"{self.id}_scope": str(row.scope),
            **(corrected or {}),
            f"{self.id}_margin": row.margin,
            f"{self.id}_held": row.held / max(row.seeds, 1),
        }


def check_swept(paper: Paper, statistic: ClaimStatistic, keys: Iterable[str]) -> None:
    """Refuse keys that no run of the claim has, or of which it compares values."""
    claim = paper.claim(statistic.id)
    settings = _settings(paper, claim)
    for key in keys:
        values = {canonical_json(s[key]) for s in settings if key in s}
        if not values:
            raise ValueError(
                f"{claim.id} cannot be swept over {key}: none of the experiments that "
                f"it looks at has such a setting. They have {_shared(settings)}."
            )
        if len(values) > 1:
            raise ValueError(
                f"{claim.id} compares runs with {len(values)} values of {key} itself, "
                f"so that it has no map over {key}. Sweep another of "
                f"{_shared(settings)}."
            )


def _moved(
    paper: Paper, claim: Claim, changes: Mapping[str, Value]
) -> dict[str, Request]:
    moved = {}
    for name, request in claim.needs.items():
        fields = asdict(paper.recipe(request.experiment).setting)
        swept = {key: value for key, value in changes.items() if key in fields}
        moved[name] = replace(request, overrides={**request.overrides, **swept})
    return moved


def _settings(paper: Paper, claim: Claim) -> list[dict[str, Value]]:
    return [
        asdict(paper.recipe(request.experiment).with_overrides(request.overrides))
        for request in claim.needs.values()
    ]


def _shared(settings: list[dict[str, Value]]) -> str:
    """The keys that all runs of a claim have with one value, in words."""
    keys = [
        key
        for key in settings[0]
        if all(key in s and s[key] == settings[0][key] for s in settings)
    ]
    return ", ".join(keys) or "none in common"
