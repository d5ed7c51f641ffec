"""The driver of a flow: an adaptive Runge–Kutta method that steps onto the records.

The method and its control of steps are diffrax's: a step is kept where the norm of its
error, relative to `atol + rtol · |state|`, is below 1, and the next one is
`0.9 · error^(−1/order)` times as long. After a step that a record has cut short, the
next is at least as long as that was to be. An event is found by repeating the step that
passed it with other lengths.

A flow that slides along the kink of a ReLU goes on by very short steps, of which it
would take millions: it ends, out of steps, once that is seen, as in Python
(`attnflow.training.halts`).
"""

from dataclasses import dataclass

import numpy as np

from attnflow.browser.drivers.control import DIVERGED, EVENT, LOST, Memory, copied
from attnflow.browser.wasm.nodes import (
    Buffer,
    Do,
    For,
    Function,
    If,
    Local,
    Node,
    Return,
    Set,
    Statement,
    Store,
    While,
    at,
    binary,
    call,
    choice,
    compare,
    constant,
    equal,
    load,
    unary,
)
from attnflow.training.halts import PATIENCE

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
STRICTER = 0.1
"""The share of the tolerance that a step may use.

Where a ReLU switches off inside a step, the error of a flow is some ten tolerances;
with a third more steps it is one.
"""
CROSSING = 1e-13
"""To which part of the time an event is found."""


@dataclass(frozen=True)
class Tableau:
    """A method whose last stage is the solution, and the first of the next step."""

    order: int
    nodes: np.ndarray
    weights: tuple[np.ndarray, ...]
    error: np.ndarray

    @property
    def stages(self) -> int:
        """The number of stages."""
        return len(self.error)


