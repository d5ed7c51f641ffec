"""Records with which a paper declares its experiments, exhibits, notes and requests.

A claim or an exhibit says which runs it needs as `Request`s, or which sweeps as
`SweepRequest`s; `attnflow.runs` and `attnflow.sweeps` compute or read them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np

from attnflow.schema import settings
from attnflow.schema.installation import xr
from attnflow.schema.settings import Value

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from matplotlib.figure import Figure

Evidence: TypeAlias = "Mapping[str, xr.Dataset]"
"""Runs by the names under which a claim or an exhibit requests them."""
Numbers = Mapping[str, Any]
"""Numbers, lists or arrays by name, nested or not, as a page or a row prints them."""
Sentences = Mapping[str, bool]
"""Sentences about a figure or table, and whether each is true of the evidence."""
Predicates = Mapping[str, Callable[[Any], Any]]
"""Sentences, each with a function of the table: true, or an array of what must be."""


@dataclass(frozen=True)
class Request:
    """A run that a claim or an exhibit needs.

    **Arguments:**

    - `experiment`: the id of one of the paper's experiments.
    - `overrides`: settings that differ from the experiment's own.
    - `seeds`: how many seeds, or which ones; `None` means as many as the user
      requests, and 1 is for deterministic experiments.
    - `quick`: overrides that make a smaller run for `--quick`, on top of the others.
    - `quick_seeds`: how many seeds, or which ones, that smaller run has.
    """

    experiment: str
    overrides: Mapping[str, Value] = field(default_factory=dict[str, Value])
    seeds: int | tuple[int, ...] | None = None
    quick: Mapping[str, Value] = field(default_factory=dict[str, Value])
    quick_seeds: int | tuple[int, ...] | None = None

    def sized(self, *, quick: bool) -> Request:
        """The request for the full run, or for the smaller one, without the other."""
        full = replace(self, quick={}, quick_seeds=None)
        if not quick:
            return full
        seeds = self.seeds if self.quick_seeds is None else self.quick_seeds
        return replace(full, overrides={**self.overrides, **self.quick}, seeds=seeds)


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
    settings: Mapping[str, Value]
    measure: tuple[str, ...]
    zip: tuple[tuple[str, ...], ...] = ()
    seeds: int | tuple[int, ...] = 1
    refine: float | str | None = None
    coarse: int = 8
    batch: int = 32
    quick: Mapping[str, Value] = field(default_factory=dict[str, Value])
    quick_seeds: int | None = None

    def sized(self, *, quick: bool) -> SweepRequest:
        """The request for the full sweep, or for the smaller one, without the other."""
        full = replace(self, quick={}, quick_seeds=None)
        if not quick:
            return full
        seeds = self.seeds if self.quick_seeds is None else self.quick_seeds
        return replace(full, settings={**self.settings, **self.quick}, seeds=seeds)


@dataclass(frozen=True)
class Statistic:
    """A statistic that a paper computes from a run by a function of its own.

    A sweep keeps it by its `name`, as it does observables. `function` is the path
    `module:function` of a function of the run that gives one number for each seed, NaN
    where there is none; `reads` are the observables that the run must have recorded.
    """

    name: str
    title: str
    function: str
    reads: tuple[str, ...]

    def of(self, run: xr.Dataset) -> np.ndarray | xr.DataArray:
        """The number of each seed."""
        return _load(self.function)(run)


@dataclass(frozen=True)
class FormulaTime:
    """A paper's time, or the reason why its formula gives none."""

    time: float | None
    reason: str = ""


@dataclass(frozen=True)
class Recipe:
    """A named experiment of a paper: a setting and the function that builds it.

    `build` is the path `module:function` of a function of the setting that returns
    an `attnflow.experiments.Experiment`, or a `Computation` that trains nothing. It
    is a path so that listing a paper imports no JAX. It may depend on the setting and
    on code alone, since its run is found by these: what else decides a run, such as
    the name of a data set, is a field of the setting.

    `place` is where the paper itself declares this setting, empty where it is ours;
    `free` are fields whose change leaves it the paper's: what is recorded, how long.
    """

    id: str
    title: str
    setting: Any
    build: str
    place: str = ""
    free: tuple[str, ...] = ()

    def with_overrides(self, overrides: Mapping[str, Value]) -> Any:
        """The setting of this experiment with some fields replaced."""
        return settings.replace(self.setting, overrides)

    def experiment(self, setting: DataclassInstance) -> Any:
        """The experiment with a setting: an `Experiment`, or a `Computation`."""
        return _load(self.build)(setting)


def _load(path: str) -> Callable[..., Any]:
    """The function that the path `module:function` names."""
    module, _, function = path.partition(":")
    return getattr(importlib.import_module(module), function)


def nothing(table: Any) -> dict[str, Any]:
    """The empty mapping, of an exhibit without such sentences or numbers."""
    return {}


