"""The record that a paper is: declarations, and nothing that computes."""

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import xarray as xr

from attnflow.claims import Claim
from attnflow.claims.stages import StageRow
from attnflow.schema.conditions import Condition
from attnflow.schema.declarations import Exhibit, Note, Recipe, Statistic
from attnflow.schema.facts import AbstractPresentable, Facts
from attnflow.schema.settings import look_up


@dataclass(frozen=True, repr=False)
class Paper(AbstractPresentable):
    """A paper: experiments, figures and tables, claims, notes, inventory.

    `slug` is its short name, and `letter` what ids of its claims and notes begin with:
    a letter for attnflow's own papers, a word such as `Needle` for all others.
    `stage_table` gives, for a run, the stages of training with the paper's own
    formula for their times beside what was detected. `maps` are exhibits that take
    sweeps, and minutes: they are made when they are asked for. `statistics` are what
    sweeps can compute beside observables and claims. `conditions` gives, for the
    setting of a run, the conditions of the paper's theorems, item by item.
    """

    slug: str
    letter: str
    title: str
    version_read: str
    bibtex: str
    recipes: tuple[Recipe, ...]
    exhibits: tuple[Exhibit, ...]
    claims: tuple[Claim, ...]
    notes: tuple[Note, ...]
    inventory: Mapping[str, Any]
    headline: str
    headline_claims: tuple[str, ...]
    summary: str
    stage_table: Callable[[xr.Dataset], list[StageRow]] | None = None
    maps: tuple[Exhibit, ...] = ()
    statistics: tuple[Statistic, ...] = ()
    conditions: Callable[[Mapping[str, Any]], list[Condition]] | None = None

    @property
    def shown(self) -> tuple[Exhibit, ...]:
        """All figures and tables, then the maps."""
        return (*self.exhibits, *self.maps)

    def facts(self) -> Facts:
        """What there is of this paper, by name."""
        verdicts = Counter(str(claim.expected) for claim in self.claims)
        recorded = ", ".join(
            f"{count} {verdict}" for verdict, count in verdicts.items()
        )
        return Facts(
            f"{self.slug}: {self.title}",
            (
                ("read", self.version_read),
                ("about", self.summary),
                ("experiments", ", ".join(recipe.id for recipe in self.recipes)),
                ("exhibits", ", ".join(exhibit.id for exhibit in self.exhibits)),
                ("claims", f"{len(self.claims)} (recorded: {recorded or 'none'})"),
                ("notes", f"{len(self.notes)}"),
            ),
            hint=f'af.run("{self.slug}/{self.recipes[0].id}")' if self.recipes else "",
        )

    def recipe(self, id: str) -> Recipe:
        """The experiment with this id."""
        return look_up(
            f"experiment of {self.slug}", id, {r.id: r for r in self.recipes}
        )

    def exhibit(self, id: str) -> Exhibit:
        """The figure, table or map with this id."""
        return look_up(
            f"figure or table of {self.slug}", id, {e.id: e for e in self.shown}
        )

    def claim(self, id: str) -> Claim:
        """The claim with this id."""
        return look_up(f"claim of {self.slug}", id, {c.id: c for c in self.claims})


def texts_of(package: str) -> dict[str, Any]:
    """The fields of a `Paper` that are files of its package.

    These are `paper.bib` and `inventory.toml`: `Paper(…, **texts_of(__name__))`.
    """
    folder = files(package)
    return {
        "bibtex": (folder / "paper.bib").read_text("utf-8"),
        "inventory": tomllib.loads((folder / "inventory.toml").read_text("utf-8")),
    }
