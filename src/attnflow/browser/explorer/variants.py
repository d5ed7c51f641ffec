"""Variants of an experiment: for each combination of choices, kernels and arrays.

Variants share kernels where their shapes are the same, and arrays where these are
equal; what numbers change is computed in the page, by a module of the set-up.
"""

import base64
import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from attnflow.browser.explorer.plan import kernel_plan, stage_arrays
from attnflow.browser.kernel import Kernel, compile_stage
from attnflow.browser.lowering import Unsupported
from attnflow.browser.setup import SetUp, SetUpModule, compile_setup, trace
from attnflow.browser.symbols import Symbol, is_symbol
from attnflow.browser.trace import StageFunctions, named, stages_of
from attnflow.schema.declarations import Recipe
from attnflow.training import Reach
from attnflow.training.rules import Flow, GradientDescent, per_part

Json = dict[str, Any]
SAID = ("formula", "formulaGuard", "level", "pace", "condition", "conditionGuard")
"""Outputs of a set-up that say something of a run and change nothing in it."""
SMALL = 4
"""Entries up to which an array is a list of the document itself."""


@dataclass
class Pool:
    """Modules, arrays and plans of a document, each of them once."""

    modules: list[str] = field(default_factory=list)
    arrays: list[Json] = field(default_factory=list)
    _places: dict[tuple[str, bytes], int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """About as many as all of it takes, compressed and in base64."""
        arrays = sum(len(array["data"]) for array in self.arrays)
        # Modules are repetitive: they compress to about a quarter.
        return arrays + sum(map(len, self.modules)) // 4

    def cut(self, modules: int, arrays: int) -> None:
        """Leave out all but the first modules and arrays."""
        del self.modules[modules:], self.arrays[arrays:]
        kept = {"module": modules}
        self._places = {
            key: place
            for key, place in self._places.items()
            if place < kept.get(key[0], arrays)
        }

    def module(self, module: bytes) -> int:
        """The number of a module."""
        key = ("module", module)
        if key not in self._places:
            self._places[key] = len(self.modules)
            self.modules.append(base64.b64encode(module).decode())
        return self._places[key]

    def array(self, array: np.ndarray) -> list[float] | int:
        """The entries of a small array, or the number of a large one."""
        flat = np.ascontiguousarray(array).ravel()
        if flat.size <= SMALL and np.isfinite(flat.astype(float)).all():
            return flat.astype(float).tolist()
        packed = _packed(flat)
        key = (packed.dtype.str, packed.tobytes())
        if key not in self._places:
            self._places[key] = len(self.arrays)
            data = base64.b64encode(packed.tobytes()).decode()
            self.arrays.append({"type": packed.dtype.str[1:], "data": data})
        return self._places[key]


def _packed(flat: np.ndarray) -> np.ndarray:
    """The same numbers in the smallest type that holds them exactly."""
    floats = flat.astype(np.float64)
    if not np.array_equal(floats, flat, equal_nan=True):
        raise Unsupported("Integers beyond 2⁵³ cannot be put on a page.")
    for kind in ("i1", "i2", "i4"):
        limits = np.iinfo(kind)
        inside = (floats >= limits.min) & (floats <= limits.max)
        whole = inside.all() and np.array_equal(floats, np.rint(floats))
        # Integers have no −0.0.
        if whole and not np.signbit(floats[floats == 0]).any():
            return floats.astype(f"<{kind}")
    return floats.astype("<f8")


@dataclass
class Kernels:
    """Kernels of stages, found by shapes, static fields and rules.

    `compiled` are those that were compiled already, for whichever document.
    """

    pool: Pool
    compiled: dict[Hashable, Kernel] = field(default_factory=dict)
    plans: list[Json] = field(default_factory=list)
    setups: dict[str, SetUpModule] = field(default_factory=dict)
    _known: dict[Hashable, tuple[int, Kernel]] = field(default_factory=dict)

    def of(self, stage: StageFunctions) -> tuple[int, Kernel]:
        """The number of a stage's plan, and its kernel."""
        key = _signature(stage)
        if key not in self._known:
            if key not in self.compiled:
                self.compiled[key] = compile_stage(stage)
            kernel = self.compiled[key]
            plan = {**kernel_plan(kernel), "module": self.pool.module(kernel.module)}
            self._known[key] = (len(self.plans), kernel)
            self.plans.append(plan)
        return self._known[key]

    def cut(self, plans: int) -> None:
        """Leave out all but the first plans."""
        del self.plans[plans:]
        self._known = {k: known for k, known in self._known.items() if known[0] < plans}


def _signature(stage: StageFunctions) -> Hashable:
    """All that a kernel depends on beside the values of its arrays."""
    record = stage.stage
    rule, until = record.rule, record.until
    shapes = [
        (name, array.shape, array.dtype.name)
        for tree in (stage.inputs, stage.carry)
        for name, array in named(tree)
    ]
    driver: tuple[Hashable, ...] = ("descent",)
    if isinstance(rule, Flow):
        driver = ("flow", rule.solver, rule.clock)
    if isinstance(until, Reach):
        driver += (until.scalar, until.direction, until.every)
    return (*shapes, driver, stage.static, stage.rules)


@dataclass(frozen=True)
class Variant:
    """A combination of choices with its set-up, as data for a page.

    `used` are the numbers that change something in it; `fixed` those that it cannot
    change, with the reason.
    """

    choices: Mapping[str, Any]
    json: Json
    used: frozenset[str]
    parts: Mapping[str, frozenset[str]]
    traced: "Traced"

    @property
    def setup(self) -> SetUp:
        """Its set-up."""
        return self.traced.setup


@dataclass(frozen=True)
class Traced:
    """The set-up of a setting with symbols for as many numbers as can be followed.

    `kept` are the names of these; `lost` the others, with the reason.
    """

    setup: SetUp
    kept: list[str]
    lost: dict[str, str]


def traced(recipe: Recipe, setting: Any, names: Sequence[str], seed: int = 0) -> Traced:
    """Trace set-up, at first with all numbers, then without those that are lost."""
    lost: dict[str, str] = {}
    kept = list(names)
    stages = stages_of(recipe.experiment(setting), seed)

    def attempt(names: Sequence[str]) -> SetUp:
        return trace(recipe, setting, names, seed, stages)

    def failure(name: str) -> str:
        try:
            attempt([name])
        except Exception as error:
            return f"{type(error).__name__}: {error}".partition("\n")[0]
        return ""

    while True:
        try:
            setup = attempt(kept)
        except Unsupported:
            raise
        except Exception:
            # Some number is used in a way that symbols do not support: find out which
            # one.
            bad = {n: why for n in kept if (why := failure(n))}
            if not bad:
                raise
            lost |= bad
        else:
            if not setup.leaked:
                return Traced(setup, kept, lost)
            lost |= setup.leaked
        kept = [name for name in kept if name not in lost]


def variant_of(
    recipe: Recipe,
    names: Sequence[str],
    choices: Mapping[str, Any],
    kernels: Kernels,
    formulas: "Formulas | None" = None,
    known: Traced | None = None,
) -> Variant:
    """The variant of a combination of choices; the seed is one of them.

    `known` is its set-up, where that has been traced already.
    """
    fields = {name: value for name, value in choices.items() if name != "seed"}
    setting = replace(recipe.setting, **fields)
    if known is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            known = traced(recipe, setting, names, choices.get("seed", 0))
    setup, kept, lost = known.setup, known.kept, known.lost
    stages = []
    outputs: dict[str, Symbol] = {}
    places: list[Json] = []

    def put(key: str, symbol: Symbol, **place: Any) -> None:
        outputs[key] = symbol
        places.append(place)

    for number, stage in enumerate(setup.stages):
        plan, kernel = kernels.of(stage)
        arrays = stage_arrays(kernel, stage)
        symbols = setup.symbols[number]
        stages.append(_stage_json(kernels.pool, kernel, stage, arrays, symbols, plan))
        for part, fields_ in (("inputs", kernel.inputs), ("carry", kernel.carry)):
            for n, item in enumerate(fields_):
                symbol = symbols.get(f"{part} {item.name}")
                if symbol is not None:
                    put(f"{number} {part} {n}", symbol, stage=number, part=part, n=n)
        for name, symbol in symbols.items():
            head, _, tail = name.partition(" ")
            if head in ("control", "horizon", "until"):
                where = {"stage": number, "part": head, "name": tail}
                put(f"{number} {name}", symbol, **where)
    for name, symbol in setup.grid.items():
        put(f"grid {name}", symbol, part="grid", name=name)
    pace = _pace(setup)
    if is_symbol(pace):
        put("pace", pace, part="pace")
    said = formulas(setup, setting, kept, put) if formulas is not None else {}
    used = _used(places, outputs)
    module, arrays = _setup(setup, outputs, kept, kernels.setups)
    fixed = {n: getattr(setting, n) for n in lost}
    everything = frozenset().union(*used.values()) if used else frozenset()
    made = {
        "choices": dict(choices),
        "used": sorted(everything),
        "stages": stages,
        "setup": _setup_json(kernels, setup, module, arrays, places),
        "grid": _grid_json(kernels.pool, setup),
        "labels": {dim: list(labels) for dim, labels in setup.labels.items()},
        "fixed": fixed,
        "pace": None if is_symbol(pace) else pace,
        **said,
    }
    return Variant(choices, made, everything, used, known)


def _pace(setup: SetUp) -> Any:
    """Training time per unit of the clock: 1 for flows, the rate of plain descent."""
    stage = setup.stages[0].stage
    if isinstance(stage.rule, Flow):
        return 1.0
    rules = list(per_part(stage.rule, stage.trains).values())
    if any(not isinstance(r, GradientDescent) or r.schedule for r in rules):
        return None
    rates = [setup.symbols[0].get(f"inputs ['rates']['{p}']") for p in stage.trains]
    plain = [r.learning_rate for r in rules if isinstance(r, GradientDescent)]
    if len(set(plain)) > 1:
        return None
    return plain[0] if rates[0] is None else rates[0]


def _used(
    places: Sequence[Json], outputs: Mapping[str, Symbol]
) -> dict[str, frozenset[str]]:
    """The numbers that change inputs, first states, training or times of records."""
    used: dict[str, frozenset[str]] = {}
    for place, symbol in zip(places, outputs.values(), strict=True):
        part = place["part"]
        if part not in SAID:
            used[part] = used.get(part, frozenset()) | symbol.knobs
    return used


def _setup(
    setup: SetUp,
    outputs: dict[str, Symbol],
    names: Sequence[str],
    known: dict[str, SetUpModule],
) -> tuple[SetUpModule, list[np.ndarray]]:
    guards = {f"guard {n}": guard.symbol for n, guard in enumerate(setup.guards)}
    return compile_setup({**outputs, **guards}, names, known)


def _setup_json(
    kernels: Kernels,
    setup: SetUp,
    module: SetUpModule,
    arrays: Sequence[np.ndarray],
    places: Sequence[Json],
) -> Json:
    cells = [_cells(field) for field in module.outputs]
    count = len(places)
    guards = [
        {**cell, "answer": guard.answer, "knobs": sorted(guard.symbol.knobs)}
        | {"line": guard.line}
        for cell, guard in zip(cells[count:], setup.guards, strict=True)
    ]
    return {
        "module": kernels.pool.module(module.module),
        "numbers": [{"name": f.name, **_cells(f)} for f in module.numbers],
        "arrays": [
            {**_cells(f), "values": kernels.pool.array(array)}
            for f, array in zip(module.arrays, arrays, strict=True)
        ],
        "outputs": [
            {**place, **cell} for place, cell in zip(places, cells[:count], strict=True)
        ],
        "guards": guards,
    }


def program_json(
    pool: Pool,
    program: Json,
    module: SetUpModule | None,
    drift: tuple[SetUpModule, Json] | None,
) -> Json:
    """The programs of a variant's statistics and of its drift, as data."""
    whole = {**program, "drift": None if drift is None else _drift_json(pool, *drift)}
    if module is None:
        return {**whole, "module": None}
    return {
        **whole,
        "module": pool.module(module.module),
        "numbers": [{"name": f.name, **_cells(f)} for f in module.numbers],
        "reads": [
            {**read, **_cells(f)}
            for read, f in zip(program["reads"], module.arrays, strict=True)
        ],
        "outputs": [_cells(f) for f in module.outputs],
    }


def _drift_json(pool: Pool, module: SetUpModule, said: Json) -> Json:
    reads = zip(said["reads"], module.arrays, strict=True)
    return {
        "laws": said["laws"],
        "module": pool.module(module.module),
        "reads": [{**read, **_cells(f)} for read, f in reads],
        "output": _cells(module.outputs[0]),
    }


def _cells(item: Any) -> Json:
    return {"cell": item.cell, "size": int(np.prod(item.shape, dtype=int))}


def _stage_json(
    pool: Pool,
    kernel: Kernel,
    stage: StageFunctions,
    arrays: Mapping[str, np.ndarray],
    symbols: Mapping[str, Symbol],
    plan: int,
) -> Json:
    def values(part: str, names: Sequence[str]) -> list[Any]:
        keys = [f"{part} {name}" for name in names]
        return [None if key in symbols else pool.array(arrays[key]) for key in keys]

    def scalar(name: str) -> float | None:
        value = float(arrays[name])
        return None if np.isnan(value) else value

    return {
        "plan": plan,
        "name": stage.stage.name,
        "inputs": values("inputs", [f.name for f in kernel.inputs]),
        "carry": values("carry", [f.name for f in kernel.carry]),
        "control": {
            name.removeprefix("control "): float(array)
            for name, array in arrays.items()
            if name.startswith("control ")
        },
        "until": scalar("until"),
        "horizon": scalar("horizon"),
    }


def _grid_json(pool: Pool, setup: SetUp) -> Json:
    grid = setup.experiment.grid
    listed = bool(grid.points) or grid.spacing == "log"
    return {
        "spacing": grid.spacing,
        "count": grid.count,
        "start": float(grid.start),
        "stop": float(grid.stop),
        "points": pool.array(grid.times(whole=False)) if listed else None,
        "whole": not setup.experiment.is_flow,
    }


Formulas = Any
"""Adds outputs for formulas of stages, given the set-up, setting, names and `put`."""
