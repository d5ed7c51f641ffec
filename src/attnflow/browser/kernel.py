"""Kernels: one stage of an experiment as a module of WebAssembly and its layout."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

from attnflow.browser.drivers import CELLS, FlowDriver, Memory, Tableau, descent
from attnflow.browser.lowering import Lowering, Unsupported
from attnflow.browser.lowering.lowering import copy, nest
from attnflow.browser.lowering.memory import place, walk
from attnflow.browser.lowering.primitives.control import settle
from attnflow.browser.lowering.primitives.elementwise import as_kind
from attnflow.browser.lowering.values import (
    Indices,
    Kind,
    Place,
    Value,
    in_memory,
    keep,
    kind_of,
    ravel,
)
from attnflow.browser.program import assemble, functions_of
from attnflow.browser.trace import StageFunctions, named
from attnflow.browser.wasm.nodes import Buffer, Function, Statement
from attnflow.training import Reach, precise
from attnflow.training.rules import Flow


@dataclass(frozen=True)
class Field:
    """An array of a kernel's memory: its first cell, its shape and its entries."""

    name: str
    cell: int
    shape: tuple[int, ...]
    kind: Kind

    @property
    def cells(self) -> slice:
        """The cells that it takes."""
        return slice(self.cell, self.cell + int(np.prod(self.shape, dtype=int)))


@dataclass(frozen=True)
class Kernel:
    """A module, and where its memory holds what.

    - `inputs`: arrays that the host fills before `prepare`; those that nothing reads
      are left out.
    - `carry`: what moves; its first `moved` fields are the state.
    - `row`: the observables; `control`: the first cell of control.
    - `cells`: the first cell that is free for records.
    """

    module: bytes
    inputs: tuple[Field, ...]
    carry: tuple[Field, ...]
    moved: int
    row: tuple[Field, ...]
    control: int
    cells: int
    is_flow: bool

    @property
    def row_size(self) -> int:
        """The number of cells of a record."""
        last = self.row[-1].cells
        return max(1, last.stop - self.row[0].cell)

    def control_cell(self, name: str) -> int:
        """A cell of control by its name."""
        return self.control + CELLS.index(name)


def compile_stage(stage: StageFunctions) -> Kernel:
    """Trace a stage, lower it and emit its module."""
    with precise():
        return _Compiler(stage).kernel()


def tableau(solver: str) -> Tableau:
    """The method of a solver, from diffrax."""
    from attnflow.training.solution import SOLVERS

    method = SOLVERS[solver]()
    table = method.tableau
    if not (table.ssal and table.fsal):
        raise Unsupported(f"The last stage of {solver} is not its solution.")
    return Tableau(
        order=int(method.order(None)),  # pyright: ignore[reportArgumentType] # unused
        nodes=np.asarray(table.c),
        weights=tuple(np.asarray(row) for row in table.a_lower),
        error=np.asarray(table.b_error),
    )


