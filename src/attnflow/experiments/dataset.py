"""What a course of training left behind, as one labelled Dataset."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from attnflow.models.systems import Training
from attnflow.observables import find
from attnflow.training import Course


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
    experiment: Any,
    seeds: list[int],
    course: Course,
    coords: Mapping[str, tuple[str, ...]],
    *,
    beside: Mapping[str, Any] | None = None,
    find: Callable[[str], Any] = find,
) -> xr.Dataset:
    """The rows, values at stage ends and outcomes, as `attnflow.schema` says.

    `beside` are other variables: adding them later costs as much as all of it. `find`
    gives the dims of observables by their names.
    """
    records = course.records
    variables: dict[str, Any] = {
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
