"""Products of matrices, with a few accumulators in local variables at a time."""

import math
from typing import NamedTuple

import numpy as np

from attnflow.browser.lowering.lowering import (
    Equation,
    Lowering,
    lowers,
    nest,
    place_of,
)
from attnflow.browser.lowering.values import (
    Indices,
    Unsupported,
    Value,
    keep,
    ravel,
)
from attnflow.browser.wasm.nodes import (
    Buffer,
    For,
    If,
    Index,
    Local,
    Node,
    Set,
    Statement,
    Store,
    at,
    constant,
    convert,
)

Values = list[Value]
SPARSE = 0.3
"""The part of non-zero entries below which a constant factor is listed."""
FEWEST = 64
"""Entries of a factor from which on that is worth it."""


class Factor(NamedTuple):
    """A factor: its dims that are contracted, in common with the other, and free."""

    value: Value
    summed: tuple[int, ...]
    batch: tuple[int, ...]
    free: tuple[int, ...]

    def read(self, batch: Indices, free: Indices, summed: Indices) -> Node:
        """An entry by its indices of each sort."""
        indices: list[Index] = [Index()] * len(self.value.shape)
        for dims, group in (
            (self.batch, batch),
            (self.free, free),
            (self.summed, summed),
        ):
            for dim, index in zip(dims, group, strict=True):
                indices[dim] = index
        return self.value.read(indices)

    def sizes(self, dims: tuple[int, ...]) -> list[int]:
        """The sizes of some dims."""
        return [self.value.shape[dim] for dim in dims]


@lowers("dot_general")
def _dot(lowering: Lowering, equation: Equation, inputs: Values, level: int) -> Values:
    summed, batch = equation.params["dimension_numbers"]
    left, right = (
        _factor(lowering.force(v), s, b)
        for v, s, b in zip(inputs, summed, batch, strict=True)
    )
    if {v.kind for v in inputs} != {"float64"}:
        raise Unsupported(f"A product of {inputs[0].kind} cannot be compiled.")
    whole = lowering.new(equation.outvars[0].aval.shape, "float64", level)
    statements = _sparse(lowering, left, right, whole, level)
    lowering.put(level, statements or _dense(left, right, whole))
    return [whole]


def _factor(value: Value, summed: tuple[int, ...], batch: tuple[int, ...]) -> Factor:
    dims = range(len(value.shape))
    free = tuple(dim for dim in dims if dim not in (*summed, *batch))
    return Factor(value, tuple(summed), tuple(batch), free)


def _dense(left: Factor, right: Factor, whole: Value) -> list[Statement]:
    """Blocks of rows and columns, whose sums are kept in local variables."""
    inner = left.sizes(left.summed)
    rows, columns = left.sizes(left.free), right.sizes(right.free)
    high = _blocks(rows, math.prod(inner) >= 8, (2,))
    wide = _blocks(columns, math.prod(inner) >= 4, (4, 3, 2))
    shape = [*left.sizes(left.batch), *_divided(rows, high), *_divided(columns, wide)]
    first, second = len(left.batch), len(left.batch) + len(rows)

    def body(outer: Indices) -> list[Statement]:
        batch, row, column = outer[:first], outer[first:second], outer[second:]
        row_at = [_shifted(row, high, n) for n in range(high)]
        column_at = [_shifted(column, wide, n) for n in range(wide)]
        sums = [[Local("f64") for _ in column_at] for _ in row_at]

        def products(k: Indices) -> list[Statement]:
            a = [Local("f64") for _ in row_at]
            b = [Local("f64") for _ in column_at]
            loads = [
                *(
                    Set(x, left.read(batch, r, k))
                    for x, r in zip(a, row_at, strict=True)
                ),
                *(
                    Set(y, right.read(batch, c, k))
                    for y, c in zip(b, column_at, strict=True)
                ),
            ]
            totals = [
                Set(total, total + x * y)
                for x, line in zip(a, sums, strict=True)
                for y, total in zip(b, line, strict=True)
            ]
            return [*loads, *totals]

        begin = [Set(total, constant(0.0)) for line in sums for total in line]
        end = [
            keep(place_of(whole), ravel([*batch, *r, *c], whole.shape), total)
            for r, line in zip(row_at, sums, strict=True)
            for c, total in zip(column_at, line, strict=True)
        ]
        return [*begin, *nest(inner, products), *end]

    return nest(shape, body)


