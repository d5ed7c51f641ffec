"""Many experiments: as whole runs side by side, or as last values one by one."""

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from attnflow import schema
from attnflow.experiments.course import Progress, as_dataset, labels_of, train_members
from attnflow.experiments.members import Built, build_members
from attnflow.experiments.record import Experiment
from attnflow.experiments.run import attributes
from attnflow.observables import find
from attnflow.schema.clock import compile_time
from attnflow.schema.settings import address
from attnflow.training import Course, Records, Stage, precise
from attnflow.training.programs import make_room
from attnflow.training.rules import Flow, GradientDescent, Rule, per_part

Cell = tuple[int, Experiment, Built]


def run_batch(
    experiments: Sequence[Experiment], *, seeds: Sequence[int] = (0,), pad: bool = False
) -> list[xr.Dataset | Exception]:
    """Run many experiments; neighbours with arrays of equal shapes train side by side.

    Neighbours are of one shape where their systems have equal shapes, and their stages
    (but for learning rates), times and observables are equal: such cells and all of
    their seeds are trained side by side, unless their seeds run one after the other
    anyway.

    **Arguments:**

    - `pad`: fill up neighbours to a power of two, by the last of them again. Batches of
      many lengths then need few programs.

    **Returns:** for each experiment its run, without what `run` computes beside
    training (drift, thresholds of the rate), or the error that it met, which costs no
    other experiment its run.
    """
    seeds = [int(seed) for seed in seeds]
    make_room()
    results: dict[int, xr.Dataset | Exception] = {}
    cells: list[Cell] = []
    with precise():
        for number, plan in enumerate(experiments):
            try:
                cells.append((number, plan, build_members(plan, seeds)))
            except Exception as error:
                results[number] = error
        for _, group in groupby(cells, key=lambda cell: _shape(*cell[1:])):
            for alike in _split(list(group)):
                runs = _runs(alike, seeds, pad=pad)
                for (number, *_), run in zip(alike, runs, strict=True):
                    results[number] = run
    return [results[number] for number in range(len(experiments))]


def run_cells(
    experiments: Sequence[Experiment],
    *,
    seeds: Sequence[int] = (0,),
    progress: Progress | None = None,
) -> xr.Dataset:
    """Final values of scalars of many experiments, one experiment after the other.

    Those that share vectors and weights draw these once for a seed, and those whose
    systems have equal shapes share a compiled program. Side by side, each would wait
    for the slowest.

    **Returns:** the last value of every observable, `end_time` and `cell_outcome`, with
    the dims `seed` and `cell`. Observables must be scalars that do not compare with the
    initial state.
    """
    names = _scalars(experiments)
    make_room()
    rows = []
    for number, seed in enumerate(seeds):

        def report(fraction: float, number: int = number, seed: int = seed) -> None:
            if progress is not None:
                progress((number + fraction) / len(seeds), f"seed {seed}")

        rows.append(_last_values(experiments, seed, names, report))
    variables = {
        name: (("seed", "cell"), np.array([row[name] for row in rows]))
        for name in (*names, "end_time", "cell_outcome")
    }
    return xr.Dataset(variables, {"seed": list(seeds)})


def _shape(plan: Experiment, built: Built) -> Hashable | list:
    """What must be equal for cells to run as one: all but numbers."""
    leaves, tree = jax.tree.flatten(built.members[0])
    shapes = [(jnp.shape(leaf), jnp.result_type(leaf)) for leaf in leaves]
    stages = [_at_rate_one(stage) for stage in plan.stages]
    return shapes, tree, stages, plan.grid, plan.observables


def _at_rate_one(stage: Stage) -> tuple[Stage, list | None]:
    """A stage without its learning rates, which are arguments of a program."""
    if stage.is_flow:
        return stage, None
    rules = per_part(stage.rule, stage.trains)
    plain = [(name, replace(rule, learning_rate=1.0)) for name, rule in rules.items()]
    return replace(stage, rule=GradientDescent(1.0)), plain


def _rates(
    cells: list[Cell], number: int, seeds: int
) -> Mapping[str, np.ndarray] | None:
    """The learning rates of a stage, member by member; `None` where all are equal."""
    stages = [plan.stages[number] for _, plan, _ in cells]
    if stages[0].is_flow or all(stage == stages[0] for stage in stages):
        return None
    by_cell = [per_part(stage.rule, stage.trains) for stage in stages]
    rates = {name: [_rate(rules[name]) for rules in by_cell] for name in by_cell[0]}
    return {name: np.repeat(rate, seeds) for name, rate in rates.items()}


def _rate(rule: Rule) -> float:
    assert not isinstance(rule, Flow)
    return rule.learning_rate


def _split(cells: list[Cell]) -> list[list[Cell]]:
    """Cells that gain by training together: none where seeds run one by one."""
    system, _ = cells[0][2].members[0]
    return [[cell] for cell in cells] if system.apart else [cells]


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
        # Perhaps only one cell fails: run them one by one, so that each gets its own
        # error.
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
        starts, ends = course.starts[mine], course.ends[mine]
        yield Course(records, None, starts, ends, course.outcomes[mine], [])


def _run(
    cell: Cell, course: Course, seeds: list[int], spent: dict[str, float]
) -> xr.Dataset:
    _, plan, built = cell
    body = as_dataset(plan, seeds, course, labels_of(built.members[0][0]))
    id = address(plan.canonical(), seeds=seeds)
    body.attrs = attributes(plan, built.notes, id=id, **spent)
    return schema.check(schema.described(body))


def _scalars(experiments: Sequence[Experiment]) -> tuple[str, ...]:
    names = experiments[0].observables
    wide = [name for name in names if find(name).dims]
    if wide or any(plan.observables != names for plan in experiments):
        raise ValueError(
            "All cells must record the same scalars, and these are to be recorded: "
            f"{sorted({plan.observables for plan in experiments})}, of which {wide} "
            "are not scalars. Record 'loss', 'test_loss' and the like."
        )
    return names


def _last_values(
    experiments: Sequence[Experiment],
    seed: int,
    names: tuple[str, ...],
    report: Callable[[float], None],
) -> dict[str, list[float | str]]:
    values = {name: [] for name in (*names, "end_time", "cell_outcome")}
    with precise():
        for number, plan in enumerate(experiments, start=1):
            # No recorded observable compares with the initial state.
            members = [
                (replace(system, start=None), state)
                for system, state in build_members(plan, [seed]).members
            ]
            course = train_members(plan, members)
            for name in names:
                values[name].append(float(course.records.ends[-1][name][0]))
            values["end_time"].append(float(course.ends[0, -1]))
            values["cell_outcome"].append(course.outcomes[0].label)
            report(number / len(experiments))
    return values
