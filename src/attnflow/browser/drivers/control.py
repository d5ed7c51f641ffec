"""What a driver and its host share: cells of control, states and rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from attnflow.browser.wasm.nodes import (
    Buffer,
    For,
    If,
    Index,
    Local,
    Node,
    Number,
    Set,
    Statement,
    Store,
    at,
    compare,
    constant,
    load,
    negation,
    unary,
)
from attnflow.schema.dataset import Outcome
from attnflow.training.system import CODES

CELLS = (
    *("start", "stop", "rtol", "atol", "scale", "max_steps"),
    *("clock", "step_size", "time", "event", "steps", "evaluations", "status", "end"),
    *("longest", "watched", "since"),
)
"""Cells of control. A host sets those up to `max_steps`; a driver the others.

`status` is the place of an outcome in `CODES`, and `end` the time (or step) at which
the stage ended by its event, or could go no further. `longest` is the longest step of a
flow; from step `watched`, at the clock `since`, on it is seen whether it comes forward.
"""
EVENT, LOST, DIVERGED = (
    float(CODES.index(outcome))
    for outcome in (Outcome.EVENT, Outcome.OUT_OF_STEPS, Outcome.DIVERGED)
)


@dataclass(frozen=True)
class Memory:
    """Buffers of a driver: its state, of which some stretches are float64, and rows."""

    state: Buffer
    floats: Sequence[tuple[int, int]]
    row: Buffer
    control: Buffer

    def get(self, name: str) -> Node:
        """A cell of control."""
        return load(self.control, Index(CELLS.index(name)))

    def set(self, name: str, value: Number) -> Statement:
        """Change a cell of control."""
        return Store(self.control, Index(CELLS.index(name)), constant(value))

    def record(self, rows: Node, number: Node) -> list[Statement]:
        """Copy the row of observables to its place among the records."""
        i = Local("i32")
        target = at(rows) + Index(0, {number: self.row.size}) + at(i)
        return [For(i, self.row.size, [Store(None, target, load(self.row, at(i)))])]

    def unless_finite(self, then: list[Statement]) -> list[Statement]:
        """Statements for a state of which some entry is not finite."""
        largest, i = Local("f64"), Local("i32")
        # A maximum propagates NaN.
        loops: list[Statement] = [
            For(i, size, [Set(largest, _larger(largest, self.state, at(i) + start))])
            for start, size in self.floats
            if size
        ]
        finite = compare("lt", largest, float("inf"))
        return [Set(largest, constant(0.0)), *loops, If(negation(finite), then)]


def _larger(largest: Node, buffer: Buffer, index: Index) -> Node:
    return Node("f64.max", "f64", largest, unary("abs", load(buffer, index)))


def copied(source: Buffer, target: Buffer, size: int, *, start: int = 0) -> Statement:
    """Copy the first cells of a buffer to another one, or cells from a start on."""
    i = Local("i32")
    return For(i, size, [Store(target, at(i), load(source, at(i) + start))])
