"""Adam's ε where it outweighs the gradients, told after the run."""

import warnings
from typing import Any

import numpy as np

from attnflow.training import Course


class EpsilonWarning(UserWarning):
    """Adam's ε outweighs the gradients, so that updates are no longer Adam's own."""


def swamping(course: Course, epsilon: float) -> dict[str, Any]:
    """The step at which ε outweighed gradients by seed, as a variable; a warning."""
    steps = [step for step in course.swamped if step is not None]
    if not steps or not epsilon:
        return {}
    last = np.iinfo(np.int64).max
    first = np.min([np.where(step < 0, last, step) for step in steps], axis=0)
    met = first < last
    if met.any():
        warnings.warn(
            f"Adam's epsilon {epsilon:g} outweighs the root of the second moment in "
            f"more than half of some weight's coordinates from step "
            f"{int(first[met].min())} on ({int(met.sum())} of {len(met)} seeds): from "
            "there on it decides how far weights move. Use epsilon=0 to see Adam "
            "itself; gradients do not underflow here.",
            EpsilonWarning,
            stacklevel=5,
        )
    about = {
        "about": "first step at which epsilon outweighs half of some weight's gradients"
    }
    return {"epsilon_step": ("seed", np.where(met, first, np.nan), about)}


def epsilon_of(rules: list[dict[str, Any]]) -> float:
    """The largest ε among the rules; 0 where none has one."""
    every = [rule for stage in rules for rule in stage.values()]
    return max((getattr(rule, "epsilon", 0.0) for rule in every), default=0.0)
