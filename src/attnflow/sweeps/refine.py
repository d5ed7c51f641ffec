"""A yes/no map over two parameters, computed along its boundary alone.

1. A coarse lattice of cells is asked first.
2. Boxes of it whose corners differ are split in halves, until cells touch.
3. From every two neighbours that differ the boundary is followed: both squares of
   four cells that share this pair are asked whole, again and again until nothing new
   differs.

So each connected piece of the boundary that separates two cells of the lattice is
found whole, cell for cell. What hides inside of a box of the lattice is not seen: the
lattice must be finer than the islands that matter.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from attnflow.claims.statistics import nearest

Place = tuple[int, int]
Ask = Callable[[list[Place]], Sequence[bool]]
"""The answers for some cells, all asked for at once."""


@dataclass(frozen=True)
class Refined:
    """What was found.

    - `asked`: which cells were computed; `answers`: theirs, `False` elsewhere.
    - `rounds`: how many cells were asked for at once, round by round.
    """

    asked: np.ndarray
    answers: np.ndarray
    rounds: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many cells were computed."""
        return int(self.asked.sum())

    @property
    def full(self) -> int:
        """How many cells the whole grid has."""
        return self.asked.size

    @property
    def boundary(self) -> np.ndarray:
        """The cells next to which a neighbour has the other answer."""
        return boundary_of(self.answers, self.asked)

    @property
    def filled(self) -> np.ndarray:
        """The whole map: cells not computed are as those from which nothing parts them.

        Each takes the answer of the nearest computed cell of its row; between them
        there is no boundary, or it would have been followed to here.
        """
        filled = np.empty_like(self.answers)
        for row, (asked, answers) in enumerate(
            zip(self.asked, self.answers, strict=True)
        ):
            known = np.flatnonzero(asked)
            filled[row] = (
                answers[known[nearest(known, len(asked))]]
                if len(known)
                else (filled[row - 1])
            )
        return filled


def refine(ask: Ask, shape: Place, *, coarse: int = 8, band: int = 0) -> Refined:
    """Find the boundary of a yes/no map of this shape.

    **Arguments:**

    - `ask`: computes cells, given by their places along both axes.
    - `coarse`: the step of the lattice that is asked first.
    - `band`: also compute what lies within so many cells of the boundary.
    """
    if min(shape) < 2 or coarse < 1 or band < 0:
        raise ValueError(
            f"shape={shape}, coarse={coarse}, band={band}: a map has two values or "
            "more along each axis, a lattice a step of 1 or more, and a band 0 or more."
        )
    state = _Map(ask, shape)
    lines = [_lattice(size, coarse) for size in shape]
    state.ask((i, j) for i in lines[0] for j in lines[1])
    boxes = _boxes(*lines)
    while boxes := [box for box in boxes if state.differs(box) and _splits(box)]:
        halves = [(_half(i), _half(j)) for i, j in boxes]
        state.ask((i, j) for xs, ys in halves for i in xs for j in ys)
        boxes = [box for xs, ys in halves for box in _boxes(xs, ys)]
    state.follow()
    if band:
        state.widen(band)
    return Refined(state.asked, state.answers, tuple(state.rounds))


def boundary_of(answers: np.ndarray, asked: np.ndarray | None = None) -> np.ndarray:
    """The cells of a map next to which a neighbour (not a diagonal one) differs."""
    found = np.zeros(answers.shape, bool)
    for axis in (0, 1):
        low, high = _neighbours(answers.shape, axis)
        differs = answers[low] != answers[high]
        if asked is not None:
            differs &= asked[low] & asked[high]
        found[low] |= differs
        found[high] |= differs
    return found


class _Map:
    """Answers so far."""

    def __init__(self, ask: Ask, shape: Place):
        self._ask = ask
        self.asked = np.zeros(shape, bool)
        self.answers = np.zeros(shape, bool)
        self.rounds: list[int] = []

    def ask(self, places: Iterable[Place]) -> bool:
        """Ask for those cells that are new; whether there were any."""
        new = sorted({place for place in places if not self.asked[place]})
        if not new:
            return False
        for place, answer in zip(new, self._ask(new), strict=True):
            self.asked[place], self.answers[place] = True, bool(answer)
        self.rounds.append(len(new))
        return True

    def differs(self, box: tuple[Place, Place]) -> bool:
        """Whether the corners of a box have different answers."""
        return len({bool(self.answers[i, j]) for i in box[0] for j in box[1]}) > 1

    def follow(self) -> None:
        """Ask along the boundary until all squares that it passes are known."""
        while self.ask(self._squares()):
            pass

    def widen(self, band: int) -> None:
        """Ask within a distance of the boundary, wherever that may lead."""
        while True:
            near = boundary_of(self.answers, self.asked)
            for _ in range(band):
                near = _grown(near)
            if not self.ask(_places(near)):
                return
            self.follow()

    def _squares(self) -> Iterable[Place]:
        """The cells of all squares in which two known neighbours differ."""
        marked = np.zeros(self.asked.shape, bool)
        for axis in (0, 1):
            low, high = _neighbours(self.asked.shape, axis)
            pair = self.asked[low] & self.asked[high]
            edge = np.zeros_like(marked)
            edge[low] = pair & (self.answers[low] != self.answers[high])
            # The pair, and the pairs beside it on both sides.
            edge = edge | np.roll(edge, 1, axis)
            sideways = 1 - axis
            low, high = _neighbours(self.asked.shape, sideways)
            wide = edge.copy()
            wide[low] |= edge[high]
            wide[high] |= edge[low]
            marked |= wide
        return _places(marked)


def _places(mask: np.ndarray) -> list[Place]:
    return [(int(i), int(j)) for i, j in np.argwhere(mask)]


def _neighbours(shape: Sequence[int], axis: int) -> tuple[tuple, tuple]:
    low = [slice(None)] * len(shape)
    high = list(low)
    low[axis], high[axis] = slice(None, -1), slice(1, None)
    return tuple(low), tuple(high)


def _grown(mask: np.ndarray) -> np.ndarray:
    grown = mask.copy()
    for axis in (0, 1):
        low, high = _neighbours(mask.shape, axis)
        before = grown.copy()
        grown[low] |= before[high]
        grown[high] |= before[low]
    return grown


def _lattice(size: int, step: int) -> list[int]:
    return sorted({*range(0, size, step), size - 1})


def _boxes(xs: list[int], ys: list[int]) -> list[tuple[Place, Place]]:
    return [(i, j) for i in pairwise(xs) for j in pairwise(ys)]


def _splits(box: tuple[Place, Place]) -> bool:
    return any(high - low > 1 for low, high in box)


def _half(side: Place) -> list[int]:
    low, high = side
    return sorted({low, (low + high) // 2, high})
