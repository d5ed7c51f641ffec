"""Sweeps along the boundary of a yes/no map, and the law that the boundary follows.

1. A coarse lattice of cells is computed first.
2. Boxes of it whose corners differ are split in halves, until cells touch.
3. From every two neighbours that differ the boundary is followed: both squares of
   four cells that share this pair are computed whole, again and again until nothing
   new differs.

So each connected piece of the boundary that separates two cells of the lattice is
known whole, cell for cell. What hides inside of a box of the lattice is not seen: the
lattice must be finer than the islands that matter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Literal, Unpack

import numpy as np

from attnflow.claims.statistics import Boundary, fit_partial, nearest
from attnflow.schema import mean_over_seeds
from attnflow.schema.installation import scipy, xr
from attnflow.sweeps.batch_store import PENDING, BatchStore
from attnflow.sweeps.dataset import Options, assemble, complete, register
from attnflow.sweeps.executors import Executor
from attnflow.sweeps.plan import Batch, Sweep, make_batches

Level = float | str
"""A number that the first statistic, a mean over seeds, is above; or its text."""
Index = tuple[int, int]
"""A cell, by its number along both axes."""
Compute = Callable[[list[Index]], Sequence[bool]]
"""The answers of some cells, all computed at once."""


def run_refined(
    sweep: Sweep,
    executor: Executor,
    *,
    level: Level,
    coarse: int = 8,
    band: int = 1,
    store: BatchStore | None = None,
    **options: Unpack[Options],
) -> xr.Dataset:
    """Compute a sweep over two axes only where its first statistic crosses a level.

    **Arguments:**

    - `level`: a number, for cells whose mean over seeds is above it; or a text, for
      cells with that text, such as the verdict `holds`. A cell without a result counts
      as no.
    - `coarse`, `band`: see `refine`. Neighbours of the boundary are computed too, since
      resampled seeds move it.

    **Returns:** as `run_sweep`, with cells that were not needed `pending`, and

    - `inside`: yes or no for every cell of the grid; `boundary`: where neighbours
      differ.
    - attrs `cells_computed` and `cells_full`, and `rounds` of cells computed at once.
    """
    if len(sweep.axes) != 2:
        raise ValueError(
            f"{len(sweep.axes)} axes are swept: a boundary is refined over two. "
            "Sweep two keys, or zip some."
        )
    store = store or BatchStore()
    name = _first_column(sweep, level)
    computed: list[Batch] = []
    reads: dict[str, Callable[[str], xr.Dataset | None]] = {}
    shape = sweep.shape[0], sweep.shape[1]

    def compute(indices: list[Index]) -> list[bool]:
        cells = [int(np.ravel_multi_index(index, shape)) for index in indices]
        part = replace(sweep, subset=tuple(cells))
        batches = make_batches(part)
        read = complete(part, batches, executor, store, **options)
        computed.extend(batches)
        reads.update(dict.fromkeys((batch.key for batch in batches), read))
        values = assemble(part, batches, read)[name]
        is_text = isinstance(level, str)
        answers = values == level if is_text else mean_over_seeds(values) > level
        return [bool(answers.values[index]) for index in indices]

    refined = refine(compute, shape, coarse=coarse, band=band)
    whole = replace(sweep, subset=tuple(c for batch in computed for c in batch.cells))
    register(whole, computed, store)
    result = assemble(whole, computed, lambda key: reads[key](key))
    dims = tuple(axis.name for axis in sweep.axes)
    result["inside"] = (dims, refined.filled)
    result["boundary"] = (dims, refined.boundary)
    return result.assign_attrs(
        cells_computed=int(refined.computed.sum()),
        cells_full=refined.computed.size,
        rounds=list(refined.rounds),
        level=level,
    )


def _first_column(sweep: Sweep, level: Level) -> str:
    """The name of the first statistic's variable that can be compared with a level."""
    first = sweep.statistics[0].outline
    is_text = isinstance(level, str)
    names = [name for name, column in first.columns.items() if column.text == is_text]
    if not names:
        raise ValueError(
            f"level={level!r} belongs to {'texts' if is_text else 'numbers'}, and "
            f"{first.text!r} gives none. Give a number for observables, a verdict such "
            "as 'holds' for claims."
        )
    return names[0]


def fit_refined(
    result: xr.Dataset,
    variable: str,
    level: float,
    *,
    generator: np.random.Generator,
    power: float = 2.0,
    scale: Literal["linear", "log"] = "linear",
) -> Boundary:
    """The law of a boundary: where it is along the second axis by the first.

    As `fit_partial`: cells that were not computed are as the nearest
    one of their row, on the same side of the boundary.
    """
    size, x = (str(dim) for dim in result[variable].dims[:2])
    pending = (result["outcome"] == PENDING).any("seed")
    maps = result[variable].where(~pending).transpose("seed", size, x)
    return fit_partial(
        result[size].values.astype(float),
        result[x].values.astype(float),
        maps.values,
        level,
        generator=generator,
        power=power,
        scale=scale,
    )


def law_of(result: xr.Dataset, *, power: float = 2.0) -> Boundary | None:
    """The law of the boundary along which a sweep was refined.

    `None` where it has none: of claims, or over keys that are no positive numbers.
    """
    level = result.attrs.get("level")
    variable = json.loads(result.attrs["measures"])[0]
    if not isinstance(level, float) or variable not in result:
        return None
    size, x = (result[dim].values for dim in result["inside"].dims)
    numbers = all(axis.dtype.kind in "fi" for axis in (size, x))
    if not (numbers and (size > 0).all() and (np.diff(x) > 0).all()):
        return None
    generator = np.random.default_rng(0)
    return fit_refined(result, variable, level, generator=generator, power=power)


