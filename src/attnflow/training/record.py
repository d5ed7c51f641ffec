"""When to record, and where the records go."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import ArrayLike


@dataclass(frozen=True)
class Grid:
    """Times at which observables are recorded.

    **Arguments:**

    - `points`: the times themselves, or
    - `count` times from `start` to `stop`, `linear` or `log` spaced; log spacing puts
      time 0 in front.
    """

    stop: float = 0.0
    count: int = 201
    start: float = 0.0
    spacing: Literal["linear", "log"] = "linear"
    points: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.points:
            ordered = np.all(np.diff(self.points) > 0) and self.points[0] >= 0
            if not ordered:
                raise ValueError(
                    f"The times to record at are {self.points}: they must not be "
                    "negative and must increase."
                )
        elif self.count < 2 or not self.stop > self.start >= 0:
            raise ValueError(
                f"count is {self.count}, start {self.start}, stop {self.stop}: record "
                "at least twice, between a start >= 0 and a later stop."
            )
        elif self.spacing == "log" and not self.start > 0:
            raise ValueError("A log-spaced grid starts at a positive time: set start.")

    def __str__(self) -> str:
        """The times in words."""
        if self.points:
            first, last, count = self.points[0], self.points[-1], len(self.points)
            return f"{count} times from {first:g} to {last:g}"
        span = f"from {self.start:g} to {self.stop:g}"
        return f"{self.count} times {span}, {self.spacing} spaced"

    def times(self, *, whole: bool) -> np.ndarray:
        """The times; `whole` for steps, which are integers."""
        if self.points:
            times = np.array(self.points, float)
        elif self.spacing == "log":
            inner = np.geomspace(self.start, self.stop, self.count - 1)
            times = np.concatenate([[0.0], inner])
        else:
            times = np.linspace(self.start, self.stop, self.count)
        return np.unique(np.rint(times)) if whole else times


class Records:
    """Rows of observables by seed and time, filled stage by stage.

    Memory is that of the recorded rows, whatever the number of steps between them.
    """

    def __init__(self, times: np.ndarray, seeds: int):
        self.times = times
        self.recorded = np.zeros((seeds, len(times)), bool)
        self.rows: dict[str, np.ndarray] = {}
        self.ends: list[dict[str, np.ndarray]] = []

    def add(self, rows: dict[str, np.ndarray], mask: np.ndarray) -> None:
        """Put `rows[name][seed, time]` where the mask says so."""
        for name, values in rows.items():
            values = np.asarray(values)
            if name not in self.rows:
                self.rows[name] = np.full(values.shape, np.nan)
            self.rows[name][mask] = values[mask]
        self.recorded |= mask

    def add_end(self, rows: Mapping[str, ArrayLike]) -> None:
        """Put the values at the end of a stage."""
        self.ends.append({name: np.asarray(row) for name, row in rows.items()})
