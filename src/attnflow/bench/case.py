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
    """

    paper: str
    id: str
    size: str
    ours: Callable[[], Rows]
    weights: Callable[[], Rows] | None
    torch: Callable[[], Rows] | None
    rival: str
    tolerance: float = 1e-12


def agreement(one: Rows, other: Rows) -> float:
    """The largest difference of two trajectories, relative to each series' size."""
    errors = [
        np.abs(np.asarray(one[name]) - np.asarray(other[name])).max()
        / np.abs(np.asarray(one[name])).max()
        for name in one
    ]
    return float(max(errors))


def as_numbers(result: Any) -> Rows:
    """Rows as arrays; forces lazy results to be computed."""
    return {name: np.asarray(values) for name, values in result.items()}
