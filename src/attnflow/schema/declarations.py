"""What a paper is to attnflow: declarations, and nothing that computes.

A `Paper` names its experiments, its figures and tables (`Exhibit`), its claims, its
reader's notes and its inventory. Each of these says which runs it needs as
`Request`s, or which sweeps as `SweepRequest`s; somebody else (`attnflow.runs.runner`,
`attnflow.site.gathering`) makes or reads them.
"""

import importlib
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import xarray as xr

from attnflow.schema import settings
from attnflow.schema.facts import Facts, Shown
from attnflow.schema.names import look_up
from attnflow.schema.conditions import Condition

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from attnflow.claims import Claim
    from attnflow.runs.ledger import ClaimsView
    from attnflow.claims.stages import StageRow

Evidence = Mapping[str, xr.Dataset]


@dataclass(frozen=True)
class Request:
    """A run that a claim or an exhibit needs.

    **Arguments:**

    - `experiment`: the id of one of the paper's experiments.
    - `overrides`: settings that differ from the experiment's own.
    - `seeds`: how many seeds, or which ones; `None` means as many as the user asks
      for, and 1 is for deterministic experiments.
    - `quick`: overrides that make a smaller run for `--quick`, on top of the others.
    - `quick_seeds`: how many seeds, or which ones, that smaller run has.
    """

    experiment: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    seeds: int | tuple[int, ...] | None = None
    quick: Mapping[str, Any] = field(default_factory=dict)
    quick_seeds: int | tuple[int, ...] | None = None

    def made(self, *, quick: bool) -> "Request":
        """The run itself, or the smaller one, as a request that has no other."""
        bare = replace(self, quick={}, quick_seeds=None)
        if not quick:
            return bare
        seeds = self.seeds if self.quick_seeds is None else self.quick_seeds
        return replace(bare, overrides={**self.overrides, **self.quick}, seeds=seeds)


@dataclass(frozen=True)
class SweepRequest:
    """A sweep that a map needs: an experiment over a grid of its settings.

    **Arguments:**

    - `experiment`: the id of one of the paper's experiments.
    - `settings`: by key what `attnflow sweep` takes: a text such as `0.01..1:9:log`,
      several values, or one for all cells.
    - `measure`: what is kept of each cell: observables, quantities, claims.
    - `zip`: groups of keys that go along one dim together.
    - `seeds`: how many, or which ones.
    - `refine`, `coarse`: compute a map over two keys along this level alone.
    - `batch`: how many cells are computed and stored as one.
    - `quick`, `quick_seeds`: settings and seeds of a smaller sweep for `--quick`.
    """

    experiment: str
    settings: Mapping[str, Any]
    measure: tuple[str, ...]
    zip: tuple[tuple[str, ...], ...] = ()
    seeds: int | tuple[int, ...] = 1
    refine: float | str | None = None
    coarse: int = 8
    batch: int = 32
    quick: Mapping[str, Any] = field(default_factory=dict)
    quick_seeds: int | None = None

    def made(self, *, quick: bool) -> "SweepRequest":
        """The sweep itself, or the smaller one, as a request that has no other."""
        bare = replace(self, quick={}, quick_seeds=None)
        if not quick:
            return bare
        seeds = self.seeds if self.quick_seeds is None else self.quick_seeds
        return replace(bare, settings={**self.settings, **self.quick}, seeds=seeds)


@dataclass(frozen=True)
class Quantity:
    """A number that a paper reads off a run by a function of its own.

    A sweep measures it by its `name`, as it does observables.

    **Arguments:**

    - `function`: the path `module:function` of a function of the run that gives one
      number for each seed, NaN where there is none.
    - `reads`: the observables that the run must have recorded.
    """

    name: str
    title: str
    function: str
    reads: tuple[str, ...]

    def of(self, run: xr.Dataset) -> Any:
        """The number of each seed."""
        return _found(self.function)(run)


@dataclass(frozen=True)
class Recipe:
    """A named experiment of a paper: a setting and the function that builds it.

    `build` is the path `module:function` of a function of the setting that returns
    an `attnflow.experiments.Experiment`, or a `Computation` that trains nothing. It
    is a path so that listing a paper imports no JAX.
    """

    id: str
    title: str
    setting: Any
    build: str

    def with_overrides(self, overrides: Mapping[str, Any]) -> Any:
        """The setting of this experiment with some fields replaced."""
        return settings.replace(self.setting, overrides)

    def experiment(self, setting: Any) -> Any:
        """The experiment itself."""
        return _found(self.build)(setting)


