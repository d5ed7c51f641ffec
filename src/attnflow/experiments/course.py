"""The course of training, whatever is trained: a form on a problem, or a system."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import jax
import numpy as np

from attnflow.training import Course, Grid, train

Progress = Callable[[float, str], None]
Measure = Callable[[Any, Any, Any], float]
"""System, state before, state after → what a flow should have conserved and did not."""


class Recorded(Protocol):
    """An experiment of any kind that trains."""

    @property
    def grid(self) -> Grid:
        """When to record."""
        ...

    @property
    def is_flow(self) -> bool:
        """Whether training is by gradient flow."""
        ...


def course_of(
    experiment: Recorded,
    legs: list[Any],
    state: Any,
    *,
    observe: Any,
    progress: Progress | None,
) -> Course:
    """Train all seeds of a stacked `state` through the `legs`, as `train` does."""
    return train(
        legs,
        state,
        seeds=len(jax.tree.leaves(state)[0]),
        times=experiment.grid.times(whole=not experiment.is_flow),
        observe=observe,
        progress=progress,
    )


def drifts(
    members: Sequence[tuple[Any, Any]], course: Course, measure: Measure
) -> np.ndarray:
    """By how much each seed drifted from what a flow conserves."""
    lost = [
        measure(system, before, jax.tree.map(lambda x, i=i: x[i], course.state))
        for i, (system, before) in enumerate(members)
    ]
    return np.array(lost)
