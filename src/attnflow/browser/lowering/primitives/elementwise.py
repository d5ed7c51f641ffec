"""Elementwise primitives: lazy, and so part of the loop that reads them."""

import math
from collections.abc import Callable

import numpy as np

from attnflow.browser.lowering.lowering import Equation, Lowering, lowers
from attnflow.browser.lowering.values import (
    ZERO,
    Indices,
    Kind,
    Unsupported,
    Value,
    kind_of,
    type_of,
)
from attnflow.browser.wasm.nodes import (
    Node,
    binary,
    bits,
    call,
    choice,
    compare,
    constant,
    convert,
    equal,
    from_bits,
    negation,
    unary,
)

Formula = Callable[..., Node]
"""The entry of an output, from the kind of the inputs and their entries."""
FORMULAS: dict[str, Formula] = {}


def formula(*names: str) -> Callable[[Formula], Formula]:
    """Register a primitive whose entries depend on those of its inputs alone."""

    def register(function: Formula) -> Formula:
        for name in names:
            FORMULAS[name] = function
            lowers(name)(_elementwise)
        return function

    return register


def elementwise(
    equation: Equation, inputs: list[Value], level: int, entry: Callable[..., Node]
) -> Value:
    """A lazy array whose entries are a function of those of the inputs.

    Inputs may have dims of size 1 where the output has others, or none at all.
    """
    aval = equation.outvars[0].aval
    shape = tuple(aval.shape)

    def pick(value: Value, indices: Indices) -> Node:
        if value.shape == shape:
            return value.read(indices)
        if not value.shape:
            return value.read([])
        sizes = zip(indices, value.shape, strict=True)
        return value.read([ZERO if size == 1 else index for index, size in sizes])

    def read(indices: Indices) -> Node:
        same: dict[int, Node] = {}
        for value in inputs:
            if id(value) not in same:
                same[id(value)] = pick(value, indices)
        return entry(*[same[id(value)] for value in inputs])

    return Value(shape, kind_of(aval.dtype), read, level=level, lazy=True)


def wrapped(kind: Kind, node: Node) -> Node:
    """An integer within the range of its kind."""
    if kind == "int32":
        return unary("extend32_s", node)
    if kind == "uint32":
        return node & 0xFFFFFFFF
    return node & 0xFF if kind == "uint8" else node


def _elementwise(
    lowering: Lowering, equation: Equation, inputs: list[Value], level: int
) -> list[Value]:
    for value in inputs:
        # Entries that are read several times are computed once.
        if value.lazy and value.shape != tuple(equation.outvars[0].aval.shape):
            lowering.force(value)
    function, kind = FORMULAS[equation.primitive.name], inputs[0].kind
    entry = lambda *nodes: function(kind, *nodes)  # noqa: E731
    return [elementwise(equation, inputs, level, entry)]


for _name in ("add", "sub", "mul"):

    def _arithmetic(kind: Kind, x: Node, y: Node, name: str = _name) -> Node:
        return wrapped(kind, binary(name, x, y))

    formula(_name)(_arithmetic)
formula("add_any")(FORMULAS["add"])

for _name in ("exp", "expm1", "log", "log1p", "logistic", "tanh"):

    def _elementary(kind: Kind, x: Node, name: str = _name) -> Node:
        return call(name, "f64", x)

    formula(_name)(_elementary)

for _name in ("sqrt", "floor", "ceil"):

    def _builtin(kind: Kind, x: Node, name: str = _name) -> Node:
        return unary(name, x)

    formula(_name)(_builtin)

for _name in ("lt", "le", "gt", "ge", "eq", "ne"):

    def _comparison(kind: Kind, x: Node, y: Node, name: str = _name) -> Node:
        return compare(name, x, y)

    formula(_name)(_comparison)

for _name in ("and", "or", "xor"):

    def _bitwise(kind: Kind, x: Node, y: Node, name: str = _name) -> Node:
        return binary(name, x, y)

    formula(_name)(_bitwise)

for _name in ("max", "min"):

    def _extreme(kind: Kind, x: Node, y: Node, name: str = _name) -> Node:
        if kind == "float64":
            return binary(name, x, y)
        return choice(compare("gt" if name == "max" else "lt", x, y), x, y)

    formula(_name)(_extreme)


@formula("neg")
def _neg(kind: Kind, x: Node) -> Node:
    return wrapped(kind, -x)


@formula("not")
def _not(kind: Kind, x: Node) -> Node:
    return negation(x) if kind == "bool" else wrapped(kind, binary("xor", x, -1))


@formula("div")
def _div(kind: Kind, x: Node, y: Node) -> Node:
    if kind == "float64":
        return x / y
    # A division by 0 would end the program; as in XLA, it gives −1.
    none = equal(y, 0)
    quotient = binary("div_s", x, choice(none, constant(1, "i64"), y))
    return wrapped(kind, choice(none, constant(-1, "i64"), quotient))


@formula("rem")
def _rem(kind: Kind, x: Node, y: Node) -> Node:
    if kind == "float64":
        raise Unsupported("The remainder of float64 cannot be compiled for the web.")
    none = equal(y, 0)
    rest = binary("rem_s", x, choice(none, constant(1, "i64"), y))
    return choice(none, x, rest)


@formula("abs")
def _abs(kind: Kind, x: Node) -> Node:
    if kind == "float64":
        return unary("abs", x)
    return choice(compare("lt", x, 0), wrapped(kind, -x), x)


