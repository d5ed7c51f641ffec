"""Everything that a reader may want to know of a verdict, as one record."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from attnflow.claims import Claim, Evidence, Row, Scope, Seeds, Verdict, make_row, plain
from attnflow.claims import judge as judge_claim
from attnflow.claims.source_code import Source, sources
from attnflow.papers.base import Paper
from attnflow.schema import setting_of
from attnflow.schema.conditions import Condition
from attnflow.site.explain.failing import Broken, broken, fails_where
from attnflow.site.explain.watching import Seen, watch

MET = {
    Scope.THEOREM: "all of them are met, with the constants that are printed there",
    Scope.EXPERIMENT: "not all are met: these are the paper's own sizes",
    Scope.BEYOND: "they are not met: this goes beyond what the paper speaks of",
}


@dataclass(frozen=True)
class Explanation:
    """A claim with its work.

    **Arguments:**

    - `row`: its line of the claims table.
    - `met`: which of its conditions are met; `conditions`: by run, the items that the
      paper gives as numbers.
    - `settings`: by run its experiment, what was changed there, and the seeds.
    - `looked_at`: the variables of the runs that the judge read.
    - `seeds`: by check, held and margin of each seed.
    - `fails_where`: by check, what would have to be measured for it not to hold.
    - `broken`: what it comes to on its mutated runs.
    """

    claim: Claim
    row: Row
    met: str
    conditions: dict[str, list[Condition]]
    code: list[Source]
    settings: dict[str, dict[str, Any]]
    looked_at: tuple[str, ...]
    seeds: dict[str, list[dict[str, Any]]]
    fails_where: list[str]
    broken: list[Broken]
    seen: Seen

    def as_json(self) -> dict[str, Any]:
        """The explanation in plain Python, without what its row has."""
        names = ("met", "settings", "looked_at", "seeds", "fails_where")
        return {
            "conditions": self.claim.conditions,
            "items": {
                name: [plain(item.as_json()) for item in items]
                for name, items in self.conditions.items()
            },
            "predicate": self.claim.predicate,
            "system": self.claim.system,
            "source": self.claim.source,
            **{name: plain(getattr(self, name)) for name in names},
            "code": [asdict(source) for source in self.code],
            "broken": [plain(asdict(one)) for one in self.broken],
        }


def explain(paper: Paper, claim: Claim, evidence: Evidence) -> Explanation:
    """Judge a claim on its runs and keep all that led to the verdict."""
    found = judge_claim(claim, evidence)
    row = make_row(claim, paper.slug, found, seconds=0.0)
    deciding = claim.judge
    if claim.correction and row.verdict is Verdict.HOLDS_CORRECTED:
        deciding = claim.correction.judge
    seen = watch(deciding, evidence)
    return Explanation(
        claim=claim,
        row=row,
        met=f"Scope {row.scope}: {MET[row.scope]}.",
        conditions=_conditions(paper, evidence),
        code=sources(deciding),
        settings={name: _setting(run, claim, name) for name, run in evidence.items()},
        looked_at=seen.read,
        seeds=_seeds(seen, evidence),
        fails_where=[fails_where(check) for check in seen.finding.checks],
        broken=broken(claim, evidence),
        seen=seen,
    )


def _conditions(paper: Paper, evidence: Evidence) -> dict[str, list[Condition]]:
    """By run the items of its paper's conditions, where those are numbers."""
    if paper.conditions is None:
        return {}
    found = {name: paper.conditions(setting_of(run)) for name, run in evidence.items()}
    return {name: items for name, items in found.items() if items}


def _setting(run: Any, claim: Claim, name: str) -> dict[str, Any]:
    request = claim.needs[name]
    return {
        "experiment": request.experiment,
        "changed": dict(request.overrides),
        "seeds": [int(seed) for seed in run["seed"].values],
        "form": run.attrs.get("form", ""),
        "id": run.attrs.get("id", ""),
    }


def _seeds(seen: Seen, evidence: Evidence) -> dict[str, list[dict[str, Any]]]:
    """By check over seeds, what each seed gave."""
    return {
        check.what: [
            {"seed": seed, "held": bool(held), "margin": margin}
            for seed, held, margin in zip(
                seed_names(len(check.held), evidence),
                check.held,
                check.margin,
                strict=True,
            )
        ]
        for check in seen.finding.checks
        if isinstance(check, Seeds)
    }


def seed_names(count: int, evidence: Evidence) -> list[str]:
    """What the entries of a check over seeds are called.

    By the seeds of a run that has as many; by run and seed where that many runs stand
    one after the other; by number otherwise.
    """
    runs: Mapping[str, list[str]] = {
        name: [str(seed) for seed in run["seed"].values.tolist()]
        for name, run in evidence.items()
    }
    for seeds in runs.values():
        if len(seeds) == count:
            return seeds
    every = [f"{name}: {seed}" for name, seeds in runs.items() for seed in seeds]
    return every if len(every) == count else [str(n + 1) for n in range(count)]
