"""Gathers, scatters and slices at indices that are computed."""

import numpy as np
from jax.lax import GatherScatterMode

from attnflow.browser.lowering.lowering import (
    Equation,
    Lowering,
    copy,
    lowers,
    nest,
    place_of,
    scalar,
)
from attnflow.browser.lowering.primitives.elementwise import FORMULAS
from attnflow.browser.lowering.values import (
    Indices,
    Kind,
    Unsupported,
    Value,
    fetch,
    keep,
    kind_of,
    ravel,
    type_of,
)
from attnflow.browser.wasm.nodes import (
    If,
    Index,
    Node,
    Statement,
    at,
    call,
    choice,
    compare,
    constant,
)

Values = list[Value]


def clamped(index: Node, most: int) -> Index:
    """An index of type i64 moved into the range from 0 to `most`."""
    if index.op == "const":
        assert isinstance(index.args[0], int)
        return Index(min(max(index.args[0], 0), most))
    return at(call("clamped", "i32", index, constant(most, "i64")))


def inside(index: Node, most: int) -> Node:
    """Whether an index lies in the range from 0 to `most`."""
    return compare("ge", index, 0) & compare("le", index, most)


def _checks(equation: Equation, indices: Value, limits: dict[int, int]) -> bool:
    """Whether indices can lie outside, where something else is then asked for."""
    mode = GatherScatterMode.from_any(equation.params["mode"])
    if mode in (GatherScatterMode.CLIP, GatherScatterMode.PROMISE_IN_BOUNDS):
        return False
    known = indices.known
    if known is not None:
        most = np.array([limits[n] for n in range(known.shape[-1])])
        return bool(((known < 0) | (known > most)).any())
    return True


@lowers("gather")
def _gather(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    value, indices = lowering.force(inputs[0]), lowering.force(inputs[1])
    numbers, sizes = (
        equation.params["dimension_numbers"],
        equation.params["slice_sizes"],
    )
    aval = equation.outvars[0].aval
    apart = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    window = [dim for dim in range(len(value.shape)) if dim not in apart]
    limits = {
        n: value.shape[dim] - sizes[dim]
        for n, dim in enumerate(numbers.start_index_map)
    }
    checks = _checks(equation, indices, limits)

    def read(outer: Indices) -> Node:
        batch = [i for dim, i in enumerate(outer) if dim not in numbers.offset_dims]
        place: list[Index] = [Index()] * len(value.shape)
        for dim, offset in zip(window, numbers.offset_dims, strict=True):
            place[dim] = outer[offset]
        fine: Node | None = None
        for n, dim in enumerate(numbers.start_index_map):
            index = indices.read([*batch, Index(n)])
            place[dim] = place[dim] + clamped(_wide(index), limits[n])
            if checks:
                here = inside(_wide(index), limits[n])
                fine = here if fine is None else fine & here
        pairs = (numbers.operand_batching_dims, numbers.start_indices_batching_dims)
        for dim, other in zip(*pairs, strict=True):
            place[dim] = batch[other]
        entry = value.read(place)
        if fine is None:
            return entry
        return choice(fine, entry, _filler(equation, value.kind))

    return [Value(aval.shape, value.kind, read, level=level, lazy=True)]


def _wide(index: Node) -> Node:
    if index.type != "i64":
        raise Unsupported("Indices that are not integers cannot be compiled.")
    return index


def _filler(equation: Equation, kind: Kind) -> Node:
    """What a gather gives outside of the array."""
    fill = equation.params.get("fill_value")
    if fill is None:
        if kind == "float64":
            fill = float("nan")
        elif kind == "bool":
            fill = 1
        else:
            limits = np.iinfo(kind)
            fill = int(limits.max if kind.startswith("u") else limits.min)
    return constant(fill, type_of(kind))


@lowers("scatter", "scatter-add", "scatter_add", "scatter-mul", "scatter_mul")
def _scatter(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    value, indices, updates = inputs[0], *map(lowering.force, inputs[1:])
    operation = equation.primitive.name.replace("_", "-").partition("-")[2]
    numbers = equation.params["dimension_numbers"]
    whole = lowering.new(value.shape, value.kind, level)
    lowering.put(level, copy(value, place_of(whole)))
    apart = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    window = [dim for dim in range(len(value.shape)) if dim not in apart]
    extent = {
        dim: updates.shape[place]
        for dim, place in zip(window, numbers.update_window_dims, strict=True)
    }
    limits = {
        n: value.shape[dim] - extent.get(dim, 1)
        for n, dim in enumerate(numbers.scatter_dims_to_operand_dims)
    }
    checks = _checks(equation, indices, limits)

    def body(outer: Indices) -> list[Statement]:
        windows = numbers.update_window_dims
        batch = [i for dim, i in enumerate(outer) if dim not in windows]
        place: list[Index] = [Index()] * len(value.shape)
        for dim, other in zip(window, windows, strict=True):
            place[dim] = outer[other]
        fine: Node | None = None
        for n, dim in enumerate(numbers.scatter_dims_to_operand_dims):
            index = _wide(indices.read([*batch, Index(n)]))
            place[dim] = place[dim] + clamped(index, limits[n])
            if checks:
                here = inside(index, limits[n])
                fine = here if fine is None else fine & here
        pairs = (numbers.operand_batching_dims, numbers.scatter_indices_batching_dims)
        for dim, other in zip(*pairs, strict=True):
            place[dim] = batch[other]
        target = ravel(place, whole.shape)
        entry = updates.read(outer)
        if operation:
            old = fetch(place_of(whole), target, whole.kind)
            entry = FORMULAS[operation](whole.kind, old, entry)
        store = keep(place_of(whole), target, entry)
        return [store] if fine is None else [If(fine, [store])]

    lowering.put(level, nest(updates.shape, body))
    return [whole]


@lowers("dynamic_slice")
def _dynamic_slice(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    value, starts = lowering.force(inputs[0]), [lowering.force(v) for v in inputs[1:]]
    sizes = equation.params["slice_sizes"]

    def read(indices: Indices) -> Node:
        return value.read(_moved(indices, starts, value.shape, sizes))

    return [Value(equation.outvars[0].aval.shape, value.kind, read, level=level)]


@lowers("dynamic_update_slice")
def _dynamic_update_slice(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    value, update = inputs[0], lowering.force(inputs[1])
    starts = [lowering.force(v) for v in inputs[2:]]
    aval = equation.outvars[0].aval
    whole = lowering.new(aval.shape, kind_of(aval.dtype), level)
    lowering.put(level, copy(value, place_of(whole)))

    def body(indices: Indices) -> list[Statement]:
        new = _moved(indices, starts, whole.shape, update.shape)
        return [keep(place_of(whole), ravel(new, whole.shape), update.read(indices))]

    lowering.put(level, nest(update.shape, body))
    return [whole]


def _moved(
    indices: Indices, starts: Values, shape: tuple[int, ...], sizes: tuple[int, ...]
) -> Indices:
    """Indices counted from where a slice starts, which is moved into the array."""
    return [
        index + clamped(scalar(start), whole - size)
        for index, start, whole, size in zip(indices, starts, shape, sizes, strict=True)
    ]