def _found(path: str) -> Callable[[Any], Any]:
    """What the path `module:function` names."""
    module, _, function = path.partition(":")
    return getattr(importlib.import_module(module), function)


@dataclass(frozen=True)
class Exhibit:
    """A figure or a table of a paper.

    **Arguments:**

    - `needs`: named runs; `draw`, `values` and `seen` get them by these names.
    - `draw`: evidence → matplotlib figure.
    - `values`: evidence → nested name → number (or list) table.
    - `printed`: what the paper prints, with the keys of `values`.
    - `tolerance`: relative tolerance at which a printed number agrees.
    - `seen`: where the paper prints no number, what must be seen in the picture, as
      sentences with a yes or no for the evidence at hand.
    - `silent`: what the paper leaves unsaid and the reading that we use.
    - `sweeps`: named sweeps, of which evidence has the Datasets beside the runs.
    """

    id: str
    kind: Literal["figure", "table"]
    title: str
    caption: str
    needs: Mapping[str, Request]
    draw: Callable[[Evidence], "Figure"]
    values: Callable[[Evidence], Mapping[str, Any]]
    seen: Callable[[Evidence], Mapping[str, bool]]
    printed: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 0.02
    silent: tuple[str, ...] = ()
    sweeps: Mapping[str, SweepRequest] = field(default_factory=dict)


def texts_of(package: str) -> dict[str, Any]:
    """The fields of a `Paper` that are files of its package.

    These are `paper.bib` and `inventory.toml`: `Paper(…, **texts_of(__name__))`.
    """
    folder = files(package)
    return {
        "bibtex": (folder / "paper.bib").read_text("utf-8"),
        "inventory": tomllib.loads((folder / "inventory.toml").read_text("utf-8")),
    }


@dataclass(frozen=True)
class Note:
    """A reader's note: what is printed, what we think it must be, and the check.

    `shown_by` is the id of the claim that shows it, or `text` where reading suffices.
    """

    id: str
    place: str
    printed: str
    ours: str
    shown_by: str
    effect: Literal["typo", "constant", "statement"]
    status: Literal["suspected", "reported", "acknowledged", "disputed"] = "suspected"
    source: Literal["pdf", "extracted text"] = "extracted text"


@dataclass(frozen=True, repr=False)
class Paper(Shown):
    """A paper: experiments, figures and tables, claims, notes, inventory.

    `slug` is its short name, and `letter` what ids of its claims and notes begin with:
    a letter for attnflow's own papers, a word such as `Needle` for all others.
    `stage_table` gives, for a run, the stages of training with the paper's own
    formula for their times beside what was detected. `maps` are exhibits that take
    sweeps, and minutes: they are made when they are asked for. `quantities` are what
    sweeps can measure beside observables and claims. `conditions` gives, for the
    setting of a run, the conditions of the paper's theorems, item by item.
    """

    slug: str
    letter: str
    title: str
    version_read: str
    bibtex: str
    recipes: tuple[Recipe, ...]
    exhibits: tuple[Exhibit, ...]
    claim_list: "tuple[Claim, ...]"
    notes: tuple[Note, ...]
    inventory: Mapping[str, Any]
    headline: str
    headline_claims: tuple[str, ...]
    summary: str
    stage_table: "Callable[[xr.Dataset], list[StageRow]] | None" = None
    maps: tuple[Exhibit, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    conditions: Callable[[Mapping[str, Any]], list[Condition]] | None = None

    @property
    def shown(self) -> tuple[Exhibit, ...]:
        """All figures and tables, then the maps."""
        return (*self.exhibits, *self.maps)

    @property
    def claims(self) -> "ClaimsView":
        """The claims, to read or to check: `paper.claims.verify(seeds=5)`."""
        # By name: a paper is a record, and knows nothing of who makes its runs.
        return importlib.import_module("attnflow.runs.ledger").ClaimsView(self)

    def facts(self) -> Facts:
        """What there is of this paper, by name."""
        verdicts = Counter(str(claim.expected) for claim in self.claim_list)
        told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        return Facts(
            f"{self.slug}: {self.title}",
            (
                ("read", self.version_read),
                ("about", self.summary),
                ("experiments", ", ".join(recipe.id for recipe in self.recipes)),
                ("exhibits", ", ".join(exhibit.id for exhibit in self.exhibits)),
                ("claims", f"{len(self.claim_list)} (recorded: {told or 'none'})"),
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

    def claim(self, id: str) -> "Claim":
        """The claim with this id."""
        return look_up(f"claim of {self.slug}", id, {c.id: c for c in self.claim_list})
