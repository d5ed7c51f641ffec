"""Registries: observables by name, with the dims that they have beside seed and time.

An observable is a function of a view, which is a system in one state. Each kind of
system has a registry of its own; `OBSERVABLES` are those of a `View`. One entry of an
observable is named by a text: `loss`, `score[+,c1,v1]`, `loss_by_group[conflicting]`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from jaxtyping import Array, PyTree

from attnflow.observables.view import View
from attnflow.schema.settings import look_up

V = TypeVar("V")
Compute = TypeVar("Compute", bound=Callable[..., Array])
Groups = Literal["data", "test"]
Coords = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Observable(Generic[V]):
    """A named function of a system in one state, as its view has it.

    `group_means` says whose groups must not be empty, since means over them are taken.
    """

    name: str
    dims: tuple[str, ...]
    about: str
    compute: Callable[[V], Array]
    group_means: Groups | None = None


class Registry(Generic[V]):
    """Observables by name; `view` gives their argument, from a system and a state.

    `place` says where it is found, as `module:name`. It is known there to all sessions,
    as functions are, so that programs over it can be kept.
    """

    def __init__(self, view: Callable[..., V], *others: "Registry[V]", place: str = ""):
        self.__module__, _, self._name = place.partition(":")
        self.view = view
        self.known: dict[str, Observable[V]] = {}
        for other in others:
            self.known.update(other.known)

    def __reduce__(self) -> str:
        if not self._name:
            raise TypeError("This registry has no place by which it could be found.")
        return self._name

    def observable(self, *dims: str, about: str) -> Callable[[Compute], Compute]:
        """Register a function of a view under its own name."""

        def register(compute: Compute) -> Compute:
            name = compute.__name__
            self.known[name] = Observable(name, dims, about, compute)
            return compute

        return register

    def declare(
        self,
        *dims: str,
        group_means: Groups | None = None,
        **entries: tuple[str, Callable[[V], Array]],
    ) -> None:
        """Register observables with these dims: `name=(about, function of a view)`."""
        for name, (about, compute) in entries.items():
            self.known[name] = Observable(name, dims, about, compute, group_means)

    def find(self, name: str) -> Observable[V]:
        """The observable with this name."""
        return look_up("observable", name, self.known)


VIEWS = Registry(View, place=f"{__name__}:VIEWS")
OBSERVABLES = VIEWS.known
observable = VIEWS.observable
declare = VIEWS.declare


def find(name: str) -> Observable[View]:
    """The observable of a `View` with this name."""
    return VIEWS.find(name)


@dataclass(frozen=True)
class DirectObserve(Generic[V]):
    """The observables of a run, as a hashable function of system and state."""

    names: tuple[str, ...]
    registry: Registry[V]

    def __call__(self, system: PyTree, state: PyTree) -> dict[str, Array]:
        """The observables in one state."""
        view = self.registry.view(system, state)
        return {name: self.registry.find(name).compute(view) for name in self.names}


@dataclass(frozen=True)
class Scalar(Generic[V]):
    """One entry of an observable, such as `score[+,c1,v1]`."""

    name: str
    index: tuple[int, ...]
    find: Callable[[str], Observable[V]]

    def __call__(self, view: V) -> Array:
        """Its value in one state."""
        return self.find(self.name).compute(view)[self.index]


def parse(
    text: str, coords: Coords, find: Callable[[str], Observable[V]] = find
) -> Scalar[V]:
    """The scalar that a text names, given the labels of each dim.

    `find` is that of the system whose observable it is.
    """
    match = re.fullmatch(r"\s*(\w+)\s*(?:\[([^\]]*)\])?\s*", text)
    if match is None:
        raise ValueError(
            f"{text!r} names no scalar: write an observable and its labels, as in "
            "score[+,c1,v1] or loss."
        )
    entry = find(match[1])
    labels = [part.strip() for part in (match[2] or "").split(",") if part.strip()]
    if len(labels) != len(entry.dims):
        raise ValueError(
            f"{text!r} gives {len(labels)} labels, but {entry.name} has the dims "
            f"{entry.dims}: give one label for each."
        )
    index = [
        look_up(dim, label, {name: i for i, name in enumerate(coords[dim])})
        for dim, label in zip(entry.dims, labels, strict=True)
    ]
    return Scalar(entry.name, tuple(index), find)
