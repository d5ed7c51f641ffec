"""Many experiments side by side, each with all that its own run would have recorded."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.experiments.cells import train_members
from attnflow.experiments.compilation import compile_time, keep_compiled, make_room
from attnflow.experiments.dataset import as_dataset, labels_of
from attnflow.experiments.prepare import Built, build_members
from attnflow.experiments.record import Experiment, address
from attnflow.experiments.run import attributes
from attnflow.training import Course, Records, Stage, precise
from attnflow.training.rules import GradientDescent, per_part

Cell = tuple[int, Experiment, Built]


def run_batch(
    experiments: Sequence[Experiment],
    *,
    seeds: Sequence[int] = (0,),
    pad: bool = False,
) -> list[xr.Dataset | Exception]:
    """The runs of many experiments; neighbours of one shape are one computation.

    Neighbours are of one shape where their systems have equal shapes, and their stages
    (but for learning rates), times and observables are equal: such cells and all of
    their seeds are trained side by side, unless their seeds run one after the other
    anyway.

    **Arguments:**

    - `pad`: fill up neighbours to a power of two, by the last of them again. Batches of
      many lengths then need few programs.

    **Returns:** for each experiment its run, without what `run` finds beside training
    (drift, thresholds of the rate), or the error that it met, which costs no other
    experiment its run.
    """
    seeds = [int(seed) for seed in seeds]
    keep_compiled()
    make_room()
    with precise():
        found: list[Any] = [_build(plan, seeds) for plan in experiments]
        cells = [
            (number, plan, built)
            for number, (plan, built) in enumerate(zip(experiments, found, strict=True))
            if isinstance(built, Built)
        ]
        for _, group in groupby(cells, key=lambda cell: _shape(*cell[1:])):
            for alike in _split(list(group)):
                runs = _runs(alike, seeds, pad=pad)
                for (number, *_), run in zip(alike, runs, strict=True):
                    found[number] = run
    return found


def _shape(plan: Experiment, built: Built) -> Any:
    """What must be equal for cells to run as one: all but numbers."""
    leaves, tree = jax.tree.flatten(built.members[0])
    shapes = [(jnp.shape(leaf), jnp.result_type(leaf)) for leaf in leaves]
    stages = [_at_rate_one(stage) for stage in plan.stages]
    return shapes, tree, stages, plan.grid, plan.observables


def _at_rate_one(stage: Stage) -> tuple[Stage, Any]:
    """A stage without its learning rates, which are arguments of a program."""
    if stage.is_flow:
        return stage, None
    rules = per_part(stage.rule, stage.trains)
    plain = [(name, replace(rule, learning_rate=1.0)) for name, rule in rules.items()]
    return replace(stage, rule=GradientDescent(1.0)), plain


def _rates(cells: list[Cell], number: int, seeds: int) -> dict[str, Any] | None:
    """The learning rates of a stage, member by member; `None` where all are equal."""
    stages = [plan.stages[number] for _, plan, _ in cells]
    if stages[0].is_flow or all(stage == stages[0] for stage in stages):
        return None
    each: list[Any] = [per_part(stage.rule, stage.trains) for stage in stages]
    return {
        name: np.repeat([rules[name].learning_rate for rules in each], seeds)
        for name in each[0]
    }


def _split(cells: list[Cell]) -> list[list[Cell]]:
    """Cells that gain by training together: none where seeds run one by one."""
    system, _ = cells[0][2].members[0]
    return [[cell] for cell in cells] if system.apart else [cells]


def _build(plan: Experiment, seeds: list[int]) -> Built | Exception:
    try:
        return build_members(plan, seeds)
    except Exception as error:
        return error


def _runs(
    cells: list[Cell], seeds: list[int], *, pad: bool
) -> list[xr.Dataset | Exception]:
    begun = time.perf_counter()
    missing = (1 << (len(cells) - 1).bit_length()) - len(cells) if pad else 0
    try:
        with compile_time() as watch:
            padded = cells + missing * cells[-1:]
            members = [member for _, _, built in padded for member in built.members]
            plan = cells[0][1]
            stages = range(len(plan.stages))
            rates = [_rates(padded, number, len(seeds)) for number in stages]
            course = train_members(plan, members, rates=rates)
        spent = {
            "wall_seconds": (time.perf_counter() - begun) / len(cells),
            "compile_seconds": watch.seconds / len(cells),
        }
        parts = _parts(course, len(seeds))
        return [_run(c, p, seeds, spent) for c, p in zip(cells, parts, strict=False)]
    except Exception as error:
        if len(cells) == 1:
            return [error]
        # It may be of one of them alone: an error is a cell's own answer.
        return [run for cell in cells for run in _runs([cell], seeds, pad=pad)]


def _parts(course: Course, size: int) -> Iterator[Course]:
    """The courses of each cell, whose seeds stand one after the other."""
    whole = course.records
    for first in range(0, len(course.outcomes), size):
        mine = slice(first, first + size)
        records = Records(whole.times, size)
        records.recorded = whole.recorded[mine]
        records.rows = {name: rows[mine] for name, rows in whole.rows.items()}
        records.ends = [{n: row[mine] for n, row in end.items()} for end in whole.ends]
        yield Course(
            records,
            None,
            course.starts[mine],
            course.ends[mine],
            course.outcomes[mine],
            [],
        )


def _run(
    cell: Cell, course: Course, seeds: list[int], spent: dict[str, Any]
) -> xr.Dataset:
    _, plan, built = cell
    body = as_dataset(plan, seeds, course, labels_of(built.members[0][0]))
    id = address(plan, seeds=seeds)
    body.attrs = attributes(plan, built.notes, id=id, **spent)
    return schema.check(body)
