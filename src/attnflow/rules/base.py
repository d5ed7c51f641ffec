"""What rules of descent share: a pace, and checks of their numbers."""

from typing import Literal

from jaxtyping import Array

from attnflow.rules.schedules import AbstractSchedule

# What a rule must be told of the weights beside the entries of a gradient: how long
# the whole gradient is, or which entries make up a matrix.
Sees = Literal["entries", "length", "matrices"]


class Paced:
    """A rule whose learning rate follows a schedule, if it has one."""

    schedule: AbstractSchedule | None

    def pace(self, step: Array) -> Array | float:
        """By how much the learning rate is multiplied at a step."""
        return 1.0 if self.schedule is None else self.schedule(step)


def check_positive(name: str, value: float) -> None:
    """Raise where a number is not positive."""
    if not value > 0:
        raise ValueError(f"{name} is {value!r}: it must be positive, as in {name}=0.1.")


def check_fraction(name: str, value: float) -> None:
    """Raise where a number does not lie in [0, 1)."""
    if not 0 <= value < 1:
        raise ValueError(f"{name} is {value}: it must lie in [0, 1). Use {name}=0.9.")
