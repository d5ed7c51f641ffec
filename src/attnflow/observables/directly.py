"""Observables of systems that are written directly: a registry for each kind."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jaxtyping import Array

from attnflow.schema.names import look_up


@dataclass(frozen=True)
class DirectObservable:
    """A named quantity of a system in one state, as its view tells it."""

    name: str
    dims: tuple[str, ...]
    about: str
    compute: Callable[[Any], Array]


class Registry:
    """Observables by name; `view` makes what they look at of a system and a state."""

    def __init__(self, view: Callable[[Any, Any], Any], *others: "Registry"):
        self.view = view
        self.known = {k: v for other in others for k, v in other.known.items()}

    def observable(self, *dims: str, about: str) -> Callable[[Callable], Callable]:
        """Register a function of a view under its own name."""

        def register(compute: Callable) -> Callable:
            name = compute.__name__
            self.known[name] = DirectObservable(name, dims, about, compute)
            return compute

        return register

    def find(self, name: str) -> DirectObservable:
        """The observable with this name."""
        return look_up("observable", name, self.known)


@dataclass(frozen=True)
class DirectObserve:
    """The observables of a run, as a hashable function of system and state."""

    names: tuple[str, ...]
    registry: Registry

    def __call__(self, system: Any, state: Any) -> dict[str, Array]:
        """The observables in one state."""
        view = self.registry.view(system, state)
        return {name: self.registry.find(name).compute(view) for name in self.names}