class Refined:
    """A yes/no map along its boundary.

    - `computed`: which cells are; `answers`: theirs, `False` elsewhere.
    - `rounds`: how many cells were computed at once, round by round.
    """

    def __init__(self, compute: Compute, shape: Index):
        self._compute = compute
        self.computed = np.zeros(shape, bool)
        self.answers = np.zeros(shape, bool)
        self.rounds: tuple[int, ...] = ()

    @property
    def boundary(self) -> np.ndarray:
        """The cells next to which a neighbour has the other answer."""
        return boundary_of(self.answers, self.computed)

    @property
    def filled(self) -> np.ndarray:
        """The whole map: cells not computed are as those from which nothing parts them.

        Each takes the answer of the nearest computed cell of its row; between them
        there is no boundary, or it would have been followed to here. A row without any
        computed cell is as the row before it.
        """
        filled = np.empty_like(self.answers)
        for row, is_known in enumerate(self.computed):
            known = np.flatnonzero(is_known)
            if len(known):
                near = known[nearest(known, len(is_known))]
                filled[row] = self.answers[row][near]
            else:
                filled[row] = filled[row - 1]
        return filled

    def add(self, cells: Iterable[Index]) -> bool:
        """Compute those cells that are new; whether there were any."""
        new = sorted({cell for cell in cells if not self.computed[cell]})
        if not new:
            return False
        for cell, answer in zip(new, self._compute(new), strict=True):
            self.computed[cell], self.answers[cell] = True, bool(answer)
        self.rounds += (len(new),)
        return True

    def differs(self, box: tuple[Index, Index]) -> bool:
        """Whether the corners of a box have different answers."""
        return len({bool(self.answers[i, j]) for i in box[0] for j in box[1]}) > 1

    def follow(self) -> None:
        """Compute along the boundary until all squares that it passes are known."""
        while self.add(_cells(self._squares())):
            pass

    def widen(self, band: int) -> None:
        """Compute within a distance of the boundary, wherever that may lead."""
        square = np.ones((3, 3))
        while self.add(
            _cells(scipy.ndimage.binary_dilation(self.boundary, square, band))
        ):
            self.follow()

    def _squares(self) -> np.ndarray:
        """The cells of all squares in which two known neighbours differ."""
        # A pair, and the pairs beside it on both sides.
        return np.logical_or(
            scipy.ndimage.binary_dilation(
                _parted(self.answers, self.computed, 0), np.ones((1, 3))
            ),
            scipy.ndimage.binary_dilation(
                _parted(self.answers, self.computed, 1), np.ones((3, 1))
            ),
        )


def refine(
    compute: Compute, shape: Index, *, coarse: int = 8, band: int = 0
) -> Refined:
    """The boundary of a yes/no map of this shape, by few of its cells.

    **Arguments:**

    - `compute`: the answers of cells, by their numbers along both axes.
    - `coarse`: the step of the lattice that is computed first.
    - `band`: also compute what lies within so many cells of the boundary.
    """
    if min(shape) < 2 or coarse < 1 or band < 0:
        raise ValueError(
            f"shape={shape}, coarse={coarse}, band={band}: a map has two values or "
            "more along each axis, a lattice a step of 1 or more, and a band 0 or more."
        )
    refined = Refined(compute, shape)
    rows, columns = (sorted({*range(0, n, coarse), n - 1}) for n in shape)
    refined.add(product(rows, columns))
    boxes = _boxes(rows, columns)
    while boxes := [box for box in boxes if refined.differs(box) and _splits(box)]:
        halves = [(_half(i), _half(j)) for i, j in boxes]
        refined.add(cell for xs, ys in halves for cell in product(xs, ys))
        boxes = [box for xs, ys in halves for box in _boxes(xs, ys)]
    refined.follow()
    if band:
        refined.widen(band)
    return refined


def boundary_of(answers: np.ndarray, computed: np.ndarray | None = None) -> np.ndarray:
    """The cells of a map next to which a neighbour (not a diagonal one) differs."""
    known = np.ones_like(answers) if computed is None else computed
    return _parted(answers, known, 0) | _parted(answers, known, 1)


def _parted(answers: np.ndarray, computed: np.ndarray, axis: int) -> np.ndarray:
    """The cells that have a neighbour along an axis with the other answer."""
    low, high = (np.delete(computed, end, axis) for end in (-1, 0))
    pairs = np.diff(answers, axis=axis) & low & high
    before, after = np.zeros((2, 2), int), np.zeros((2, 2), int)
    before[axis, 0] = after[axis, 1] = 1
    return np.pad(pairs, before) | np.pad(pairs, after)


def _cells(mask: np.ndarray) -> list[Index]:
    return [(i, j) for i, j in np.argwhere(mask).tolist()]


def _boxes(xs: list[int], ys: list[int]) -> list[tuple[Index, Index]]:
    return [(i, j) for i in pairwise(xs) for j in pairwise(ys)]


def _splits(box: tuple[Index, Index]) -> bool:
    return any(high - low > 1 for low, high in box)


def _half(side: Index) -> list[int]:
    low, high = side
    return sorted({low, (low + high) // 2, high})
