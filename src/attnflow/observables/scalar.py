"""Scalars by text: `loss`, `score[+,c1,v1]`, `loss_by_group[conflicting]`."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jaxtyping import Array

from attnflow.observables.registry import find
from attnflow.schema.names import look_up

Coords = dict[str, tuple[str, ...]]
Find = Callable[[str], Any]
"""A name → the observable, with its `name`, its `dims` and `compute`."""


@dataclass(frozen=True)
class Scalar:
    """One entry of an observable, such as `score[+,c1,v1]`."""

    name: str
    index: tuple[int, ...]
    find: Find = find

    def __call__(self, view: Any) -> Array:
        """Its value in one state, of which the observable takes a view."""
        return self.find(self.name).compute(view)[self.index]


def parse(text: str, coords: Coords, find: Find = find) -> Scalar:
    """The scalar that a text names, given the labels of each dim.

    `find` is that of the system whose observable it is.
    """
    match = re.fullmatch(r"\s*(\w+)\s*(?:\[([^\]]*)\])?\s*", text)
    if match is None:
        raise ValueError(
            f"{text!r} names no scalar: write an observable and its labels, as in "
            "score[+,c1,v1] or loss."
        )
    found = find(match[1])
    labels = [part.strip() for part in (match[2] or "").split(",") if part.strip()]
    if len(labels) != len(found.dims):
        raise ValueError(
            f"{text!r} gives {len(labels)} labels, but {found.name} has the dims "
            f"{found.dims}: give one label for each."
        )
    places = [
        look_up(dim, label, {name: i for i, name in enumerate(coords[dim])})
        for dim, label in zip(found.dims, labels, strict=True)
    ]
    return Scalar(found.name, tuple(places), find)
