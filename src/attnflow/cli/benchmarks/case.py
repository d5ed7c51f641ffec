"""What a benchmark compares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Rows = Mapping[str, np.ndarray]
"""Recorded series by name, `(records, …)`."""


@dataclass(frozen=True)
class Case:
    """One experiment, computed in up to three ways from the same initial weights.

    **Arguments:**

    - `ours`, `weights`, `torch`: functions that train and return the recorded rows;
      `None` where a way is out of reach (weights of width 10⁶, say).
    - `rival`: which loop `torch` is, in words.
    - `tolerance`: relative difference of trajectories above which nothing is timed.
    - `share`: the part of the run, from its beginning, that the rival takes; its time
      is divided by it. Every step of a descent costs the same.
    - `repeats`: how often `ours` is timed.
    """

    paper: str
    id: str
    size: str
    ours: Callable[[], Rows]
    weights: Callable[[], Rows] | None
    torch: Callable[[], Rows] | None
    rival: str
    tolerance: float = 1e-12
    share: float = 1.0
    repeats: int = 9


def agreement(one: Rows, other: Rows) -> float:
    """The largest difference of two trajectories, relative to each series' size.

    A shorter one is compared as far as it goes.
    """
    errors = []
    for name in one:
        first, second = np.asarray(one[name]), np.asarray(other[name])
        both = min(len(first), len(second))
        difference = np.abs(first[:both] - second[:both]).max()
        errors.append(difference / np.abs(first[:both]).max())
    return float(max(errors))


def as_numbers(result: Any) -> Rows:
    """Rows as arrays; forces lazy results to be computed."""
    return {name: np.asarray(values) for name, values in result.items()}
