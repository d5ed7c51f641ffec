"""Records with which a paper declares its experiments, exhibits, notes and requests.

A claim or an exhibit says which runs it needs as `Request`s, or which sweeps as
`SweepRequest`s; `attnflow.runs` and `attnflow.sweeps` compute or read them.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import xarray as xr

from attnflow.schema import settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Evidence = Mapping[str, xr.Dataset]
"""Runs by the names under which a claim or an exhibit requests them."""


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
    - `measure`: what is kept of each cell: observables, statistics, claims.
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
class Statistic:
    """A number that a paper computes from the records of a run.

    A sweep computes it by its `name`, as it does those of observables.

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