@formula("sign")
def _sign(kind: Kind, x: Node) -> Node:
    one = constant(1, type_of(kind))
    below = choice(compare("lt", x, 0), constant(-1, type_of(kind)), x)
    return choice(compare("gt", x, 0), one, below)


@formula("rsqrt")
def _rsqrt(kind: Kind, x: Node) -> Node:
    return 1.0 / unary("sqrt", x)


@formula("square")
def _square(kind: Kind, x: Node) -> Node:
    return wrapped(kind, x * x)


@formula("is_finite")
def _is_finite(kind: Kind, x: Node) -> Node:
    return compare("lt", unary("abs", x), math.inf)


@formula("stop_gradient", "copy", "copy_p")
def _same(kind: Kind, x: Node) -> Node:
    return x


@formula("clamp")
def _clamp(kind: Kind, low: Node, x: Node, high: Node) -> Node:
    return FORMULAS["min"](kind, FORMULAS["max"](kind, x, low), high)


@formula("shift_left")
def _shift_left(kind: Kind, x: Node, by: Node) -> Node:
    shifted = wrapped(kind, x << by)
    return choice(compare("lt", by, 64), shifted, constant(0, "i64"))


@formula("shift_right_logical")
def _shift_right(kind: Kind, x: Node, by: Node) -> Node:
    if kind == "int32":
        x = x & 0xFFFFFFFF
    shifted = wrapped(kind, x >> by)
    return choice(compare("lt", by, 64), shifted, constant(0, "i64"))


@lowers("pow")
def _pow(
    lowering: Lowering, equation: Equation, inputs: list[Value], level: int
) -> list[Value]:
    exponent = inputs[1].kind

    def entry(x: Node, *power: Node) -> Node:
        y = power[0] if power else x
        return call("pow", "f64", x, as_kind(y, exponent, "float64"))

    return [elementwise(equation, inputs, level, entry)]


@lowers("integer_pow")
def _integer_pow(
    lowering: Lowering, equation: Equation, inputs: list[Value], level: int
) -> list[Value]:
    power = equation.params["y"]

    def entry(x: Node) -> Node:
        product = _product(x, abs(power))
        return 1.0 / product if power < 0 else product

    return [elementwise(equation, inputs, level, entry)]


def _product(x: Node, power: int) -> Node:
    """A power by squares."""
    if power == 0:
        return constant(1, x.type)
    result: Node | None = None
    while True:
        if power & 1:
            result = x if result is None else result * x
        power >>= 1
        if not power:
            assert result is not None
            return result
        x = x * x


@lowers("round")
def _round(
    lowering: Lowering, equation: Equation, inputs: list[Value], level: int
) -> list[Value]:
    to_even = int(equation.params["rounding_method"]) == 1

    def entry(x: Node) -> Node:
        if to_even:
            return unary("nearest", x)
        whole = unary("trunc", x)
        up = compare("ge", unary("abs", x - whole), 0.5)
        return whole + choice(up, binary("copysign", constant(1.0), x), 0.0)

    return [elementwise(equation, inputs, level, entry)]


@lowers("select_n")
def _select(
    lowering: Lowering, equation: Equation, inputs: list[Value], level: int
) -> list[Value]:
    which = inputs[0].kind

    def entry(index: Node, *cases: Node) -> Node:
        result = cases[-1]
        for number in reversed(range(len(cases) - 1)):
            here = index if which == "bool" else compare("gt", index, number)
            result = choice(here, result, cases[number])
        return result

    for value in inputs:
        if value.lazy and value.shape != tuple(equation.outvars[0].aval.shape):
            lowering.force(value)
    return [elementwise(equation, inputs, level, entry)]


@lowers("convert_element_type")
def _convert(
    lowering: Lowering, equation: Equation, inputs: list[Value], level: int
) -> list[Value]:
    old, new = inputs[0].kind, kind_of(equation.outvars[0].aval.dtype)
    value = elementwise(equation, inputs, level, lambda x: as_kind(x, old, new))
    value.lazy = inputs[0].lazy
    return [value]


def as_kind(x: Node, old: Kind, new: Kind) -> Node:
    """An entry as another kind, as XLA converts it."""
    if old == new:
        return x
    if new == "bool":
        return compare("ne", x, 0)
    if old == "bool":
        wide = convert("i64.extend_i32_u", "i64", x)
        return wide if new != "float64" else convert("f64.convert_i64_s", "f64", wide)
    if new == "float64":
        return convert("f64.convert_i64_s", "f64", x)
    if old == "float64":
        x = convert("i64.trunc_sat_f64_s", "i64", x)
    return wrapped(new, x)


@lowers("bitcast_convert_type")
def _bitcast(
    lowering: Lowering, equation: Equation, inputs: list[Value], level: int
) -> list[Value]:
    old, new = inputs[0].kind, np.dtype(equation.params["new_dtype"]).name
    if (old, new) == ("float64", "int64"):
        return [elementwise(equation, inputs, level, bits)]
    if (old, new) == ("int64", "float64"):
        return [elementwise(equation, inputs, level, from_bits)]
    raise Unsupported(f"The bits of {old} cannot be read as {new}.")


@lowers("optimization_barrier")
def _barrier(
    lowering: Lowering, equation: Equation, inputs: list[Value], level: int
) -> list[Value]:
    return inputs
