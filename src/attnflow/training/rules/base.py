"""What rules of descent share: a pace, and checks of their numbers."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

import jax.numpy as jnp
from jaxtyping import Array

from attnflow.training.rules.schedules import AbstractSchedule

# What a rule must be told of the weights beside the entries of a gradient: how long
# the whole gradient is, or which entries make up a matrix.
Sees = Literal["entries", "length", "matrices"]


R = TypeVar("R", bound=Any)


class Paced:
    """A rule whose learning rate follows a schedule, if it has one."""

    schedule: AbstractSchedule | None

    def pace(self, step: Array) -> Array | float:
        """By how much the learning rate is multiplied at a step."""
        return 1.0 if self.schedule is None else self.schedule(step)


def split(rule: R) -> tuple[R, dict[str, Array]]:
    """A rule of learning rate 1 to compile, and its `numbers` as arguments.

    So a program serves every value of them. A zero stays in the rule, since it may
    leave something out.
    """
    names = [name for name in getattr(rule, "numbers", ()) if getattr(rule, name)]
    # Any value that the rule allows will do.
    plain = replace(rule, learning_rate=1.0, **dict.fromkeys(names, 0.5))
    # Made from a Python number, an array takes the precision of what it multiplies.
    return plain, {name: jnp.asarray(float(getattr(rule, name))) for name in names}


def joined(rule: R, numbers: Mapping[str, Array]) -> R:
    """A rule with its numbers, which may be traced and so are not checked again."""
    found = copy.copy(rule)
    for name, number in numbers.items():
        object.__setattr__(found, name, number)
    return found


def check_positive(name: str, value: float) -> None:
    """Raise where a number is not positive."""
    if not value > 0:
        raise ValueError(f"{name} is {value!r}: it must be positive, as in {name}=0.1.")


def check_not_negative(name: str, value: float) -> None:
    """Raise where a number is negative, or none."""
    if not value >= 0:
        raise ValueError(
            f"{name} is {value!r}: it must not be negative. Use {name}=0 for none."
        )


def check_known(name: str, value: str, known: Sequence[str]) -> None:
    """Raise where a text is none of those that are known."""
    if value not in known:
        raise ValueError(f"{name} is {value!r}: use {' or '.join(map(repr, known))}.")


def check_fraction(name: str, value: float) -> None:
    """Raise where a number does not lie in [0, 1)."""
    if not 0 <= value < 1:
        raise ValueError(f"{name} is {value}: it must lie in [0, 1). Use {name}=0.9.")
