"""The course of training: stages with their systems, events and records, for all seeds.

A form on a problem (`prepare`, `train_members`) and a system that is written directly
come to the same legs, which `course_of` trains.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from attnflow.data import Sequences
from attnflow.experiments.dataset import Labels, labels_of
from attnflow.experiments.members import Member, build_members
from attnflow.experiments.record import Arrays, Experiment, Trained
from attnflow.models.forms import State
from attnflow.models.systems import Training
from attnflow.models.tables import Forward
from attnflow.observables import Scalar, View, find, parse
from attnflow.training import Course, Reach, Stage, stack, stack_arrays, train
from attnflow.training.system import Axes

Progress = Callable[[float, str], None]
"""Called with the fraction done and what is being done."""
Rates = Sequence[Mapping[str, np.ndarray] | None]
"""For each stage the learning rates of the members by part, where these differ."""


class Event(eqx.Module):
    """The distance of a scalar from its level, positive beyond it.

    The level is an array, so that another one compiles nothing anew. `view` makes what
    the scalar is read off of a system, a state and, where there is one, a sight.
    """

    scalar: Scalar = eqx.field(static=True)
    level: Array
    sign: float = eqx.field(static=True)
    view: Callable = eqx.field(static=True)

    def __call__(self, system: PyTree, state: PyTree, *sight: Forward | None) -> Array:
        """How far beyond its level the scalar is."""
        value = self.scalar(self.view(system, state, *sight))
        return self.sign * (value - self.level)


def event_of(until: Reach, scalar: Scalar, view: Callable) -> Event:
    """The event that a stage waits for, whose scalar is read off a view."""
    sign = 1.0 if until.direction == "up" else -1.0
    return Event(scalar, jnp.asarray(until.level), sign, view)


Leg = tuple[Stage, PyTree, Axes, Event | None]
"""A stage, its system stacked over seeds, the axes of that, and its event."""


@dataclass(frozen=True)
class Prepared:
    """What a run trains.

    - `members`: the system and the initial state of each seed.
    - `state`: the initial states, stacked; `legs`: the stages, as `train` takes them.
    - `coords`: labels of dims; `notes`: what the run reports of its form and rules.
    """

    members: list[Member]
    state: PyTree
    legs: list[Leg]
    coords: Labels
    notes: dict[str, str]


@dataclass(frozen=True)
class Observe:
    """The observables of a run, as a hashable function of system and state."""

    names: tuple[str, ...]

    def __call__(
        self, system: Training, state: State, sight: Forward | None = None
    ) -> dict[str, Array]:
        """The observables in one state, which may have been seen already."""
        view = View(system, state, sight)
        return {name: find(name).compute(view) for name in self.names}


def prepare(
    experiment: Experiment,
    seeds: Sequence[int],
    data: Arrays | None = None,
    weights: Arrays | None = None,
    *,
    lift: bool = False,
) -> Prepared:
    """Choose the form and build every seed, as `build_members` does, and its stages."""
    members, notes = build_members(experiment, seeds, data, weights, lift=lift)
    coords, state, legs = _assemble(experiment, members)
    return Prepared(members, state, legs, coords, notes)


def train_members(
    experiment: Experiment, members: list[Member], *, rates: Rates | None = None
) -> Course:
    """Train members of one shape together, as their common experiment says."""
    _, state, legs = _assemble(experiment, members)
    observe = Observe(experiment.observables)
    return course_of(experiment, legs, state, observe=observe, rates=rates)


def course_of(
    experiment: Trained,
    legs: list[Leg],
    state: PyTree,
    *,
    observe: Callable[..., dict[str, Array]],
    rates: Rates | None = None,
    progress: Progress | None = None,
) -> Course:
    """Train all seeds of a stacked `state` through the `legs`, as `train` does."""
    return train(
        legs,
        state,
        seeds=len(jax.tree.leaves(state)[0]),
        times=experiment.grid.times(whole=not experiment.is_flow),
        observe=observe,
        rates=rates,
        progress=progress,
    )


def _assemble(
    experiment: Experiment, members: list[Member]
) -> tuple[Labels, PyTree, list[Leg]]:
    """Members of one shape as one computation: labels, stacked states, stages."""
    coords = labels_of(members[0][0])
    state = jax.tree.map(stack_arrays, *[state for _, state in members])
    return coords, state, [_leg(s, members, coords) for s in experiment.stages]


def _leg(stage: Stage, members: list[Member], coords: Labels) -> Leg:
    systems = []
    for system, _ in members:
        data = system.data if stage.group is None else system.data.restrict(stage.group)
        _check_batches(stage, data)
        systems.append(
            replace(
                system,
                probability=data.probability,
                trained=tuple(sorted(stage.trains)),
                batches=stage.batches,
            )
        )
    stacked, axes = stack(systems)
    event = None
    if isinstance(stage.until, Reach):
        event = event_of(stage.until, parse(stage.until.scalar, dict(coords)), View)
    return stage, stacked, axes, event


def _check_batches(stage: Stage, data: Sequences) -> None:
    """Refuse epochs over fewer samples than a batch has."""
    if stage.batches is None or stage.batches.order == "drawn":
        return
    count = int((np.asarray(data.probability) > 0).sum())
    if stage.batches.size > count:
        raise ValueError(
            f"A batch of {stage.batches.size} is larger than the {count} samples that "
            f"the stage {stage.name!r} trains on. Use a smaller size, or "
            "order='drawn', which repeats samples."
        )