class Shows(Protocol):
    """What an exhibit shows: one table, which is drawn, tabulated and judged.

    The kinds of `attnflow.figures.exhibits` are such records.
    """

    def table(self, evidence: Evidence) -> Any:
        """What is drawn, from the runs."""
        ...

    def draw(self, table: Any) -> Figure:
        """The picture of the table."""
        ...

    def values(self, table: Any) -> Numbers:
        """The table's numbers by name."""
        ...


@dataclass(frozen=True)
class Exhibit:
    """A figure, table or map of a paper.

    It either has a kind in `shows`, and all of its functions take the table that this
    gives; or it has `draw` and `values` of its own, and they take the evidence.

    **Arguments:**

    - `needs`: named runs, which are the evidence.
    - `shows`: such as `Panels((Course(…), Ladder(…)))`.
    - `draw`: table → matplotlib figure; without it as `shows` draws.
    - `values`: table → numbers by name, nested or not; without it those of `shows`.
    - `printed`: what the paper prints, with the keys of `values`.
    - `tolerance`: relative tolerance at which a printed number agrees.
    - `deviations`: where the paper prints a random draw, table → standard deviations
      over our seeds, with the keys of `printed`: the tolerance is then in units of
      these.
    - `stated`: sentences with which the paper describes the picture, by their place in
      the paper; each with a predicate of the table, or all from one function. Whether
      the exhibit agrees with the paper is a matter of `printed` and `stated` alone.
    - `checks`: sentences of our own, likewise.
    - `differs`: by sentence of `stated` or name of a printed number, why it does not
      come out as the paper has it: recorded, so that it surprises nobody.
    - `silent`: what the paper leaves unspecified, and the reading that we use.
    - `sweeps`: named sweeps, whose Datasets the evidence has beside the runs.
    """

    id: str
    kind: Literal["figure", "table"]
    title: str
    caption: str
    needs: Mapping[str, Request]
    shows: Shows | None = None
    draw: Callable[[Any], Figure] | None = None
    values: Callable[[Any], Numbers] | None = None
    stated: Callable[[Any], Mapping[str, Sentences]] | Mapping[str, Predicates] = (
        nothing
    )
    checks: Callable[[Any], Sentences] | Predicates = nothing
    printed: Numbers = field(default_factory=dict[str, Any])
    tolerance: float = 0.02
    deviations: Callable[[Any], Numbers] = nothing
    differs: Mapping[str, str] = field(default_factory=dict[str, str])
    silent: tuple[str, ...] = ()
    sweeps: Mapping[str, SweepRequest] = field(default_factory=dict[str, SweepRequest])

    def __post_init__(self) -> None:
        if self.shows is None and (self.draw is None or self.values is None):
            raise ValueError(
                f"The exhibit {self.id!r} shows nothing: give it `shows`, or both "
                "`draw` and `values`."
            )

    def display(self, evidence: Evidence) -> Display:
        """The exhibit with the table that these runs give."""
        table = evidence if self.shows is None else self.shows.table(evidence)
        return Display(self, table)


@dataclass(frozen=True)
class Display:
    """An exhibit with its table: the picture, the numbers, and what is true of them."""

    exhibit: Exhibit
    table: Any

    def draw(self) -> Figure:
        """The picture, in the current theme."""
        draw, shows = self.exhibit.draw, self.exhibit.shows
        if draw is not None:
            return draw(self.table)
        assert shows is not None
        return shows.draw(self.table)

    def values(self) -> Numbers:
        """Numbers by name."""
        values, shows = self.exhibit.values, self.exhibit.shows
        if values is not None:
            return values(self.table)
        assert shows is not None
        return shows.values(self.table)

    def stated(self) -> Mapping[str, Sentences]:
        """The paper's sentences by their place, and whether each is true."""
        declared = self.exhibit.stated
        if callable(declared):
            return declared(self.table)
        return {place: self._answers(each) for place, each in declared.items()}

    def checks(self) -> Sentences:
        """Sentences of our own, and whether each is true."""
        declared = self.exhibit.checks
        return declared(self.table) if callable(declared) else self._answers(declared)

    def deviations(self) -> Numbers:
        """Standard deviations over our seeds of what the paper prints."""
        return self.exhibit.deviations(self.table)

    def _answers(self, predicates: Predicates) -> Sentences:
        return {text: self._answer(text, true) for text, true in predicates.items()}

    def _answer(self, text: str, predicate: Callable[[Any], Any]) -> bool:
        answer = np.asarray(predicate(self.table))
        if answer.size and answer.dtype != bool:
            raise TypeError(
                f"{self.exhibit.id}: whether {text!r} is no matter of true or false, "
                f"but {answer.dtype}: compare with a bound."
            )
        # Nothing is true of an empty table.
        return bool(answer.size and answer.all())


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