@dataclass(frozen=True)
class FlowDriver:
    """Functions that drive a velocity; `log` for the clock `log(1 + time / scale)`."""

    memory: Memory
    velocity: Buffer
    tableau: Tableau
    log: bool
    has_event: bool
    base: Buffer
    slopes: Buffer

    @classmethod
    def of(
        cls,
        memory: Memory,
        velocity: Buffer,
        tableau: Tableau,
        *,
        log: bool,
        has_event: bool,
    ) -> "FlowDriver":
        """A driver with memory of its own."""
        size = memory.state.size
        base, slopes = Buffer(size, kept=True), Buffer(size * tableau.stages, kept=True)
        return cls(memory, velocity, tableau, log, has_event, base, slopes)

    @property
    def size(self) -> int:
        """The number of entries of the state."""
        return self.memory.state.size

    def functions(self) -> list[Function]:
        """All functions; `begin` and `advance` are exported."""
        locate = [self._locate()] if self.has_event else []
        return [self._field(), self._attempt(), *locate, self._begin(), self._advance()]

    def _time(self, clock: Node) -> Node:
        get = self.memory.get
        if not self.log:
            return clock
        return get("start") + get("scale") * call("expm1", "f64", clock)

    def _clock(self, time: Node) -> Node:
        get = self.memory.get
        if not self.log:
            return time
        return call("log1p", "f64", (time - get("start")) / get("scale"))

    def _slope(self, stage: int, i: Node) -> Node:
        return load(self.slopes, at(i) + stage * self.size)

    def _field(self) -> Function:
        """`field(clock, number)`: the slope at a clock, as one of the stages."""
        clock, number, i, factor = (
            Local("f64"),
            Local("i32"),
            Local("i32"),
            Local("f64"),
        )
        get, put = self.memory.get, self.memory.set
        speed = get("scale") * call("exp", "f64", clock) if self.log else constant(1.0)
        target = at(i) + at(number) * self.size
        slope = load(self.velocity, at(i)) * factor
        statements: list[Statement] = [
            put("time", self._time(clock)),
            put("evaluations", get("evaluations") + 1.0),
            Do("velocity"),
            Set(factor, speed),
            For(i, self.size, [Store(self.slopes, target, slope)]),
        ]
        return Function("field", (clock, number), None, statements)

    def _attempt(self) -> Function:
        """`attempt(h)`: the state after a step of length h, and the step's error."""
        h, total = Local("f64"), Local("f64")
        get, state = self.memory.get, self.memory.state
        statements: list[Statement] = []
        for stage in range(1, self.tableau.stages):
            i = Local("i32")
            change = self._combined(self.tableau.weights[stage - 1], i)
            moved = load(self.base, at(i)) + h * change
            clock = get("clock") + h * float(self.tableau.nodes[stage - 1])
            statements += [
                For(i, self.size, [Store(state, at(i), moved)]),
                Do("field", (clock, constant(stage, "i32"))),
            ]
        i = Local("i32")
        before, after = (
            unary("abs", load(self.base, at(i))),
            unary("abs", load(state, at(i))),
        )
        scale = STRICTER * (get("atol") + get("rtol") * binary("max", before, after))
        error = h * self._combined(self.tableau.error, i) / scale
        statements += [
            Set(total, constant(0.0)),
            For(i, self.size, [Set(total, total + error * error)]),
            Return(unary("sqrt", total / float(self.size))),
        ]
        return Function("attempt", (h,), "f64", statements)

    def _combined(self, weights: np.ndarray, i: Node) -> Node:
        """A sum of slopes; weights that are 0 are left out."""
        total: Node | None = None
        for stage, weight in enumerate(weights):
            if weight:
                term = self._slope(stage, i) * float(weight)
                total = term if total is None else total + term
        assert total is not None
        return total

    def _begin(self) -> Function:
        """`begin()`: the first slope, and the length of the first step (Hairer's)."""
        get, put, state = self.memory.get, self.memory.set, self.memory.state
        first, clock = Local("f64"), get("clock")
        size, slope, bend = Local("f64"), Local("f64"), Local("f64")
        i, j, k = (Local("i32") for _ in range(3))

        def norm(total: Local, entry: Node, i: Local) -> list[Statement]:
            scale = get("atol") + get("rtol") * unary("abs", load(self.base, at(i)))
            part = entry / scale
            loop = For(i, self.size, [Set(total, total + part * part)])
            root = Set(total, unary("sqrt", total / float(self.size)))
            return [Set(total, constant(0.0)), loop, root]

        near = compare("lt", size, 1e-5) | compare("lt", slope, 1e-5)
        trial = For(
            k,
            self.size,
            [Store(state, at(k), load(self.base, at(k)) + first * self._slope(0, k))],
        )
        largest = binary("max", slope, bend / first)
        flat = compare("le", largest, 1e-15)
        power = call("pow", "f64", 0.01 / largest, constant(1 / self.tableau.order))
        smooth = choice(flat, binary("max", first * 1e-3, 1e-6), power)
        a, b = Local("i32"), Local("i32")
        difference = self._slope(1, b) - self._slope(0, b)
        event: list[Statement] = [Do("event")] if self.has_event else []
        statements: list[Statement] = [
            put("clock", self._clock(get("start"))),
            put("steps", 0.0),
            put("evaluations", 0.0),
            put("status", 0.0),
            put("longest", 0.0),
            put("watched", 0.0),
            put("since", clock),
            *event,
            copied(state, self.base, self.size),
            Do("field", (clock, constant(0, "i32"))),
            *norm(size, load(self.base, at(i)), i),
            *norm(slope, self._slope(0, j), j),
            Set(first, choice(near, 1e-6, 0.01 * (size / slope))),
            trial,
            Do("field", (clock + first, constant(1, "i32"))),
            *norm(bend, difference, b),
            put("step_size", binary("min", first * 100.0, smooth)),
            For(a, self.size, [Store(state, at(a), load(self.base, at(a)))]),
        ]
        return Function("begin", (), None, statements, exported=True)

    def _advance(self) -> Function:
        """`advance(marks, first, last, rows)`, as that of a descent."""
        marks, first, last, rows = (Local("i32") for _ in range(4))
        number, mark = Local("i32"), Local("f64")
        get, put = self.memory.get, self.memory.set
        time = binary("min", load(None, at(marks) + at(number)), get("stop"))
        record: list[Statement] = [
            Set(mark, self._clock(time)),
            While([], compare("lt", get("clock"), mark), self._step(mark, number)),
            *self.memory.unless_finite(self._give_up(DIVERGED, number)),
            Do("observe"),
            *self.memory.record(rows, number),
            Set(number, number + 1),
        ]
        statements: list[Statement] = [
            Set(number, first),
            While([], compare("lt", number, last), record),
            put("end", self._time(get("clock"))),
            Return(number),
        ]
        params = (marks, first, last, rows)
        return Function("advance", params, "i32", statements, exported=True)

    def _step(self, mark: Local, number: Local) -> list[Statement]:
        """A step towards a mark, that is kept or not."""
        get, put = self.memory.get, self.memory.set
        wanted, h, error, factor, cut = (Local("f64") for _ in range(5))
        clock = get("clock")
        is_cut = compare("ge", clock + wanted, mark)
        raw = SAFETY * call("pow", "f64", error, constant(-1 / self.tableau.order))
        longer = h * binary("min", binary("max", factor, 1.0), GROW)
        shorter = h * binary("min", binary("max", factor, SHRINK), SAFETY)
        last = (self.tableau.stages - 1) * self.size
        kept: list[Statement] = [
            *self._passed(h, number),
            put("longest", binary("max", get("longest"), h)),
            put("clock", choice(compare("gt", cut, 0.0), mark, clock + h)),
            copied(self.memory.state, self.base, self.size),
            copied(self.slopes, self.slopes, self.size, start=last),
            put(
                "step_size",
                choice(compare("gt", cut, 0.0), binary("max", wanted, longer), longer),
            ),
        ]
        stuck = compare("le", clock + get("step_size"), clock)
        rejected: list[Statement] = [
            put("step_size", shorter),
            If(stuck, self._give_up(DIVERGED, number)),
        ]
        # Only before the first step: later ones end where they pass it.
        happened = compare("ge", get("event"), 0.0)
        ended = [If(happened, self._give_up(EVENT, number))] if self.has_event else []
        return [
            *ended,
            If(
                compare("ge", get("steps"), get("max_steps")),
                self._give_up(LOST, number),
            ),
            If(
                compare("ge", get("steps") - get("watched"), PATIENCE),
                self._watch(number),
            ),
            put("steps", get("steps") + 1.0),
            Set(wanted, get("step_size")),
            Set(cut, choice(is_cut, 1.0, 0.0)),
            Set(h, choice(is_cut, mark - clock, wanted)),
            Set(error, call("attempt", "f64", h)),
            Set(factor, raw),
            Set(factor, choice(equal(factor, factor), factor, SHRINK)),
            If(compare("lt", error, 1.0), kept, rejected),
        ]

    def _watch(self, number: Local) -> list[Statement]:
        """End the stage if it has come to a halt, or else go on and watch."""
        get, put = self.memory.get, self.memory.set
        way = Local("f64")
        left = (get("max_steps") - get("steps")) * (1 / PATIENCE)
        far = self._clock(get("stop")) - get("clock")
        is_halt = compare("lt", way, get("longest")) & compare("lt", way * left, far)
        return [
            Set(way, get("clock") - get("since")),
            If(is_halt, self._give_up(LOST, number)),
            put("watched", get("steps")),
            put("since", get("clock")),
        ]

    def _give_up(self, status: float, number: Local) -> list[Statement]:
        """End the stage where the last step that was kept has led."""
        put = self.memory.set
        return [
            copied(self.base, self.memory.state, self.size),
            put("status", status),
            put("end", self._time(self.memory.get("clock"))),
            Do("observe"),
            Return(number),
        ]

    def _passed(self, h: Local, number: Local) -> list[Statement]:
        """End the stage where a step has passed its event."""
        if not self.has_event:
            return []
        get, put = self.memory.get, self.memory.set
        before = Local("f64")
        sides = compare("ge", before, 0.0), compare("ge", get("event"), 0.0)
        ended: list[Statement] = [
            Do("locate", (h, before)),
            put("status", EVENT),
            put("end", self._time(get("clock"))),
            Do("observe"),
            Return(number),
        ]
        return [
            Set(before, get("event")),
            Do("event"),
            If(compare("ne", *sides), ended),
        ]

    def _locate(self) -> Function:
        """`locate(h, before)`: repeat a step so that it ends at its event.

        By secants of which the end that stays counts half (the Illinois algorithm);
        `before` is the event's value at the step's beginning.
        """
        get, put = self.memory.get, self.memory.set
        high, low_value = Local("f64"), Local("f64")
        low, high_value, x, value, side, tries = (Local("f64") for _ in range(6))
        secant = high - high_value * (high - low) / (high_value - low_value)
        outside = compare("le", x, low) | compare("ge", x, high)
        same = equal(compare("ge", value, 0.0), compare("ge", high_value, 0.0))
        lower: list[Statement] = [
            Set(low, x),
            Set(low_value, value),
            Set(high_value, choice(equal(side, -1.0), high_value * 0.5, high_value)),
            Set(side, constant(-1.0)),
        ]
        upper: list[Statement] = [
            Set(high, x),
            Set(high_value, value),
            Set(low_value, choice(equal(side, 1.0), low_value * 0.5, low_value)),
            Set(side, constant(1.0)),
        ]
        close = CROSSING * (unary("abs", get("clock")) + high)
        open_still = compare("gt", high - low, close) & compare("lt", tries, 100.0)
        body: list[Statement] = [
            Set(tries, tries + 1.0),
            Set(x, secant),
            Set(x, choice(outside, (low + high) * 0.5, x)),
            Set(value, call("attempt", "f64", x)),
            Do("event"),
            Set(value, get("event")),
            If(same, upper, lower),
        ]
        statements: list[Statement] = [
            Set(low, constant(0.0)),
            Set(side, constant(0.0)),
            Set(tries, constant(0.0)),
            Set(high_value, get("event")),
            While([], open_still, body),
            Set(value, call("attempt", "f64", high)),
            put("clock", get("clock") + high),
            copied(self.memory.state, self.base, self.size),
        ]
        return Function("locate", (high, low_value), None, statements)
