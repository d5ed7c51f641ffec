"""From axes to batches: fixed groups of cells, each under the address of its content.

A batch is the unit of work, of storage and of resume. Which cells are in it depends
on the grid alone, never on who computes or on what is done already: so a sweep that
was interrupted, killed or spread over machines gives the same numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import cached_property
from itertools import groupby, product
from typing import Any

import numpy as np

from attnflow.schema.declarations import Recipe
from attnflow.schema.settings import canonical_json, digest
from attnflow.sweeps.grid import Axis
from attnflow.sweeps.measure import Measure, check_measures

BATCH = 32
"""Cells in a batch, unless told otherwise."""


@dataclass(frozen=True)
class Sweep:
    """A recipe over axes: what is asked for, and nothing of how it is computed.

    **Arguments:**

    - `recipe`: builds an experiment from a setting.
    - `setting`: what all cells share; `fixed` are its fields that were given.
    - `axes`: what differs. `chosen` cells of their grid, or all of them.
    - `seeds`, `measures`: of every cell.
    - `size`: how many cells a batch has at most.
    - `code`: a digest of the code that computes and measures.
    """

    recipe: Recipe
    setting: Any
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    measures: tuple[Measure, ...]
    code: str
    fixed: tuple[tuple[str, Any], ...] = ()
    size: int = BATCH
    chosen: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"A batch of {self.size} cells is none. Give 1 or more.")
        if not is_dataclass(self.setting):
            raise ValueError(
                f"The setting is a {type(self.setting).__name__}: a recipe's setting "
                "is a dataclass, whose fields can be swept."
            )
        check_measures(self.measures)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each axis has."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def keys(self) -> tuple[str, ...]:
        """All swept keys, axis by axis."""
        return tuple(key for axis in self.axes for key in axis.keys)

    @cached_property
    def cells(self) -> np.ndarray:
        """The numbers of the cells, counted through the grid with the last axis first.

        Where the grid is not whole they are in growing order.
        """
        total = int(np.prod(self.shape, dtype=np.int64))
        if self.chosen is None:
            return np.arange(total)
        return np.unique(np.array(self.chosen, dtype=np.int64))

    def row(self, cell: int) -> tuple[Any, ...]:
        """The values of the swept keys in a cell."""
        places = np.unravel_index(cell, self.shape) if self.axes else ()
        rows = (axis.rows[i] for axis, i in zip(self.axes, places, strict=True))
        return tuple(value for row in rows for value in row)

    @cached_property
    def identity(self) -> str:
        """What all batches of the sweep share, as one text."""
        shared = {
            "recipe": [self.recipe.id, self.recipe.build],
            "setting": asdict(self.setting),
            "fixed": [name for name, _ in self.fixed],
            "seeds": list(self.seeds),
            "measures": [measure.identity for measure in self.measures],
            "code": self.code,
            "keys": list(self.keys),
        }
        return canonical_json(shared)


def example_of(recipe: Recipe, setting: Any, axes: Sequence[Axis]) -> Any:
    """An experiment of a sweep, which shows what can be measured in all of them.

    What its cells share may lack what is swept, such as a learning rate, and some cells
    may be none. So it is that of the first corner of the grid that has one.
    """
    corners = product(*((axis.rows[0], axis.rows[-1]) for axis in axes))
    reasons: list[ValueError] = []
    for rows in corners:
        pairs = zip(axes, rows, strict=True)
        swept = {
            k: v for axis, row in pairs for k, v in zip(axis.keys, row, strict=True)
        }
        try:
            return recipe.experiment(replace(setting, **swept))
        except ValueError as error:
            reasons.append(error)
    raise reasons[0]


@dataclass(frozen=True)
class Batch:
    """Cells that are computed, stored and resumed as one.

    `rows` are the values of the swept keys, one row for each of the `cells`.
    """

    key: str
    cells: tuple[int, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.cells)

    def part(self, place: int) -> "Batch":
        """One of the cells as a batch of its own."""
        return Batch(f"{self.key}-{place}", (self.cells[place],), (self.rows[place],))


def make_batches(sweep: Sweep) -> list[Batch]:
    """The batches of a sweep, in a fixed order.

    Cells that differ in numbers with a point alone are most likely of one shape, and
    stand together; a batch holds several such groups where they are small, and equal
    parts of one where it is large. (What really is of one shape is found where the
    batch is computed.)
    """
    return [_batch(sweep, cells) for cells in _cut(_alike(sweep), sweep.size)]


def _batch(sweep: Sweep, cells: Sequence[int]) -> Batch:
    rows = tuple(sweep.row(cell) for cell in cells)
    key = digest(sweep.identity, canonical_json(rows))
    return Batch(key, tuple(cells), rows)


def _alike(sweep: Sweep) -> Iterator[list[int]]:
    """Groups of cells with equal values of everything that may change a shape."""
    cells = sweep.cells
    if not sweep.axes:
        yield cells.tolist()
        return
    places = np.unravel_index(cells, sweep.shape)
    group = np.zeros(len(cells), dtype=np.int64)
    for axis, place in zip(sweep.axes, places, strict=True):
        if not axis.is_continuous:
            group = group * len(axis) + place
    order = np.argsort(group, kind="stable")
    pairs = zip(group[order].tolist(), cells[order].tolist(), strict=True)
    for _, members in groupby(pairs, key=lambda pair: pair[0]):
        yield [cell for _, cell in members]


def _cut(groups: Iterator[list[int]], size: int) -> Iterator[list[int]]:
    waiting: list[int] = []
    for group in groups:
        if waiting and len(waiting) + len(group) > size:
            yield waiting
            waiting = []
        if len(group) <= size:
            waiting += group
            continue
        parts = -(-len(group) // size)
        # Parts of one length are one compiled program.
        length = -(-len(group) // parts)
        for start in range(0, len(group), length):
            yield group[start : start + length]
    if waiting:
        yield waiting


def sweep_id(sweep: Sweep) -> str:
    """The address of a whole sweep."""
    rows = [list(axis.rows) for axis in sweep.axes]
    chosen = None if sweep.chosen is None else sweep.cells.tolist()
    return digest(sweep.identity, canonical_json([rows, chosen, sweep.size]))
