"""From axes to batches: fixed groups of cells, each under the address of its content.

A batch is the unit of work, of storage and of resume. Which cells are in it depends
on the grid alone, never on who computes or on what is done already: so a sweep that
was interrupted, killed or spread over machines gives the same numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import cached_property
from itertools import groupby, product
from typing import TYPE_CHECKING

import numpy as np

from attnflow.schema.declarations import Recipe
from attnflow.schema.settings import canonical_json, digest
from attnflow.sweeps.grid import Axis, Value
from attnflow.sweeps.statistic import AbstractStatistic, Column, check_statistics

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from attnflow.experiments.record import Runnable

BATCH = 32
"""Cells in a batch, unless the user says otherwise."""


@dataclass(frozen=True)
class Sweep:
    """A sweep as requested: experiment, axes, seeds and statistics.

    **Arguments:**

    - `recipe`: builds an experiment from a setting.
    - `setting`: what all cells share; `fixed` are its fields that the user set.
    - `axes`: what differs; `subset`: cells of their grid, all of them without it.
    - `seeds`, `statistics`: of every cell.
    - `size`: how many cells a batch has at most.
    - `name`: what it is called in lists of sweeps; the recipe's id without it.
    - `code`: a digest of the code that computes cells and statistics.
    """

    recipe: Recipe
    setting: "DataclassInstance"
    axes: tuple[Axis, ...]
    seeds: tuple[int, ...]
    statistics: tuple[AbstractStatistic, ...]
    code: str
    fixed: tuple[tuple[str, Value], ...] = ()
    size: int = BATCH
    subset: tuple[int, ...] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.size, int):
            raise ValueError(
                f"batch={self.size!r} ({type(self.size).__name__}) is not a number of "
                "cells. Give one; a setting of that name goes into settings={…}."
            )
        if self.size < 1:
            raise ValueError(f"A batch of {self.size} cells is none. Give 1 or more.")
        if not is_dataclass(self.setting):
            raise ValueError(
                f"The setting is a {type(self.setting).__name__}: a recipe's setting "
                "is a dataclass, whose fields can be swept."
            )
        check_statistics(self.statistics)

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
        if self.subset is None:
            return np.arange(total)
        return np.unique(np.array(self.subset, dtype=np.int64))

    def blank(self, cells: int) -> dict[str, np.ndarray]:
        """The variables of so many cells without results: NaN, and empty texts."""
        columns = {
            name: column
            for statistic in self.statistics
            for name, column in statistic.outline.columns.items()
        }
        columns |= {"outcome": Column(text=True)}
        columns |= {"error": Column(by_seed=False, text=True)}
        return {
            name: np.full(
                (cells, len(self.seeds)) if column.by_seed else cells,
                "" if column.text else np.nan,
                # Objects, so that equal texts share memory and one long text does not
                # widen the others.
                object if column.text else np.float64,
            )
            for name, column in columns.items()
        }

    def row(self, cell: int) -> tuple[Value, ...]:
        """The values of the swept keys in a cell."""
        index = np.unravel_index(cell, self.shape) if self.axes else ()
        rows = (axis.rows[i] for axis, i in zip(self.axes, index, strict=True))
        return tuple(value for row in rows for value in row)

    @cached_property
    def identity(self) -> str:
        """What all batches of the sweep share, as one text."""
        shared = {
            "recipe": [self.recipe.id, self.recipe.build],
            "setting": asdict(self.setting),
            "fixed": [name for name, _ in self.fixed],
            "seeds": list(self.seeds),
            "measures": [each.outline.identity for each in self.statistics],
            "code": self.code,
            "keys": list(self.keys),
        }
        return canonical_json(shared)


def example_of(
    recipe: Recipe, setting: "DataclassInstance", axes: Sequence[Axis]
) -> "Runnable":
    """An experiment of a sweep, which shows what statistics all of them can have.

    What its cells share may lack what is swept, such as a learning rate, and the
    settings of some cells may be invalid. So it is that of the first valid corner of
    the grid.
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
    rows: tuple[tuple[Value, ...], ...]

    def __len__(self) -> int:
        return len(self.cells)

    def part(self, index: int) -> "Batch":
        """One of the cells as a batch of its own."""
        return Batch(f"{self.key}-{index}", (self.cells[index],), (self.rows[index],))


def make_batches(sweep: Sweep) -> list[Batch]:
    """The batches of a sweep, in a fixed order.

    Cells that differ in numbers with a point alone are most likely of one shape, and
    stand together; a batch holds several such groups where they are small, and equal
    parts of one where it is large. (What really is of one shape is known where the
    batch is computed.)
    """
    batches = []
    for cells in _cut(_alike(sweep), sweep.size):
        rows = tuple(sweep.row(cell) for cell in cells)
        key = digest(sweep.identity, canonical_json(rows))
        batches.append(Batch(key, tuple(cells), rows))
    return batches


def _alike(sweep: Sweep) -> Iterator[list[int]]:
    """Groups of cells with equal values of everything that may change a shape."""
    cells = sweep.cells
    if not sweep.axes:
        yield cells.tolist()
        return
    indices = np.unravel_index(cells, sweep.shape)
    group = np.zeros(len(cells), dtype=np.int64)
    for axis, index in zip(sweep.axes, indices, strict=True):
        if not axis.is_continuous:
            group = group * len(axis) + index
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
    subset = None if sweep.subset is None else sweep.cells.tolist()
    return digest(sweep.identity, canonical_json([rows, subset, sweep.size]))
