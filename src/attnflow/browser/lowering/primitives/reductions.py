"""Reductions: sums, largest and smallest entries, and running sums."""

import math
from collections.abc import Callable

import numpy as np

from attnflow.browser.lowering.lowering import (
    Equation,
    Lowering,
    lowers,
    nest,
    place_of,
)
from attnflow.browser.lowering.primitives.elementwise import FORMULAS
from attnflow.browser.lowering.values import (
    ZERO,
    Indices,
    Kind,
    Value,
    keep,
    kind_of,
    ravel,
    type_of,
)
from attnflow.browser.wasm.nodes import (
    Local,
    Node,
    Set,
    Statement,
    choice,
    compare,
    constant,
    convert,
)

Values = list[Value]


def _least(kind: Kind) -> float:
    if kind == "float64":
        return -math.inf
    return 0 if kind == "bool" else int(np.iinfo(kind).min)


def _largest(kind: Kind) -> float:
    if kind == "float64":
        return math.inf
    return 1 if kind == "bool" else int(np.iinfo(kind).max)


REDUCTIONS: dict[str, tuple[str, Callable[[Kind], float]]] = {
    "reduce_sum": ("add", lambda kind: 0),
    "reduce_prod": ("mul", lambda kind: 1),
    "reduce_max": ("max", _least),
    "reduce_min": ("min", _largest),
    "reduce_and": ("and", lambda kind: 1),
    "reduce_or": ("or", lambda kind: 0),
}
"""The operation of each reduction, and what it starts from."""


@lowers(*REDUCTIONS)
def _reduce(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    operation, start = REDUCTIONS[equation.primitive.name]
    value, axes = inputs[0], sorted(equation.params["axes"])
    aval = equation.outvars[0].aval
    whole = lowering.new(aval.shape, kind_of(aval.dtype), level)
    kind = whole.kind

    def body(outer: Indices) -> list[Statement]:
        total = Local(type_of(kind))

        def inner(indices: Indices) -> list[Statement]:
            entry = value.read(merged(outer, indices, axes))
            return [Set(total, FORMULAS[operation](kind, total, entry))]

        loops = nest([value.shape[axis] for axis in axes], inner)
        begin = Set(total, constant(start(kind), type_of(kind)))
        place = ravel(outer, whole.shape)
        return [begin, *loops, keep(place_of(whole), place, total)]

    lowering.put(level, nest(whole.shape, body))
    return [whole]


def merged(outer: Indices, inner: Indices, axes: list[int]) -> Indices:
    """Indices of which those of some axes come from `inner`."""
    rest, own = iter(outer), iter(inner)
    dims = range(len(outer) + len(inner))
    return [next(own) if dim in axes else next(rest) for dim in dims]


@lowers("argmax", "argmin")
def _argument(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    """The first index of the largest entry; one that is no number counts as it."""
    value, (axis,) = inputs[0], equation.params["axes"]
    beyond = "gt" if equation.primitive.name == "argmax" else "lt"
    aval = equation.outvars[0].aval
    whole = lowering.new(aval.shape, kind_of(aval.dtype), level)

    def body(outer: Indices) -> list[Statement]:
        best, place = Local(type_of(value.kind)), Local("i64")

        def inner(indices: Indices) -> list[Statement]:
            entry = value.read(merged(outer, indices, [axis]))
            better = compare(beyond, entry, best)
            if value.kind == "float64":
                odd = compare("ne", entry, entry) & compare("eq", best, best)
                better = better | odd
            here: Node = constant(indices[0].constant, "i64")
            for term in indices[0].terms:
                here = convert("i64.extend_i32_s", "i64", term)
            return [
                Set(place, choice(better, here, place)),
                Set(best, choice(better, entry, best)),
            ]

        first = value.read(merged(outer, [ZERO], [axis]))
        begin = [Set(best, first), Set(place, constant(0, "i64"))]
        loops = nest([value.shape[axis]], inner)
        end = keep(place_of(whole), ravel(outer, whole.shape), place)
        return [*begin, *loops, end]

    lowering.put(level, nest(whole.shape, body))
    return [whole]


@lowers("cumsum")
def _cumsum(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    value, axis = inputs[0], equation.params["axis"]
    last = value.shape[axis] - 1
    whole = lowering.new(value.shape, value.kind, level)

    def body(outer: Indices) -> list[Statement]:
        total = Local(type_of(value.kind))

        def inner(indices: Indices) -> list[Statement]:
            along = indices[0] * -1 + last if equation.params["reverse"] else indices[0]
            here = merged(outer, [along], [axis])
            place = ravel(here, whole.shape)
            return [
                Set(total, FORMULAS["add"](value.kind, total, value.read(here))),
                keep(place_of(whole), place, total),
            ]

        loops = nest([value.shape[axis]], inner)
        return [Set(total, constant(0, type_of(value.kind))), *loops]

    shape = [size for dim, size in enumerate(value.shape) if dim != axis]
    lowering.put(level, nest(shape, body))
    return [whole]
