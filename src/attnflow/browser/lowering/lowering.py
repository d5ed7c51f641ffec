"""From jaxprs to loops: what is computed where, and what of it is kept in memory.

Elementwise operations and views are lazy: they become part of the loop that reads
them. What several equations read is kept in memory, unless it is cheap. Statements go
to the block of their level: 0 for what depends on inputs alone and is computed once,
1 for what depends on the state, more for the bodies of loops. So what does not vary
inside a loop is computed outside of it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.extend import core

from attnflow.browser.lowering.values import (
    ZERO,
    Indices,
    Kind,
    Place,
    Unsupported,
    Value,
    as_cells,
    fetch,
    in_memory,
    keep,
    kind_of,
    ravel,
    type_of,
)
from attnflow.browser.wasm.nodes import (
    Block,
    Buffer,
    For,
    Local,
    Node,
    Statement,
    at,
    constant,
)

Equation = Any
"""A `JaxprEqn`, of which `jax.extend` has no public type."""
Rule = Callable[["Lowering", Equation, list[Value], int], list[Value]]
"""Lowers an equation, given its inputs and the level of its outputs."""
RULES: dict[str, Rule] = {}
"""How each primitive is lowered, by its name."""
# Recomputing these costs no more than a load.
CHEAP = ("neg", "convert_element_type", "not", "abs", "iota", "ne", "eq", "gt", "lt")
SAMPLE = 200_000
"""Entries up to which examples of what depends on inputs alone are computed."""


def lowers(*names: str) -> Callable[[Rule], Rule]:
    """Register the rule of some primitives."""

    def register(rule: Rule) -> Rule:
        for name in names:
            RULES[name] = rule
        return rule

    return register


class Lowering:
    """Statements by level, and the memory that they need."""

    def __init__(self) -> None:
        self.blocks: list[list[Statement]] = [[]]
        self.contents: list[tuple[Buffer, bytes]] = []
        # Factors whose non-zero entries are listed, and these arrays, kept alive.
        self.lists: dict[tuple, Any] = {}
        self.kept: list[Value] = []
        self._literals: dict[tuple, Value] = {}
        self._results: dict[
            tuple, tuple[list[Value], list[Statement], list[Value]]
        ] = {}

    # -- memory and statements

    def new(self, shape: Sequence[int], kind: Kind, level: int) -> Value:
        """An array in memory that is yet to be written."""
        buffer = Buffer(int(np.prod(shape, dtype=int)))
        return in_memory(Place(buffer), shape, kind, level=level)

    def put(self, level: int, statements: list[Statement]) -> None:
        """Add statements to the block of a level."""
        if statements:
            self.blocks[level].append(Block(statements))

    def literal(self, array: np.ndarray) -> Value:
        """A constant: in expressions where all entries are one, else in memory."""
        key = (array.shape, array.dtype.name, array.tobytes())
        if key not in self._literals:
            self._literals[key] = self._literal(array)
        return self._literals[key]

    def _literal(self, array: np.ndarray) -> Value:
        kind = kind_of(array.dtype)
        flat = as_cells(array)
        if flat.size and (flat.view(np.int64) == flat.view(np.int64)[0]).all():
            node = constant(flat[0].item(), type_of(kind))
            return Value(array.shape, kind, lambda _: node, level=0, known=array)
        buffer = Buffer(flat.size, kept=True)
        self.contents.append((buffer, flat.tobytes()))
        return in_memory(Place(buffer), array.shape, kind, level=0, known=array)

    def force(self, value: Value) -> Value:
        """Compute an array into memory, if that is not done yet."""
        if value.lazy:
            whole = self.solid(value, value.level)
            value.read, value.place, value.lazy = whole.read, whole.place, False
        return value

    def solid(self, value: Value, level: int) -> Value:
        """The array whole in memory."""
        if value.place is not None:
            return value
        whole = self.new(value.shape, value.kind, level)
        self.put(level, copy(value, place_of(whole)))
        whole.known, whole.example = value.known, value.example
        return whole

    # -- jaxprs

    def closed(self, jaxpr: core.ClosedJaxpr, args: Sequence[Value]) -> list[Value]:
        """The outputs of a closed jaxpr."""
        consts = [self.literal(np.asarray(c)) for c in jaxpr.consts]
        return self.run(jaxpr.jaxpr, consts, args)

    def run(
        self, jaxpr: core.Jaxpr, consts: Sequence[Value], args: Sequence[Value]
    ) -> list[Value]:
        """The outputs of a jaxpr; equations that none of them needs are left out."""
        uses = Counter(_variables(v for e in jaxpr.eqns for v in e.invars))
        uses.update(_variables(jaxpr.outvars))
        values: dict[core.Var, Value] = dict(zip(jaxpr.constvars, consts, strict=True))
        for variable, value in zip(jaxpr.invars, args, strict=True):
            if uses[variable] > 1:
                self.force(value)
            values[variable] = value

        def read(atom: core.Var | core.Literal) -> Value:
            if isinstance(atom, core.Literal):
                dtype = getattr(atom.aval, "dtype", None)
                return self.literal(np.asarray(atom.val, dtype))
            return values[atom]

        for equation in _needed(jaxpr):
            outputs = self.equation(equation, [read(a) for a in equation.invars])
            for variable, value in zip(equation.outvars, outputs, strict=True):
                if uses[variable] > 1 and equation.primitive.name not in CHEAP:
                    self.force(value)
                values[variable] = value
        return [read(atom) for atom in jaxpr.outvars]

    def equation(self, equation: Equation, inputs: list[Value]) -> list[Value]:
        """The outputs of an equation; one that was met before is not repeated."""
        name = equation.primitive.name
        if name not in RULES:
            raise Unsupported(
                f"The primitive {name!r} cannot be compiled for the web: "
                f"{equation.outvars[0].aval} of {[str(v.kind) for v in inputs]}."
            )
        rule, level = RULES[name], max((v.level for v in inputs), default=0)
        if any(_has_jaxpr(x) for x in equation.params.values()):
            return rule(self, equation, inputs, level)
        key = (name, str(equation.params), *(id(v) for v in inputs))
        known = self._results.get(key)
        if known is not None and known[1] is self.blocks[level]:
            return [v if name in CHEAP else self.force(v) for v in known[0]]
        for value in inputs:
            if value.lazy and value.level < level:
                self.force(value)
        outputs = rule(self, equation, inputs, level)
        if level == 0:
            _examples(equation, inputs, outputs)
        self._results[key] = (outputs, self.blocks[level], inputs)
        return outputs


def place_of(value: Value) -> Place:
    """Where an array in memory lies."""
    assert value.place is not None
    return value.place


def nest(
    shape: Sequence[int], body: Callable[[Indices], list[Statement]]
) -> list[Statement]:
    """Loops over a shape around statements that are a function of the indices."""
    if 0 in shape:
        return []
    variables = [Local("i32") if size > 1 else None for size in shape]
    indices = [ZERO if variable is None else at(variable) for variable in variables]
    statements: list[Statement] = body(indices)
    for variable, size in reversed(list(zip(variables, shape, strict=True))):
        if variable is not None:
            statements = [For(variable, size, statements)]
    return statements


def copy(value: Value, place: Place) -> list[Statement]:
    """Write an array to a place."""

    def body(indices: Indices) -> list[Statement]:
        return [keep(place, ravel(indices, value.shape), value.read(indices))]

    return nest(value.shape, body)


def scalar(value: Value) -> Node:
    """The expression of an array without dims."""
    return value.read([])


def entry(value: Value, index: Any) -> Node:
    """An entry of an array in memory, by its place in row-major order."""
    return fetch(place_of(value), index, value.kind)


def _variables(atoms: Any) -> list:
    return [atom for atom in atoms if not isinstance(atom, core.Literal)]


def _needed(jaxpr: core.Jaxpr) -> list[Equation]:
    """The equations that outputs depend on."""
    live = set(_variables(jaxpr.outvars))
    needed = []
    for equation in reversed(jaxpr.eqns):
        if any(variable in live for variable in equation.outvars):
            needed.append(equation)
            live.update(_variables(equation.invars))
    return needed[::-1]


def _has_jaxpr(parameter: Any) -> bool:
    items = parameter if isinstance(parameter, tuple | list) else [parameter]
    return any(hasattr(item, "eqns") or hasattr(item, "jaxpr") for item in items)


def _examples(equation: Equation, inputs: list[Value], outputs: list[Value]) -> None:
    """Let outputs that depend on inputs alone compute their examples, if asked."""
    if sum(v.size for v in (*inputs, *outputs)) > SAMPLE:
        return

    @lru_cache(maxsize=1)
    def results() -> list[np.ndarray] | None:
        data = [value.example() for value in inputs]
        if any(x is None for x in data):
            return None
        arrays = [jnp.asarray(x) for x in data]
        result = equation.primitive.bind(*arrays, **equation.params)
        several = equation.primitive.multiple_results
        return [np.asarray(x) for x in (result if several else [result])]

    for number, value in enumerate(outputs):

        def example(number: int = number) -> np.ndarray | None:
            known = results()
            return None if known is None else known[number]

        value.example = example
