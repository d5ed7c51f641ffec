"""The records of a course of training as one labelled Dataset, and their accuracy."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import jax
import numpy as np
import xarray as xr
from jaxtyping import PyTree

from attnflow.experiments.record import Trained
from attnflow.models.systems import Training
from attnflow.observables import find
from attnflow.observables.registry import Observable
from attnflow.training import Course, Stage
from attnflow.training.rules import Flow

Labels = Mapping[str, tuple[str, ...]]
"""The labels of each dim."""
Variable = xr.DataArray | tuple
"""A variable as `xarray.Dataset` takes it: dims, values and attributes."""
FACTOR = 10


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
    labels = {dim: list(coords[dim]) for dim in used if dim in coords}
    labels["stage"] = [s.name for s in experiment.stages[: len(records.ends)]]
    units = "time" if experiment.is_flow else "step"
    return xr.Dataset(
        variables,
        {"seed": seeds, "time": ("time", records.times, {"units": units}), **labels},
    )


def drifts(
    members: Sequence[tuple[PyTree, PyTree]],
    course: Course,
    drift: Callable[[PyTree, PyTree, PyTree], float],
) -> np.ndarray:
    """By how much each seed drifted from what a flow conserves.

    `drift` is a function of the system, the state before and the state after.
    """
    by_seed = [
        drift(system, before, jax.tree.map(lambda x, i=i: x[i], course.state))
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
