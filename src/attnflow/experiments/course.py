"""The course of training: stages, events and records of all seeds, and their Dataset.

A form on a problem (`prepare`, `train_members`) and a system that is written directly
come to the same legs, which `course_of` trains. `as_dataset` labels the records.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import numpy as np
import xarray as xr
from jaxtyping import Array, PyTree

from attnflow.data import Sequences
from attnflow.experiments.members import Member, build_members
from attnflow.experiments.record import Arrays, Experiment, Trained
from attnflow.models.forms import State
from attnflow.models.systems import Training
from attnflow.models.tables import Forward
from attnflow.observables import Scalar, View, find, parse
from attnflow.observables.registry import Observable
from attnflow.training import Course, Reach, Stage, stack, stack_arrays, train
from attnflow.training.programs import Axes, put
from attnflow.training.rules import Descent, Flow, per_part

Labels = Mapping[str, tuple[str, ...]]
"""The labels of each dim."""
Variable = xr.DataArray | tuple
"""A variable as `xarray.Dataset` takes it: dims, values and attributes."""
FACTOR = 10
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
    return Event(scalar, put(np.asarray(until.level, float)), sign, view)


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


def labels_of(system: Training) -> dict[str, tuple[str, ...]]:
    """Labels of the dims of observables."""
    data = system.data
    tokens = data.shown_names
    names = data.sample_names()
    if len(set(names)) < len(names):
        names = [f"{name} #{i}" for i, name in enumerate(names)]
    return {
        "head": system.problem.readout.head_names,
        "key": tokens,
        "query": tokens,
        "token": tokens,
        "vocabulary": data.names,
        "sample": tuple(names),
        "group": data.group_names,
    }


def as_dataset(
    experiment: Trained,
    seeds: list[int],
    course: Course,
    coords: Labels,
    *,
    beside: Mapping[str, Variable] | None = None,
    find: Callable[[str], Observable] = find,
) -> xr.Dataset:
    """The rows, values at stage ends and outcomes, as `attnflow.schema` says.

    `beside` are other variables: adding them later costs as much as all of it. `find`
    gives the dims of observables by their names.
    """
    records = course.records
    variables: dict[str, Variable] = {
        **(beside or {}),
        "recorded": (("seed", "time"), records.recorded),
        "outcome": ("seed", np.array([o.label for o in course.outcomes])),
        "end_time": ("seed", course.ends[:, -1]),
        "stage_start": (("seed", "stage"), course.starts),
        "stage_end": (("seed", "stage"), course.ends),
    }
    used = {"stage"}
    for name in experiment.observables:
        dims = find(name).dims
        used.update(dims)
        about = {"about": find(name).about}
        variables[name] = (("seed", "time", *dims), records.rows[name], about)
        ends = np.stack([row[name] for row in records.ends], axis=1)
        variables[f"{name}_at_end"] = (("seed", "stage", *dims), ends, about)
    labels: dict[str, list[Any]] = {
        dim: list(coords[dim]) for dim in used if dim in coords
    }
    for dim in used & {"sample", "test_sample"} - set(labels):
        name = next(n for n in experiment.observables if dim in find(n).dims)
        size = records.rows[name].shape[2 + find(name).dims.index(dim)]
        labels[dim] = list(range(size))
    labels["stage"] = [s.name for s in experiment.stages[: len(records.ends)]]
    units = "time" if experiment.is_flow else "step"
    return xr.Dataset(
        variables,
        {
            "seed": seeds,
            "time": ("time", records.times, {"units": units, "long_name": LONG[units]}),
            "training_time": training_time(experiment, course),
            **labels,
        },
    )


LONG = {"time": "training time of the flow", "step": "steps of descent"}
CHUNK = 4096
"""Steps whose pace is computed at once: one shape, so that none compiles anew."""


def training_time(experiment: Trained, course: Course) -> Variable:
    """The time of a flow, or the learning rates of all steps so far, summed up.

    Where parts have rates of their own it is the largest of them. It is by seed where
    stages with different rates begin at different steps.
    """
    times = course.records.times
    about = {
        "units": "time",
        "long_name": "training time: that of a flow, or rates summed over steps",
    }
    if experiment.is_flow:
        return "time", times, about
    paces = [_fastest(stage) for stage in experiment.stages]
    if all(pace == paces[0] for pace in paces):
        return "time", _elapsed(paces[0], times), about
    total = np.zeros((len(course.starts), len(times)))
    spans = zip(paces, course.starts.T, course.ends.T, strict=False)
    for rule, start, end in spans:
        inside = np.clip(times, start[:, None], end[:, None])
        begun = _elapsed(rule, start)
        total += _elapsed(rule, inside.ravel()).reshape(total.shape) - begun[:, None]
    return ("seed", "time"), total, about


def _fastest(stage: Stage) -> Descent:
    """The rule of the part that moves at the largest rate."""
    rules = per_part(stage.rule, stage.trains).values()
    descents = [rule for rule in rules if not isinstance(rule, Flow)]
    return max(descents, key=lambda rule: rule.learning_rate)


def _elapsed(rule: Descent, steps: np.ndarray) -> np.ndarray:
    """The sum of a rule's rates up to each of some steps."""
    if rule.schedule is None and not getattr(rule, "growth", 0.0):
        # A rate at which runs diverge at once may be as large as floats allow.
        with np.errstate(over="ignore"):
            return rule.learning_rate * steps
    order = np.argsort(steps)
    found, total, first = np.zeros(len(steps)), 0.0, 0
    due = steps[order].astype(int)
    while True:
        pace = np.asarray(rule.pace(put(first + np.arange(CHUNK))), float)
        # Beyond the last step, a growing rate may be NaN.
        made = pace[: max(int(due[-1]) - first, 0)]
        sums = total + np.concatenate([[0.0], np.cumsum(made)])
        here = (due >= first) & (due <= first + CHUNK)
        found[order[here]] = sums[due[here] - first]
        first, total = first + CHUNK, sums[-1]
        if not (due > first).any():
            return rule.learning_rate * found


