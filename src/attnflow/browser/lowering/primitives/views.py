"""Views: other indices of the same entries."""

from attnflow.browser.lowering.lowering import Equation, Lowering, lowers
from attnflow.browser.lowering.values import (
    ZERO,
    Indices,
    Read,
    Value,
    in_memory,
    kind_of,
)
from attnflow.browser.wasm.nodes import Index, Node, constant, convert

# Each takes the lowering, the equation, its inputs and the level of its output.
Values = list[Value]


def view(value: Value, equation: Equation, level: int, read: Read) -> Values:
    """An array that reads another one."""
    shape = equation.outvars[0].aval.shape
    return [Value(shape, value.kind, read, level=level, lazy=value.lazy)]


@lowers("broadcast_in_dim")
def _broadcast(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    value, dims = inputs[0], equation.params["broadcast_dimensions"]
    shape = equation.outvars[0].aval.shape
    if value.lazy and any(shape[d] > s for d, s in zip(dims, value.shape, strict=True)):
        lowering.force(value)
    if value.lazy and len(shape) > len(dims):
        lowering.force(value)

    def read(indices: Indices) -> Node:
        sizes = zip(dims, value.shape, strict=True)
        return value.read([ZERO if size == 1 else indices[d] for d, size in sizes])

    return view(value, equation, level, read)


@lowers("transpose")
def _transpose(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    value, order = inputs[0], equation.params["permutation"]

    def read(indices: Indices) -> Node:
        old: list[Index] = [ZERO] * len(order)
        for index, dim in zip(indices, order, strict=True):
            old[dim] = index
        return value.read(old)

    return view(value, equation, level, read)


@lowers("reshape", "expand_dims")
def _reshape(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    value, shape = inputs[0], tuple(equation.outvars[0].aval.shape)
    old = [dim for dim, size in enumerate(value.shape) if size != 1]
    new = [dim for dim, size in enumerate(shape) if size != 1]
    if [value.shape[dim] for dim in old] == [shape[dim] for dim in new]:

        def read(indices: Indices) -> Node:
            before: list[Index] = [ZERO] * len(value.shape)
            for one, other in zip(old, new, strict=True):
                before[one] = indices[other]
            return value.read(before)

        return view(value, equation, level, read)
    whole = lowering.solid(value, value.level)
    assert whole.place is not None
    return [in_memory(whole.place, shape, value.kind, level=level)]


@lowers("squeeze")
def _squeeze(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    value = inputs[0]
    gone = {dim % len(value.shape) for dim in equation.params["dimensions"]}

    def read(indices: Indices) -> Node:
        rest = iter(indices)
        dims = range(len(value.shape))
        return value.read([ZERO if dim in gone else next(rest) for dim in dims])

    return view(value, equation, level, read)


@lowers("slice")
def _slice(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    value, starts = inputs[0], equation.params["start_indices"]
    steps = equation.params["strides"] or (1,) * len(starts)

    def read(indices: Indices) -> Node:
        spans = zip(indices, starts, steps, strict=True)
        return value.read([i * int(step) + int(start) for i, start, step in spans])

    return view(value, equation, level, read)


@lowers("rev")
def _rev(lowering: Lowering, equation: Equation, inputs: Values, level: int) -> Values:
    value, dims = inputs[0], equation.params["dimensions"]

    def read(indices: Indices) -> Node:
        turned = [
            index * -1 + (size - 1) if dim in dims else index
            for dim, (index, size) in enumerate(zip(indices, value.shape, strict=True))
        ]
        return value.read(turned)

    return view(value, equation, level, read)


@lowers("split")
def _split(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    value, axis = lowering.force(inputs[0]), equation.params["axis"]
    outputs, start = [], 0
    for variable, size in zip(equation.outvars, equation.params["sizes"], strict=True):

        def read(indices: Indices, start: int = start) -> Node:
            moved = list(indices)
            moved[axis] = moved[axis] + start
            return value.read(moved)

        shape = variable.aval.shape
        outputs.append(Value(shape, value.kind, read, level=level))
        start += size
    return outputs


@lowers("iota")
def _iota(lowering: Lowering, equation: Equation, inputs: Values, level: int) -> Values:
    aval, dim = equation.outvars[0].aval, equation.params["dimension"]
    kind = kind_of(aval.dtype)

    def read(indices: Indices) -> Node:
        total = constant(indices[dim].constant, "i64")
        for term, factor in indices[dim].terms.items():
            total = total + convert("i64.extend_i32_s", "i64", term) * factor
        if kind == "float64":
            return convert("f64.convert_i64_s", "f64", total)
        return total

    return [Value(aval.shape, kind, read, level=0)]


@lowers("empty2")
def _empty(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    """What a branch gives for a residual of another branch; nothing reads it."""
    aval = equation.outvars[0].aval
    kind = kind_of(aval.dtype)
    zero = constant(0, "f64" if kind == "float64" else "i64")
    return [Value(aval.shape, kind, lambda _: zero, level=0)]
