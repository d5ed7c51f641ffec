"""Loops, branches and calls."""

import numpy as np

from attnflow.browser.lowering.lowering import (
    Equation,
    Lowering,
    copy,
    lowers,
    nest,
    place_of,
    scalar,
)
from attnflow.browser.lowering.values import (
    Indices,
    Place,
    Value,
    in_memory,
    keep,
    kind_of,
    ravel,
)
from attnflow.browser.wasm.nodes import (
    Buffer,
    If,
    Index,
    Node,
    Statement,
    Store,
    While,
    at,
    compare,
    constant,
    convert,
    load,
)

Values = list[Value]
INNER = {
    **dict.fromkeys(("pjit", "jit", "remat", "checkpoint"), "jaxpr"),
    **dict.fromkeys(
        ("closed_call", "custom_jvp_call", "custom_vjp_call"), "call_jaxpr"
    ),
}
"""The parameter that holds what a call calls."""


@lowers(*INNER)
def _call(lowering: Lowering, equation: Equation, inputs: Values, level: int) -> Values:
    inner = equation.params[INNER[equation.primitive.name]]
    if hasattr(inner, "consts"):
        return lowering.closed(inner, inputs)
    return lowering.run(inner, [], inputs)


@lowers("platform_index")
def _platform(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    """Of what is written for several platforms, what is written for all others."""
    number = len(equation.params["platforms"]) - 1
    return [lowering.literal(np.asarray(number, np.int32))]


def enter(lowering: Lowering, level: int) -> list[list[Statement]]:
    """Begin a block inside that of a level; what to give back to `leave`."""
    rest = lowering.blocks[level + 1 :]
    lowering.blocks = [*lowering.blocks[: level + 1], []]
    return rest


def leave(lowering: Lowering, rest: list[list[Statement]]) -> list[Statement]:
    """End a block, and return its statements."""
    body = lowering.blocks.pop()
    lowering.blocks += rest
    return body


def settle(
    lowering: Lowering, carry: list[Value], outputs: list[Value], level: int
) -> None:
    """Put new values into a carry, of which they may still be functions."""
    ready = []
    for old, new in zip(carry, outputs, strict=True):
        if new is old:
            continue
        if new.place is None or any(
            new.place.buffer is place_of(other).buffer for other in carry
        ):
            whole = lowering.new(new.shape, new.kind, level)
            lowering.put(level, copy(new, place_of(whole)))
            new = whole
        ready.append((old, new))
    for old, new in ready:
        lowering.put(level, copy(new, place_of(old)))


def _carries(lowering: Lowering, values: Values, level: int) -> Values:
    """What a loop carries, which varies inside of it."""
    carry = []
    for value in values:
        whole = lowering.new(value.shape, value.kind, level + 1)
        lowering.put(level, copy(value, place_of(whole)))
        carry.append(whole)
    return carry


def _outside(values: Values, level: int) -> Values:
    """What a loop carried, once it has ended."""
    return [in_memory(place_of(v), v.shape, v.kind, level=level) for v in values]


@lowers("while")
def _while(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    params = equation.params
    first, second = params["cond_nconsts"], params["body_nconsts"]
    for value in inputs:
        lowering.force(value)
    tested, used = inputs[:first], inputs[first : first + second]
    carry = _carries(lowering, inputs[first + second :], level)
    flag = Buffer(1)
    rest = enter(lowering, level)
    (goes_on,) = lowering.closed(params["cond_jaxpr"], [*tested, *carry])
    lowering.put(level + 1, copy(goes_on, Place(flag)))
    before = leave(lowering, rest)
    rest = enter(lowering, level)
    outputs = lowering.closed(params["body_jaxpr"], [*used, *carry])
    settle(lowering, carry, outputs, level + 1)
    body = leave(lowering, rest)
    condition = compare("ne", load(flag, Index(), "i64"), 0)
    lowering.put(level, [While(before, condition, body)])
    return _outside(carry, level)


@lowers("scan")
def _scan(lowering: Lowering, equation: Equation, inputs: Values, level: int) -> Values:
    params = equation.params
    first, second = params["num_consts"], params["num_consts"] + params["num_carry"]
    consts, initial, xs = inputs[:first], inputs[first:second], inputs[second:]
    if params["length"] == 1:
        return _once(lowering, equation, [*consts, *initial], xs)
    for value in inputs:
        lowering.force(value)
    carry = _carries(lowering, initial, level)
    ys = [
        lowering.new(v.aval.shape, kind_of(v.aval.dtype), level)
        for v in equation.outvars[len(carry) :]
    ]
    count, length = Buffer(1), params["length"]
    number = load(count, Index(), "i64")
    here = at(convert("i32.wrap_i64", "i32", number))
    if params["reverse"]:
        here = here * -1 + (length - 1)
    lowering.put(level, [Store(count, Index(), constant(0, "i64"))])
    rest = enter(lowering, level)
    slices = [_slice(x, here, level + 1) for x in xs]
    outputs = lowering.closed(params["jaxpr"], [*consts, *carry, *slices])
    for y, output in zip(ys, outputs[len(carry) :], strict=True):
        lowering.put(level + 1, _write(y, output, here))
    settle(lowering, carry, outputs[: len(carry)], level + 1)
    lowering.put(level + 1, [Store(count, Index(), number + 1)])
    body = leave(lowering, rest)
    lowering.put(level, [While([], compare("lt", number, length), body)])
    return [*_outside(carry, level), *ys]


def _once(lowering: Lowering, equation: Equation, values: Values, xs: Values) -> Values:
    """A loop that goes round once is none."""
    count = equation.params["num_carry"]
    slices = [_slice(x, Index(), x.level) for x in xs]
    outputs = lowering.closed(equation.params["jaxpr"], [*values, *slices])
    stacked = []
    for output in outputs[count:]:

        def read(indices: Indices, output: Value = output) -> Node:
            return output.read(indices[1:])

        lowering.force(output)
        shape = (1, *output.shape)
        stacked.append(Value(shape, output.kind, read, level=output.level))
    return [*outputs[:count], *stacked]


def _slice(value: Value, here: Index, level: int) -> Value:
    """The slice of an array along its first dim."""

    def read(indices: Indices) -> Node:
        return value.read([here, *indices])

    return Value(value.shape[1:], value.kind, read, level=level, lazy=value.lazy)


def _write(whole: Value, value: Value, here: Index) -> list[Statement]:
    def body(indices: Indices) -> list[Statement]:
        place = ravel([here, *indices], whole.shape)
        return [keep(place_of(whole), place, value.read(indices))]

    return nest(value.shape, body)


@lowers("cond")
def _cond(lowering: Lowering, equation: Equation, inputs: Values, level: int) -> Values:
    which, *args = inputs
    branches = equation.params["branches"]
    if which.known is not None:
        number = min(max(int(which.known), 0), len(branches) - 1)
        return lowering.closed(branches[number], args)
    for value in inputs:
        lowering.force(value)
    outputs = [
        lowering.new(v.aval.shape, kind_of(v.aval.dtype), level)
        for v in equation.outvars
    ]
    bodies: list[list[Statement]] = []
    for branch in branches:
        rest = enter(lowering, level)
        results = lowering.closed(branch, [_inside(v, level + 1) for v in args])
        for whole, value in zip(outputs, results, strict=True):
            lowering.put(level + 1, copy(value, place_of(whole)))
        bodies.append(leave(lowering, rest))
    index = scalar(which)
    chain: list[Statement] = bodies[-1]
    for number in reversed(range(len(bodies) - 1)):
        beyond = index if which.kind == "bool" else compare("gt", index, number)
        chain = [If(beyond, chain, bodies[number])]
    lowering.put(level, chain)
    return outputs


def _inside(value: Value, level: int) -> Value:
    """An array as it is seen inside of a branch: nothing of it is computed outside."""
    return Value(value.shape, value.kind, value.read, level=level, place=value.place)
