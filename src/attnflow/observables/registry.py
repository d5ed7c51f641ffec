"""The observables by name, with the dims that they have beside seed and time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jaxtyping import Array

from attnflow.observables.view import View
from attnflow.schema.names import look_up

Compute = Callable[[View], Array]


@dataclass(frozen=True)
class Observable:
    """A named quantity of a system in one state.

    `group_means` tells whose groups must not be empty, since means over them are taken.
    """

    name: str
    dims: tuple[str, ...]
    about: str
    compute: Compute
    group_means: Literal["data", "test"] | None = None


OBSERVABLES: dict[str, Observable] = {}


def observable(
    *dims: str, about: str, group_means: Literal["data", "test"] | None = None
) -> Callable[[Compute], Compute]:
    """Register a function of a `View` under its own name."""

    def register(compute: Compute) -> Compute:
        name = compute.__name__
        OBSERVABLES[name] = Observable(name, dims, about, compute, group_means)
        return compute

    return register


def find(name: str) -> Observable:
    """The observable with this name."""
    return look_up("observable", name, OBSERVABLES)
