"""Cells: experiments that differ in numbers, those of one shape by one program."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from attnflow.experiments.compilation import keep_compiled, make_room
from attnflow.experiments.members import Observe
from attnflow.experiments.prepare import Built, assemble, build_members
from attnflow.experiments.record import Experiment
from attnflow.models.systems import Training
from attnflow.observables import find
from attnflow.training import Course, precise, train

Progress = Callable[[float, str], None]


def run_cells(
    experiments: Sequence[Experiment],
    *,
    seeds: Sequence[int] = (0,),
    progress: Progress | None = None,
) -> xr.Dataset:
    """What many experiments come to, one after the other.

    Those that share vectors and weights draw these once for a seed, and those whose
    systems have equal shapes share a compiled program. Side by side, each would wait
    for the slowest.

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
        for number, plan in enumerate(experiments, start=1):
            course = _trained(plan, build_members(plan, [seed]))
            for name in names:
                found[name].append(float(course.records.ends[-1][name][0]))
            found["end_time"].append(float(course.ends[0, -1]))
            found["cell_outcome"].append(course.outcomes[0].label)
            progress(number / len(experiments), seed)
    return found


def _trained(plan: Experiment, built: Built) -> Course:
    # Nothing that is recorded compares with the start.
    members = [(replace(system, start=None), state) for system, state in built.members]
    return train_members(plan, members)


def train_members(
    plan: Experiment,
    members: list[tuple[Training, Any]],
    *,
    rates: Sequence[Mapping[str, np.ndarray] | None] | None = None,
) -> Course:
    """Train members of one shape together, as their common plan says.

    `rates` has for each stage the learning rates of members, where these differ.
    """
    made = assemble(plan, Built(members, {}))
    return train(
        made.legs,
        made.state,
        seeds=len(members),
        times=plan.grid.times(whole=not plan.is_flow),
        observe=Observe(plan.observables),
        rates=rates,
    )


def _part(
    progress: Progress | None, number: int, count: int
) -> Callable[[float, int], None]:
    def tell(fraction: float, seed: int) -> None:
        if progress is not None:
            progress((number + fraction) / count, f"seed {seed}")

    return tell
