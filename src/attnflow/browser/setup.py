"""Set-up as a program: from numbers of a setting to all that they change in a run.

`trace` runs the set-up of an experiment with symbols for some numbers (`symbols`);
`compile_setup` makes a module of what came out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from attnflow.browser.kernel import Field
from attnflow.browser.lowering import Lowering, Unsupported
from attnflow.browser.lowering.lowering import copy, nest
from attnflow.browser.lowering.memory import place
from attnflow.browser.lowering.primitives.elementwise import as_kind
from attnflow.browser.lowering.values import (
    Indices,
    Place,
    Value,
    in_memory,
    keep,
    ravel,
)
from attnflow.browser.program import assemble, functions_of
from attnflow.browser.symbols import (
    Guard,
    Log,
    Program,
    Symbol,
    is_symbol,
    number,
    symbols_pass,
)
from attnflow.browser.trace import StageFunctions, legs_of, named, stages_of
from attnflow.browser.wasm.nodes import Buffer, Statement
from attnflow.experiments.record import Computation, Trained
from attnflow.schema.declarations import Recipe
from attnflow.training import Grid, Reach, precise
from attnflow.training.rules import Flow, per_part, split

CONTROL = ("rtol", "atol", "scale")
"""Numbers of a flow that its driver reads."""


@dataclass(frozen=True)
class SetUp:
    """An experiment at one setting, and how numbers of that setting change it.

    - `stages`: what its kernels are compiled from; `labels` of the dims.
    - `symbols`: by stage, those arrays that depend on numbers, by names as in
      `explorer.plan.stage_arrays`.
    - `grid`: `start` and `stop`, or `points`, where the times of records do.
    - `guards`: conditions under which this holds; `leaked`: numbers of which nothing is
      known, and where they were lost.
    """

    experiment: Trained
    stages: list[StageFunctions]
    labels: Mapping[str, Sequence[str]]
    symbols: list[dict[str, Symbol]]
    grid: dict[str, Symbol]
    guards: tuple[Guard, ...]
    leaked: Mapping[str, str]


def trace(
    recipe: Recipe,
    setting: Any,
    names: Sequence[str],
    seed: int = 0,
    stages: list[StageFunctions] | None = None,
) -> SetUp:
    """The set-up of an experiment, with symbols for the numbers of these names.

    `stages` are those of the experiment and seed, where they are there already.
    """
    experiment = recipe.experiment(setting)
    if isinstance(experiment, Computation):
        raise Unsupported(f"{recipe.id} trains nothing, so that nothing can be played.")
    log = Log()
    with precise(), symbols_pass():
        values = {name: number(name, getattr(setting, name), log) for name in names}
        symbolic = recipe.experiment(replace(setting, **values))
        state, legs, labels, _ = legs_of(symbolic, seed)
    stages = stages or stages_of(experiment, seed)
    by_stage = [
        _symbols_of(leg, state, stage) for leg, stage in zip(legs, stages, strict=True)
    ]
    with symbols_pass():
        grid = _grid(symbolic.grid)
    return SetUp(
        experiment,
        stages,
        labels,
        by_stage,
        {n: x for n, x in grid.items() if is_symbol(x)},
        tuple(log.guards),
        log.leaked,
    )


def _grid(grid: Grid) -> dict[str, Any]:
    """What may depend on numbers in the times of records.

    Times that are spaced by their logarithm are listed, so that all engines compute
    them alike, by the module's own exponential.
    """
    ends = {"start": grid.start, "stop": grid.stop}
    if grid.points:
        return {"points": np.asarray(grid.points)}
    if grid.spacing == "linear" or not any(map(is_symbol, ends.values())):
        return ends
    last = grid.count - 2
    share = np.arange(1, last) / last
    inner = grid.start * np.exp(share * np.log(grid.stop / grid.start))
    first, final = (np.full(1, end) for end in ends.values())
    return {"points": np.concatenate([np.zeros(1), first, inner, final])}


def _symbols_of(leg: Any, state: Any, stage: StageFunctions) -> dict[str, Symbol]:
    """What depends on numbers in a stage."""
    record, system, _, event = leg
    tree: dict[str, Any] = {"system": (system, event)}
    symbols: dict[str, Any] = {}
    if isinstance(record.rule, Flow):
        symbols |= {f"control {name}": getattr(record.rule, name) for name in CONTROL}
    else:
        rules = per_part(record.rule, record.trains)
        with symbols_pass():
            parts = {name: split(rule)[1] for name, rule in rules.items()}
        rates = {name: getattr(r, "learning_rate", None) for name, r in rules.items()}
        tree |= {"rates": rates, "numbers": parts}
    pairs = jax.tree_util.tree_leaves_with_path(tree)
    symbols |= {f"inputs {jax.tree_util.keystr(path)}": x for path, x in pairs}
    leaves = jax.tree.leaves(state)
    names = [name for name, _ in named(stage.carry)][: len(leaves)]
    symbols |= {f"carry {name}": x for name, x in zip(names, leaves, strict=True)}
    until = record.until
    waits = isinstance(until, Reach)
    symbols["horizon" if waits else "until"] = until.horizon if waits else until
    return {name: x for name, x in symbols.items() if is_symbol(x)}


@dataclass(frozen=True)
class SetUpModule:
    """A module whose `prepare` computes outputs of numbers and arrays."""

    module: bytes
    numbers: tuple[Field, ...]
    arrays: tuple[Field, ...]
    outputs: tuple[Field, ...]


def compile_setup(
    outputs: Mapping[str, Symbol],
    names: Sequence[str],
    known: dict[str, SetUpModule] | None = None,
) -> tuple[SetUpModule, list[np.ndarray]]:
    """A module for symbols by name, and the arrays that it takes.

    `known` are modules by signature: seeds differ in their arrays alone.
    """
    program = Program(list(outputs.values()))
    key = repr((list(outputs), sorted(names), program.signature()))
    if known is not None and key in known:
        return known[key], program.arrays
    with precise():
        example = {name: jnp.asarray(1.0) for name in names}
        jaxpr = jax.make_jaxpr(program)(example, program.arrays)
        module = compiled(jaxpr, list(outputs), sorted(names), program.arrays)
    if known is not None:
        known[key] = module
    return module, program.arrays


def compiled(
    jaxpr: Any, outputs: list[str], names: list[str], arrays: list[np.ndarray]
) -> SetUpModule:
    """A module for a function of numbers and then arrays, with names of its outputs."""
    lowering = Lowering()
    sources = [*(np.ones(()) for _ in names), *arrays]
    buffers = [Buffer(array.size, kept=True) for array in sources]
    values = []
    for array, buffer in zip(sources, buffers, strict=True):
        value = in_memory(Place(buffer), array.shape, "float64", level=0)
        value.example = lambda array=array: array
        values.append(value)
    results = lowering.closed(jaxpr, values)
    targets = [Buffer(value.size, kept=True) for value in results]
    for value, target in zip(results, targets, strict=True):
        lowering.put(0, _as_floats(value, Place(target)))
    phases = {"prepare": lowering.blocks[0]}
    kept = [*buffers, *targets, *(b for b, _ in lowering.contents)]
    cells = place(phases, kept)
    contents = [(_offset(b), data) for b, data in lowering.contents]
    module = assemble(functions_of(phases), cells=cells, contents=contents)
    fields = [
        Field(name, _offset(b), array.shape, "float64")
        for name, b, array in zip(
            [*names, *("" for _ in arrays)], buffers, sources, strict=True
        )
    ]
    return SetUpModule(
        module,
        tuple(fields[: len(names)]),
        tuple(fields[len(names) :]),
        tuple(
            Field(name, _offset(target), value.shape, "float64")
            for name, target, value in zip(outputs, targets, results, strict=True)
        ),
    )


def _as_floats(value: Value, target: Place) -> list[Statement]:
    if value.kind == "float64":
        return copy(value, target)

    def body(indices: Indices) -> list[Statement]:
        entry = as_kind(value.read(indices), value.kind, "float64")
        return [keep(target, ravel(indices, value.shape), entry)]

    return nest(value.shape, body)


def _offset(buffer: Buffer) -> int:
    assert buffer.offset is not None
    return buffer.offset


def holds(setup: SetUp, numbers: Mapping[str, float]) -> bool:
    """Whether set-up takes the same path at other numbers."""
    program = Program([guard.symbol for guard in setup.guards])
    with np.errstate(all="ignore"):
        answers = program.values(dict(numbers))
    return all(
        bool(answer) == guard.answer
        for answer, guard in zip(answers, setup.guards, strict=True)
    )


def disagreement(
    setup: SetUp, recipe: Recipe, setting: Any, names: Sequence[str], seed: int = 0
) -> dict[str, float]:
    """How far the traced set-up is from set-up itself at another setting.

    By stage and array, the largest difference relative to the largest entry; infinite
    where a guard does not hold.
    """
    numbers = {name: getattr(setting, name) for name in names}
    outputs = {
        f"{n} {name}": symbol
        for n, symbols in enumerate(setup.symbols)
        for name, symbol in symbols.items()
    }
    guards = [guard.symbol for guard in setup.guards]
    program = Program([*outputs.values(), *guards])
    with precise():
        given = {name: jnp.asarray(float(value)) for name, value in numbers.items()}
        results = [np.asarray(x) for x in program(given, program.arrays)]
    held = [
        bool(result) == guard.answer
        for result, guard in zip(results[len(outputs) :], setup.guards, strict=True)
    ]
    if not all(held):
        return {"guards": np.inf}
    expected = _concrete(recipe, setting, seed)
    errors = {}
    for name, result in zip(outputs, results, strict=False):
        theirs = np.asarray(expected[name], float)
        size = np.abs(theirs).max(initial=0.0) or 1.0
        errors[name] = float(np.abs(result - theirs).max(initial=0.0) / size)
    moved = set(expected) - set(outputs)
    before = _concrete(recipe, replace(setting, **_values(setup, names)), seed)
    for name in moved:
        if not np.array_equal(expected[name], before[name], equal_nan=True):
            errors[name] = np.inf
    return errors


def _values(setup: SetUp, names: Sequence[str]) -> dict[str, Any]:
    return {name: setup.experiment.setting[name] for name in names}


def _concrete(recipe: Recipe, setting: Any, seed: int) -> dict[str, np.ndarray]:
    """All arrays of a setting, by stage and name."""
    arrays: dict[str, np.ndarray] = {}
    for n, stage in enumerate(stages_of(recipe.experiment(setting), seed)):
        arrays |= {f"{n} inputs {name}": a for name, a in named(stage.inputs)}
        arrays |= {f"{n} carry {name}": a for name, a in named(stage.carry)}
        rule, until = stage.stage.rule, stage.stage.until
        if isinstance(rule, Flow):
            for name in CONTROL:
                arrays[f"{n} control {name}"] = np.asarray(getattr(rule, name))
        waits = isinstance(until, Reach)
        arrays[f"{n} {'horizon' if waits else 'until'}"] = np.asarray(
            until.horizon if waits else until
        )
    return arrays