def _blocks(sizes: list[int], worth: bool, counts: tuple[int, ...]) -> int:
    """How many entries along the last dim are computed at once."""
    if not sizes or not worth:
        return 1
    return next((n for n in counts if sizes[-1] % n == 0), 1)


def _divided(sizes: list[int], count: int) -> list[int]:
    return [*sizes[:-1], sizes[-1] // count] if sizes else []


def _shifted(indices: Indices, count: int, number: int) -> Indices:
    """Indices of one of the entries of a block."""
    if count == 1:
        return indices
    return [*indices[:-1], indices[-1] * count + number]


# -- constant factors of which most entries are 0


class Listed(NamedTuple):
    """The non-zero entries of a matrix: those of row n from `first[n]` to the next."""

    first: Buffer
    column: Buffer
    value: Buffer


def _sparse(
    lowering: Lowering, left: Factor, right: Factor, whole: Value, level: int
) -> list[Statement]:
    """The product where one factor is computed once and has many zeros."""
    if level == 0 or left.batch or len(left.summed) != 1:
        return []
    for factor, other, is_left in ((left, right, True), (right, left, False)):
        if factor.value.level == 0 and other.value.level > 0 and _is_sparse(factor):
            return _listed_product(lowering, factor, other, whole, is_left)
    return []


def _is_sparse(factor: Factor) -> bool:
    if len(factor.free) != 1 or factor.value.size < FEWEST:
        return False
    data = factor.value.example()
    if data is None:
        return False
    return float(np.mean(data != 0)) < SPARSE


def _listed_product(
    lowering: Lowering, factor: Factor, other: Factor, whole: Value, is_left: bool
) -> list[Statement]:
    listed = _list(lowering, factor)
    row, count = Local("i32"), factor.sizes(factor.free)[0]
    begin = _integer(listed.first, at(row))
    length = _integer(listed.first, at(row) + 1) - begin

    def body(free: Indices) -> list[Statement]:
        total, number = Local("f64"), Local("i32")
        here = at(number) + at(begin)
        column = at(_integer(listed.column, here))
        weight = entry_of(listed.value, here)
        product = weight * other.read([], free, [column])
        loop = For(number, length, [Set(total, total + product)])
        place = [at(row), *free] if is_left else [*free, at(row)]
        end = keep(place_of(whole), ravel(place, whole.shape), total)
        return [Set(total, constant(0.0)), loop, end]

    rows = nest(other.sizes(other.free), body)
    return [For(row, count, rows)]


def _integer(buffer: Buffer, index: Index) -> Node:
    return convert("i32.wrap_i64", "i32", Node("load", "i64", buffer, index))


def entry_of(buffer: Buffer, index: Index) -> Node:
    """A float64 of a buffer."""
    return Node("load", "f64", buffer, index)


def _list(lowering: Lowering, factor: Factor) -> Listed:
    """List the non-zero entries, once, where everything of level 0 is computed."""
    rows, columns = factor.sizes(factor.free)[0], factor.sizes(factor.summed)[0]
    key = ("listed", id(factor.value), factor.free)
    if key in lowering.lists:
        return lowering.lists[key]
    listed = Listed(Buffer(rows + 1), Buffer(rows * columns), Buffer(rows * columns))
    count, row, column = Local("i32"), Local("i32"), Local("i32")
    value = Local("f64")
    wide = convert("i64.extend_i32_s", "i64", count)
    found: list[Statement] = [
        Store(listed.column, at(count), convert("i64.extend_i32_s", "i64", column)),
        Store(listed.value, at(count), value),
        Set(count, count + 1),
    ]
    each: list[Statement] = [
        Set(value, factor.read([], [at(row)], [at(column)])),
        If(Node("f64.ne", "i32", value, constant(0.0)), found),
    ]
    per_row: list[Statement] = [
        Store(listed.first, at(row), wide),
        For(column, columns, each),
    ]
    lowering.put(
        0,
        [
            Set(count, constant(0, "i32")),
            For(row, rows, per_row),
            Store(listed.first, Index(rows), wide),
        ],
    )
    lowering.lists[key] = listed
    lowering.kept.append(factor.value)
    return listed
