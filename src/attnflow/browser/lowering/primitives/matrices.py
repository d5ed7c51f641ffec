"""Cholesky factors and triangular systems."""

from attnflow.browser.lowering.lowering import (
    Equation,
    Lowering,
    copy,
    lowers,
    nest,
    place_of,
)
from attnflow.browser.lowering.values import (
    Indices,
    Unsupported,
    Value,
    fetch,
    keep,
    ravel,
)
from attnflow.browser.wasm.nodes import (
    For,
    Index,
    Local,
    Node,
    Set,
    Statement,
    at,
    constant,
    unary,
)

Values = list[Value]


@lowers("cholesky")
def _cholesky(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    """Row by row of the lower factor: `L_ij = (A_ij − Σ_{k<j} L_ik L_jk) / L_jj`."""
    value = lowering.force(inputs[0])
    size, shape = value.shape[-1], value.shape
    whole = lowering.new(shape, "float64", level)
    zero = Value(shape, "float64", lambda _: constant(0.0), level=level)
    lowering.put(level, copy(zero, place_of(whole)))

    def entry(batch: Indices, i: Index, j: Index) -> Node:
        return fetch(place_of(whole), ravel([*batch, i, j], shape), "float64")

    def body(batch: Indices) -> list[Statement]:
        row, column, k = Local("i32"), Local("i32"), Local("i32")
        i, j = at(row), at(column)

        def rest(p: Index, q: Index, count: Node) -> tuple[Local, list[Statement]]:
            total = Local("f64")
            product = entry(batch, p, at(k)) * entry(batch, q, at(k))
            # The matrix is taken to be symmetric; its lower half is read.
            begin = Set(total, value.read([*batch, p, q]))
            return total, [begin, For(k, count, [Set(total, total - product)])]

        off, off_sum = rest(i, j, column)
        on, on_sum = rest(i, i, row)
        below = ravel([*batch, i, j], shape)
        diagonal = ravel([*batch, i, i], shape)
        beside: list[Statement] = [
            *off_sum,
            keep(place_of(whole), below, off / entry(batch, j, j)),
        ]
        each: list[Statement] = [
            For(column, row, beside),
            *on_sum,
            keep(place_of(whole), diagonal, unary("sqrt", on)),
        ]
        return [For(row, size, each)]

    lowering.put(level, nest(shape[:-2], body))
    return [whole]


@lowers("triangular_solve")
def _triangular_solve(
    lowering: Lowering, equation: Equation, inputs: Values, level: int
) -> Values:
    """`x` of `A x = b`, from the first row on or, for an upper `A`, from the last."""
    params = equation.params
    if not params["left_side"] or params["unit_diagonal"] or params["conjugate_a"]:
        raise Unsupported("This form of triangular_solve cannot be compiled.")
    matrix, right = lowering.force(inputs[0]), lowering.force(inputs[1])
    flipped = bool(params["transpose_a"])
    forward = params["lower"] != flipped
    shape, size = right.shape, right.shape[-2]
    whole = lowering.new(shape, "float64", level)

    def body(outer: Indices) -> list[Statement]:
        *batch, column = outer
        row, k, total = Local("i32"), Local("i32"), Local("f64")

        def turned(index: Index) -> Index:
            return index if forward else index * -1 + (size - 1)

        def factor(i: Index, j: Index) -> Node:
            return matrix.read([*batch, j, i] if flipped else [*batch, i, j])

        i, j = turned(at(row)), turned(at(k))
        known = fetch(place_of(whole), ravel([*batch, j, column], shape), "float64")
        inner: list[Statement] = [Set(total, total - factor(i, j) * known)]
        each: list[Statement] = [
            Set(total, right.read([*batch, i, column])),
            For(k, row, inner),
            keep(
                place_of(whole),
                ravel([*batch, i, column], shape),
                total / factor(i, i),
            ),
        ]
        return [For(row, size, each)]

    lowering.put(level, nest([*shape[:-2], shape[-1]], body))
    return [whole]
