"""Cells: experiments of one shape that differ in numbers, as one computation."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from attnflow.dynamics import Course, precise, train
from attnflow.experiment.compilation import keep_compiled, make_room
from attnflow.experiment.members import Observe
from attnflow.experiment.prepare import Built, assemble, build_members
from attnflow.experiment.record import Experiment
from attnflow.observables import find
from attnflow.systems import Training

Progress = Callable[[float, str], None]


def run_cells(
    experiments: Sequence[Experiment],
    *,
    seeds: Sequence[int] = (0,),
    progress: Progress | None = None,
) -> xr.Dataset:
    """What many experiments come to, neighbours of one shape in one compiled program.

    Experiments that share vectors and weights draw these once for a seed. Neighbours
    are of one shape where their systems have equal shapes, and their stages, times and
    observables are equal.

    **Returns:** the last value of every observable, `end_time` and `cell_outcome`, with
    the dims `seed` and `cell`. Observables must be scalars that do not compare with the
    initial state.
    """
    names = _scalars(experiments)
    keep_compiled()
    make_room()
    rows = [
        _of_seed(experiments, seed, names, _part(progress, number, len(seeds)))
        for number, seed in enumerate(seeds)
    ]
    variables = {
        name: (("seed", "cell"), np.array([row[name] for row in rows]))
        for name in (*names, "end_time", "cell_outcome")
    }
    return xr.Dataset(variables, {"seed": list(seeds)})


def _scalars(experiments: Sequence[Experiment]) -> tuple[str, ...]:
    names = experiments[0].observables
    odd = [name for name in names if find(name).dims]
    if odd or any(plan.observables != names for plan in experiments):
        raise ValueError(
            "Cells record the same scalars each, and these are asked for: "
            f"{sorted({plan.observables for plan in experiments})}, of which {odd} are "
            "no scalars. Record 'loss', 'test_loss' and the like."
        )
    return names


def _of_seed(
    experiments: Sequence[Experiment],
    seed: int,
    names: tuple[str, ...],
    progress: Callable[[float, int], None],
) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {n: [] for n in (*names, "end_time", "cell_outcome")}
    with precise():
        made = ((plan, build_members(plan, [seed])) for plan in experiments)
        for _, cells in groupby(made, key=lambda cell: shape_of(*cell)):
            course = _trained(list(cells))
            for name in names:
                found[name] += course.records.ends[-1][name].tolist()
            found["end_time"] += course.ends[:, -1].tolist()
            found["cell_outcome"] += [outcome.label for outcome in course.outcomes]
            progress(len(found["cell_outcome"]) / len(experiments), seed)
    return found


def shape_of(plan: Experiment, built: Built) -> Any:
    """What must be equal for cells to run as one: all but numbers."""
    leaves, tree = jax.tree.flatten(built.members[0])
    shapes = [(jnp.shape(leaf), jnp.result_type(leaf)) for leaf in leaves]
    return shapes, tree, plan.stages, plan.grid


def _trained(cells: list[tuple[Experiment, Built]]) -> Course:
    members = [
        (replace(system, start=None), state)
        for _, built in cells
        for system, state in built.members
    ]
    return train_members(cells[0][0], members)


def train_members(plan: Experiment, members: list[tuple[Training, Any]]) -> Course:
    """Train members of one shape together, as their common plan says."""
    made = assemble(plan, Built(members, {}))
    return train(
        made.legs,
        made.state,
        seeds=len(members),
        times=plan.grid.times(whole=not plan.is_flow),
        observe=Observe(plan.observables),
    )


def _part(
    progress: Progress | None, number: int, count: int
) -> Callable[[float, int], None]:
    def tell(fraction: float, seed: int) -> None:
        if progress is not None:
            progress((number + fraction) / count, f"seed {seed}")

    return tell
