"""Models that are a loss of weights, written by hand; the rest follows by autodiff."""

import abc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from attnflow.data import random
from attnflow.data.random import Key
from attnflow.data.token_sequences import on_device
from attnflow.experiments.record import STREAMS, Arrays
from attnflow.observables.curvature.lanczos import top_curvature
from attnflow.observables.registry import Observable, Registry
from attnflow.training.rules import Rule

Weights = dict[str, dict[str, Array]]
"""Arrays by part, `scores` and `values`, and by name."""


class LossSystem(eqx.Module):
    """The gradient of a model's loss on data that are arrays."""

    model: "LossModel" = eqx.field(static=True)
    data: dict[str, Array]

    def velocity(self, t: Any, state: Weights) -> Weights:
        """Minus the gradient."""
        return self.direction(state)

    def direction(self, state: Weights) -> Weights:
        """Minus the gradient."""
        slope = jax.grad(lambda weights: self.model.loss(weights, self.data))(state)
        return jax.tree.map(jnp.negative, slope)

    def move(self, state: Weights, updates: Mapping[str, PyTree]) -> Weights:
        """The weights after the rules' updates."""
        moved = {n: jax.tree.map(jnp.add, state[n], u) for n, u in updates.items()}
        return {**state, **moved}

    def square(self, name: str, state: Weights, direction: PyTree) -> Float[Array, ""]:
        """The squared length of the gradient by a part."""
        return jnp.stack([(x**2).sum() for x in jax.tree.leaves(direction)]).sum()

    def each_matrix(
        self, name: str, update: PyTree, change: Callable[[Array], Array]
    ) -> PyTree:
        """A part's update with each matrix (the last two axes) changed."""
        return jax.tree.map(change, update)


class LossView:
    """A model in one state."""

    def __init__(self, system: LossSystem, state: Weights):
        self.model, self.data, self.state = system.model, system.data, state


SHARED = Registry(LossView, place=f"{__name__}:SHARED")
"""What every model can record beside its loss."""


@SHARED.observable(about="top eigenvalue of the Hessian of the loss by all weights")
def sharpness(view: LossView) -> Array:
    """By products of the Hessian with vectors (`observables/curvature/lanczos.py`)."""
    return top_curvature(lambda state: view.model.loss(state, view.data), view.state)


@dataclass(frozen=True)
class LossModel(abc.ABC):
    """A model as a frozen dataclass: its initial weights, its data and its loss.

    A subclass has `draw` and `loss`, `sample` where there are data, and methods of
    weights and data for what else is to be recorded, which `records` names with the
    labels of their axes. All rules follow it, since these are weights themselves.
    """

    system: ClassVar[str] = "a loss written by hand"
    records: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    registry: ClassVar[Registry[LossView]] = Registry(LossView)

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        place = f"{cls.__module__}:{cls.__qualname__}.registry"
        cls.registry = Registry(LossView, SHARED, place=place)
        for name, dims in {"loss": (), **cls.records}.items():
            about = (getattr(cls, name).__doc__ or name).strip().partition("\n")[0]
            entry = Observable(name, dims, about, _Recorded(name))
            cls.registry.known[name] = entry

    @abc.abstractmethod
    def draw(self, *, key: Key) -> Mapping[str, Mapping[str, np.ndarray]]:
        """The initial weights of a seed, by part and name."""

    @abc.abstractmethod
    def loss(self, weights: Weights, data: Mapping[str, Array]) -> Float[Array, ""]:
        """The loss that training minimises."""

    def sample(self, *, key: Key) -> Mapping[str, np.ndarray]:
        """The data of a seed; none."""
        return {}

    def labels(self) -> Mapping[str, tuple[str, ...]]:
        """Labels of the axes of what is recorded; none."""
        return {}

    def refuses(self, rules: Sequence[Rule]) -> str | None:
        """Weights follow every rule."""
        return None

    def form(self) -> tuple[str, str]:
        """The name of the form, and why it is this form."""
        return "weights", "the loss is written by hand"

    def drift(self, system: LossSystem, before: Weights, after: Weights) -> float:
        """Zero: what a loss written by hand conserves is not known."""
        return 0.0

    def members(
        self, seeds: Sequence[int], weights: Arrays | None
    ) -> list[tuple[LossSystem, Weights]]:
        """The system and the initial weights of each seed, drawn or given by name."""
        return [self._member(seed, weights) for seed in seeds]

    def _member(self, seed: int, weights: Arrays | None) -> tuple[LossSystem, Weights]:
        keys = {n: random.fold_in(random.key(seed), i) for i, n in enumerate(STREAMS)}
        drawn = {n: dict(part) for n, part in self.draw(key=keys["weights"]).items()}
        if weights is not None:
            _replace(drawn, weights)
        data = on_device(
            {n: _floats(a) for n, a in self.sample(key=keys["data"]).items()}
        )
        state = {
            name: on_device({n: _floats(a) for n, a in part.items()})
            for name, part in drawn.items()
        }
        return LossSystem(self, data), state


@dataclass(frozen=True)
class _Recorded:
    """A method of the model as a function of a view."""

    name: str

    def __call__(self, view: LossView) -> Array:
        return jnp.asarray(getattr(view.model, self.name)(view.state, view.data))


def _replace(drawn: dict[str, dict[str, np.ndarray]], weights: Arrays) -> None:
    known = {name: part for part in drawn.values() for name in part}
    if set(weights) != set(known):
        raise ValueError(
            f"The given weights are {sorted(weights)}; needed are {sorted(known)}."
        )
    for name, array in weights.items():
        shape = np.shape(known[name][name])
        if np.shape(array) != shape:
            raise ValueError(
                f"{name} has shape {np.shape(array)}; it must have {shape}."
            )
        known[name][name] = np.asarray(array)


def _floats(array: np.ndarray) -> np.ndarray:
    array = np.asarray(array)
    return array if array.dtype.kind in "iub" else array.astype(float)