def drifts(
    members: Sequence[tuple[PyTree, PyTree]],
    course: Course,
    drift: Callable[[PyTree, PyTree, PyTree], float],
) -> np.ndarray:
    """By how much each seed drifted from what a flow conserves.

    `drift` is a function of the system, the state before and the state after.
    """
    # On the host, where slicing an array compiles nothing.
    last = jax.tree.map(np.asarray, course.state)
    by_seed = [
        drift(system, before, jax.tree.map(lambda x, i=i: x[i], last))
        for i, (system, before) in enumerate(members)
    ]
    return np.array(by_seed)


def finer(stage: Stage) -> Stage:
    """The stage at a tenth of its tolerances."""
    rule = stage.rule
    assert isinstance(rule, Flow)
    sharp = replace(rule, rtol=rule.rtol / FACTOR, atol=rule.atol / FACTOR)
    return replace(stage, rule=sharp)


def refinement(
    course: Course, fine: Course, names: tuple[str, ...]
) -> dict[str, Variable]:
    """How much a flow's records change at a tenth of its tolerances.

    Conserved quantities can stay put while a solution goes wrong along them; solving
    anew with `rtol` and `atol` divided by ten shows what the solver's error amounts to
    in each observable: the largest difference of the two courses, relative to the
    observable's largest entry. Rows count that both have recorded; not a number where a
    seed's second course ended otherwise than its first, since then the two are not of
    the same stretch.
    """
    both = course.records.recorded & fine.records.recorded
    changes = np.stack([_relative(course, fine, name, both) for name in names], axis=1)
    alike = [a is b for a, b in zip(course.outcomes, fine.outcomes, strict=True)]
    changes[~(np.array(alike) & both.any(axis=1))] = np.nan
    about = "largest change at a tenth of the tolerance, relative to the largest entry"
    return {
        "refinement": ("seed", changes.max(axis=1), {"about": about}),
        "refinement_by_observable": xr.DataArray(
            changes,
            dims=("seed", "observable"),
            coords={"observable": list(names)},
            attrs={"about": about},
        ),
    }


def _relative(course: Course, fine: Course, name: str, both: np.ndarray) -> np.ndarray:
    first, second = course.records.rows[name], fine.records.rows[name]
    change = _largest(np.abs(first - second), both)
    size = _largest(np.abs(second), both)
    return np.where(change > 0, change / np.where(size > 0, size, 1.0), 0.0)


def _largest(values: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The largest entry of each seed among some of its rows; 0 where there are none."""
    by_time = values.reshape(*among.shape, -1).max(axis=-1)
    return np.where(among, by_time, 0.0).max(axis=1)