class _Compiler:
    """The phases of a stage over one memory."""

    def __init__(self, stage: StageFunctions):
        self.stage, self.lowering = stage, Lowering()
        self.is_flow = isinstance(stage.stage.rule, Flow)
        self.inputs = named(stage.inputs)
        self.input_values, self.input_buffers = self._inputs()
        carry = named(stage.carry)
        self.moved = len(jax.tree.leaves(stage.state))
        self.state = Buffer(_total(carry), kept=True)
        self.carry = _fields(carry)
        self.control = Buffer(len(CELLS), kept=True)
        self.carry_values = [
            in_memory(Place(self.state, f.cell), f.shape, f.kind, level=1)
            for f in self.carry
        ]
        _, shapes = stage.observed
        self.row_fields = _fields([(n, np.zeros(s.shape)) for n, s in shapes.items()])
        self.row = Buffer(
            _total([(f.name, np.zeros(f.shape)) for f in self.row_fields]), kept=True
        )
        self.phases: dict[str, list[Statement]] = {}

    def kernel(self) -> Kernel:
        """The module and its layout."""
        functions, own = self._flow() if self.is_flow else self._descent()
        self._observe()
        self._event()
        self.phases["prepare"] = self.lowering.blocks[0]
        used = self._used()
        contents = self.lowering.contents
        buffers = [self.state, self.row, self.control, *own]
        fixed = [*buffers, *(b for b in self.input_buffers if b in used)]
        cells = place(self.phases, [*fixed, *(b for b, _ in contents)])
        segments = [(_offset(buffer), data) for buffer, data in contents]
        whole = [*functions_of(self.phases), *functions]
        return Kernel(
            module=assemble(whole, cells=cells, contents=segments),
            inputs=tuple(
                _field(name, array, _offset(buffer))
                for (name, array), buffer in zip(
                    self.inputs, self.input_buffers, strict=True
                )
                if buffer in used
            ),
            carry=_moved(self.carry, _offset(self.state)),
            moved=self.moved,
            row=_moved(self.row_fields, _offset(self.row)),
            control=_offset(self.control),
            cells=cells,
            is_flow=self.is_flow,
        )

    def _inputs(self) -> tuple[list[Value], list[Buffer]]:
        values, buffers = [], []
        for name, array in self.inputs:
            buffer = Buffer(array.size, name=name, kept=True)
            kind = _kind(array, name)
            value = in_memory(Place(buffer), array.shape, kind, level=0)
            value.example = lambda array=array: array
            values.append(value)
            buffers.append(buffer)
        return values, buffers

    def _used(self) -> set[Buffer]:
        statements = [s for phase in self.phases.values() for s in phase]
        items = (item for s in statements for item in walk(s))
        return {item for item in items if isinstance(item, Buffer)}

    def _lowered(self, jaxpr: core.ClosedJaxpr, args: Sequence[Value]) -> list[Value]:
        """The outputs of a jaxpr in a new phase."""
        self.lowering.blocks = [self.lowering.blocks[0], []]
        return self.lowering.closed(jaxpr, [*self.input_values, *args])

    def _finish(self, name: str) -> None:
        self.phases[name] = self.lowering.blocks[1]

    def _descent(self) -> tuple[list[Function], list[Buffer]]:
        stage = self.stage
        jaxpr = jax.make_jaxpr(stage.move)(stage.inputs, stage.carry)
        outputs = self._lowered(jaxpr, self.carry_values)
        settle(self.lowering, self.carry_values, outputs, 1)
        self._finish("step")
        step_at = next(f.cell for f in self.carry if f.name == ".step")
        until = stage.stage.until
        every = until.every if isinstance(until, Reach) else None
        return [descent(self._memory(), step_at, every=every)], []

    def _flow(self) -> tuple[list[Function], list[Buffer]]:
        stage, rule = self.stage, self.stage.stage.rule
        assert isinstance(rule, Flow)
        time = in_memory(
            Place(self.control, CELLS.index("time")), (), "float64", level=1
        )
        if any(f.kind != "float64" for f in self.carry):
            raise Unsupported("A flow of states that are not float64.")
        jaxpr = jax.make_jaxpr(stage.move)(stage.inputs, jnp.asarray(0.0), stage.carry)
        outputs = self._lowered(jaxpr, [time, *self.carry_values])
        velocity = Buffer(self.state.size, kept=True)
        for field, value in zip(self.carry, outputs, strict=True):
            self.lowering.put(1, copy(value, Place(velocity, field.cell)))
        self._finish("velocity")
        driver = FlowDriver.of(
            self._memory(),
            velocity,
            tableau(rule.solver),
            log=rule.clock == "log",
            has_event=stage.event is not None,
        )
        return driver.functions(), [velocity, driver.base, driver.slopes]

    def _memory(self) -> Memory:
        moved = self.carry[: self.moved]
        floats = [(f.cell, f.cells.stop - f.cell) for f in moved if f.kind == "float64"]
        return Memory(self.state, floats, self.row, self.control)

    def _observe(self) -> None:
        jaxpr, _ = self.stage.observed
        outputs = self._lowered(jaxpr, self.carry_values[: self.moved])
        # JAX flattens dicts in the order of their keys.
        ordered = sorted(self.row_fields, key=lambda field: field.name)
        for field, value in zip(ordered, outputs, strict=True):
            self.lowering.put(1, _as_floats(value, Place(self.row, field.cell)))
        self._finish("observe")

    def _event(self) -> None:
        stage = self.stage
        if stage.event is None:
            return
        jaxpr = jax.make_jaxpr(stage.event)(stage.inputs, stage.state)
        (value,) = self._lowered(jaxpr, self.carry_values[: self.moved])
        target = Place(self.control, CELLS.index("event"))
        self.lowering.put(1, _as_floats(value, target))
        self._finish("event")


def _as_floats(value: Value, target: Place) -> list[Statement]:
    """Write an array as float64."""

    def body(indices: Indices) -> list[Statement]:
        entry = as_kind(value.read(indices), value.kind, "float64")
        return [keep(target, ravel(indices, value.shape), entry)]

    return nest(value.shape, body)


def _kind(array: np.ndarray, name: str) -> Kind:
    try:
        return kind_of(array.dtype)
    except Unsupported as error:
        raise Unsupported(f"{name}: {error}") from None


def _field(name: str, array: np.ndarray, cell: int) -> Field:
    return Field(name, cell, array.shape, _kind(array, name))


def _fields(arrays: Sequence[tuple[str, np.ndarray]]) -> list[Field]:
    """Arrays one after the other."""
    fields, cell = [], 0
    for name, array in arrays:
        fields.append(_field(name, array, cell))
        cell += array.size
    return fields


def _total(arrays: Sequence[tuple[str, np.ndarray]]) -> int:
    return sum(array.size for _, array in arrays)


def _moved(fields: Sequence[Field], by: int) -> tuple[Field, ...]:
    return tuple(Field(f.name, f.cell + by, f.shape, f.kind) for f in fields)


def _offset(buffer: Buffer) -> int:
    assert buffer.offset is not None
    return buffer.offset
